"""Fourier transforms and complex multiplication of onnxruntime. Complex values are pairs in the last dimension."""

from __future__ import annotations

from .body import Body
from .registry import expands


@expands("Rfft", "Irfft")
def real_transform(body: Body) -> None:
    """Rfft: [..., n] -> [..., n / 2 + 1, 2]; Irfft: the inverse, divided by n."""
    if body.integer("signal_ndim", 1) != 1:
        raise body.block("transforms of several dimensions are not supported", "Use one per axis", "signal_ndim")
    if body.boolean("normalized"):
        raise body.block("a normalized transform is not supported", "Scale the result instead", "normalized")
    if not body.boolean("onesided", True):
        raise body.block("both halves of a spectrum are not supported", "Use DFT", "onesided")
    x = body.input(0)
    if body.node.op_type == "Rfft":
        signal = body.unsqueeze(x, -1) if body.version >= 11 else body.unsqueeze(x, body.rank(x))
        body.result(0, _dft(body, signal, inverse=False))
    else:
        body.result(0, body.squeeze(_dft(body, x, inverse=True), -1))


def _dft(body: Body, x: str, *, inverse: bool) -> str:
    """Adds a DFT over the second-to-last dimension."""
    attributes = {"onesided": 1, "inverse": int(inverse)}
    if body.version >= 20:
        return body.op("DFT", x, "", body.const(-2, "int64"), **attributes)
    return body.op("DFT", x, axis=body.rank(body.input(0)) - (2 if inverse else 1), **attributes)


@expands("ComplexMul", "ComplexMulConj")
def complex_product(body: Body) -> None:
    """Returns a * b, or a times the conjugate of b."""
    (a, b), (c, d) = ([body.slice(body.input(index), -1, part, part + 1) for part in (0, 1)] for index in (0, 1))
    real, imaginary = ("Add", "Sub") if body.node.op_type == "ComplexMulConj" else ("Sub", "Add")
    first = body.op(real, body.op("Mul", a, c), body.op("Mul", b, d))
    second = body.op(imaginary, body.op("Mul", b, c), body.op("Mul", a, d))
    body.result(0, body.op("Concat", first, second, axis=-1))

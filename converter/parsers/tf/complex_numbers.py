"""Complex tensors as pairs: a complex tensor [...] becomes a float32 value [..., 2], which is listed in the session.

Only `ops.Rfft` has complex64 results; these become pairs if another operator than Real, Imag or ComplexAbs reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion, Atan2, DivFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Stack
from mslite.converter.mindir.ops.audio import FftImag, FftReal
from mslite.converter.mindir.ops.creation import ZerosLike
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Squeeze
from mslite.converter.mindir.ops.signal import Dft
from mslite.converter.mindir.ops.unary import Cos, ExpFusion, Sin, Sqrt

from .call import Call
from .registry import CONVERTERS, ON_COMPLEX, Converter, tf_operator


def _on_complex(*names: str) -> Callable[[Converter], Converter]:
    def register(converter: Converter) -> Converter:
        ON_COMPLEX.update(dict.fromkeys(names, converter))
        return converter

    return register


def paired(call: Call, real: Value, imaginary: Value) -> Value:
    """Returns a complex tensor from its real and imaginary part, float32 tensors of the same shape. Raises Blocked."""
    if real.dtype is not DataType.FLOAT32 or imaginary.dtype is not DataType.FLOAT32:
        raise call.block("complex numbers with parts other than float32 are unsupported", "Use complex64")
    return _noted(call, call.emit(Stack(axis=-1), real, imaginary))


def from_real(call: Call, x: Value) -> Value:
    """Returns a float tensor as a complex tensor."""
    real = call.as_type(x, DataType.FLOAT32)
    return paired(call, real, call.emit(ZerosLike(), real))


def _noted(call: Call, pair: Value) -> Value:
    call.scope.session.pairs.add(pair)
    return pair


def _pair(call: Call, value: Value) -> Value:
    if value in call.scope.session.pairs:
        return value
    if value.data is not None and value.data.dtype == np.complex64:
        return call.const(np.stack([value.data.real, value.data.imag], -1), np.float32)
    return call.emit(Stack(axis=-1), *_parts(call, value))


def _parts(call: Call, value: Value) -> tuple[Value, Value]:
    """Returns the real and the imaginary part of a complex tensor."""
    node = value.producer
    if value.data is not None and value.data.dtype == np.complex64:
        return call.const(np.ascontiguousarray(value.data.real)), call.const(np.ascontiguousarray(value.data.imag))
    if value not in call.scope.session.pairs and value.data is None:
        return call.emit(FftReal(), value), call.emit(FftImag(), value)
    if node is not None and isinstance(node.op, Stack) and len(node.inputs) == 2:
        return node.inputs[0], node.inputs[1]
    pair = _pair(call, value)
    first, second = (call.emit(Gather(), pair, call.ints(number), call.ints(-1)) for number in (0, 1))
    return first, second


# ---- conversion to and from complex ----


@tf_operator("Complex")
def complex_of(call: Call) -> Value:
    real, imaginary = call.input(0), call.input(1)
    if real.shape != imaginary.shape:  # broadcast
        whole = call.emit(AddFusion(), call.emit(ZerosLike(), real), call.emit(ZerosLike(), imaginary))
        real, imaginary = (call.emit(AddFusion(), part, whole) for part in (real, imaginary))
    return paired(call, real, imaginary)


@_on_complex("Real", "Imag")
def part(call: Call) -> Value:
    return _parts(call, call.input(0))[0 if call.operator == "Real" else 1]


@_on_complex("ComplexAbs")
def magnitude(call: Call) -> Value:
    """Converts ComplexAbs: sqrt(re^2 + im^2)."""
    squares = [call.emit(MulFusion(), part, part) for part in _parts(call, call.input(0))]
    return call.emit(Sqrt(), call.emit(AddFusion(), *squares))


@_on_complex("Angle")
def angle(call: Call) -> Value:
    real, imaginary = _parts(call, call.input(0))
    return call.emit(Atan2(), imaginary, real)


# ---- arithmetic ----


@_on_complex("Conj")
def conjugate(call: Call) -> Value:
    return _noted(call, call.emit(MulFusion(), _pair(call, call.input(0)), call.const([1, -1], np.float32)))


@_on_complex("Add", "AddV2", "Sub")
def added(call: Call) -> Value:
    op: Operator = SubFusion() if call.operator == "Sub" else AddFusion()
    return _noted(call, call.emit(op, *(_pair(call, value) for value in call.inputs(0, 2))))


@_on_complex("Mul")
def multiplied(call: Call) -> Value:
    """Converts a product: (a + bi)(c + di) = ac - bd + (ad + bc)i."""
    (a, b), (c, d) = (_parts(call, value) for value in call.inputs(0, 2))

    def product(first: Value, second: Value) -> Value:
        return call.emit(MulFusion(), first, second)

    real = call.emit(SubFusion(), product(a, c), product(b, d))
    return paired(call, real, call.emit(AddFusion(), product(a, d), product(b, c)))


@_on_complex("RealDiv", "Div")
def divided(call: Call) -> Value:
    """Converts a quotient: x / y = x * conj(y) / |y|^2."""
    (a, b), (c, d) = (_parts(call, value) for value in call.inputs(0, 2))

    def sum_of(op: Operator, first: tuple[Value, Value], second: tuple[Value, Value]) -> Value:
        return call.emit(op, call.emit(MulFusion(), *first), call.emit(MulFusion(), *second))

    square = sum_of(AddFusion(), (c, c), (d, d))
    real, imaginary = sum_of(AddFusion(), (a, c), (b, d)), sum_of(SubFusion(), (b, c), (a, d))
    return paired(call, *(call.emit(DivFusion(), value, square) for value in (real, imaginary)))


@_on_complex("Exp")
def exponential(call: Call) -> Value:
    """Converts Exp: e^re * (cos(im) + i * sin(im))."""
    real, imaginary = _parts(call, call.input(0))
    length = call.emit(ExpFusion(base=-1.0, scale=1.0, shift=0.0), real)
    turned = (call.emit(op, imaginary) for op in (Cos(), Sin()))
    return paired(call, *(call.emit(MulFusion(), length, value) for value in turned))


@_on_complex(*("Pad", "PadV2", "StridedSlice", "Slice", "Reshape", "Transpose", "Concat", "ConcatV2", "ExpandDims"))
@_on_complex(
    *("Squeeze", "Pack", "Unpack", "Split", "SplitV", "Gather", "GatherV2", "Tile", "ReverseV2", "BroadcastTo")
)
@_on_complex("Neg", "Sum", "Mean", "AddN", "ZerosLike")
def by_parts(call: Call) -> Sequence[Value]:
    """Converts a linear operator once for the real parts and once for the imaginary parts."""
    refs = call.node.inputs
    values = {ref: value for ref, value in zip(refs, call.inputs(), strict=True) if _is_complex(call, value)}
    parts = {ref: _parts(call, value) for ref, value in values.items()}
    results = []
    for number in (0, 1):
        with call.scope.replaced({ref: pair[number] for ref, pair in parts.items()}):
            made = CONVERTERS[call.operator](call)
        results.append([made] if isinstance(made, Value) else list(made))
    return [paired(call, *pair) for pair in zip(*results, strict=True)]


def _is_complex(call: Call, value: Value) -> bool:
    return value in call.scope.session.pairs or value.dtype is DataType.COMPLEX64


# ---- Fourier transforms ----


@_on_complex("FFT", "IFFT")
def fourier(call: Call) -> Value:
    """Converts a Fourier transform along the last dimension."""
    op = Dft(axis=-2, inverse=call.operator == "IFFT")
    return _noted(call, call.emit(op, _pair(call, call.input(0))))


@_on_complex("IRFFT")
def real_fourier_back(call: Call) -> Value:
    """Converts IRFFT. The last dimension has the first length / 2 + 1 frequencies; it is cropped or padded to that
    size."""
    length = call.require_integer(1, "the length")
    if length < 1:
        raise call.block(f"the length {length} is not positive")
    signal = call.emit(Dft(axis=-2, inverse=True, onesided=True), _pair(call, call.input(0)), call.ints(length))
    return call.emit(Squeeze(axis=(-1,)), signal)

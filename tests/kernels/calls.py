"""Calls of single operators, for the kernel tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from mslite import _native
from mslite.converter.mindir.graph import SYMBOL_LIMIT, data_type_of
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.reference import CASES, REFERENCES, Array, Case
from mslite.converter.mindir.serialization import primitive_bytes

FIRST_SYMBOL = SYMBOL_LIMIT - (1 << 20)


@dataclass(frozen=True)
class Kernel:
    """An entry of the kernel table."""

    name: str
    operator: str
    isa: str
    in_place: bool


QUANTIZED = frozenset(_native.quantized_kernels())
"""Kernels on quantized tensors: their operands need quantization parameters, which a case does not have."""
KERNELS = tuple(kernel for kernel in (Kernel(*entry) for entry in _native.kernels()) if kernel.name not in QUANTIZED)


def inputs_of(case: Case) -> list[Array]:
    """Returns the inputs of a case without missing trailing ones."""
    inputs = list(case.inputs)
    while inputs and inputs[-1] is None:
        inputs.pop()
    present = [array for array in inputs if array is not None]
    assert len(present) == len(inputs), f"{case.name}: only trailing operands can be absent"
    return [np.ascontiguousarray(array).reshape(array.shape) for array in present]


def info(array: Array) -> _native.TensorInfo:
    """A tensor with known data."""
    return _native.TensorInfo(int(data_type_of(array)), list(array.shape), None, array)


@cache
def expected(name: str) -> tuple[Array, ...]:
    """Returns the reference's results for the case with this name."""
    (case,) = (case for case in CASES if case.name == name)
    with np.errstate(all="ignore"):
        return tuple(np.asarray(array) for array in REFERENCES[case.op.name](case.op, case.inputs))


def supports(kernel: Kernel, case: Case) -> bool:
    """Returns whether the kernel supports the case on this machine."""
    inputs = inputs_of(case)
    flags = [i in case.constants for i in range(len(inputs))]
    return kernel.isa in _native.isas() and _native.supports(
        kernel.name, primitive_bytes(case.op), [info(array) for array in inputs], flags, len(expected(case.name))
    )


def run(kernel: Kernel, case: Case, *, threads: int = 1, seed: int = 0, in_place: bool = False) -> list[Array]:
    """Returns the outputs of a kernel that runs between guard bytes. Raises _native.OperatorError if a guard byte changed."""
    inputs = inputs_of(case)
    flags = [i in case.constants for i in range(len(inputs))]
    outputs = _native.run_kernel(
        kernel.name,
        primitive_bytes(case.op),
        [info(array) for array in inputs],
        flags,
        len(expected(case.name)),
        threads,
        seed,
        in_place,
    )
    return list(outputs)


def results(
    op: Operator, inputs: Sequence[Array], constants: Sequence[int], count: int
) -> Iterator[tuple[str, list[Array]]]:
    """Yields every kernel on this machine that supports the call, and its outputs, which must be equal with three threads.

    There is at least one.
    """
    arrays = [np.asarray(array, order="C") for array in inputs]
    primitive, tensors = primitive_bytes(op), [info(array) for array in arrays]
    flags = [index in constants for index in range(len(arrays))]
    ran = 0
    for kernel in KERNELS:
        if kernel.operator != op.name or kernel.isa not in _native.isas():
            continue
        if not _native.supports(kernel.name, primitive, tensors, flags, count):
            continue
        ran += 1
        plain = _native.run_kernel(kernel.name, primitive, tensors, flags, count, 1, 0, False)
        again = _native.run_kernel(kernel.name, primitive, tensors, flags, count, 3, 5, False)
        assert all(map(same_bits, again, plain)), f"{kernel.name}: three threads give other bits"
        yield kernel.name, list(plain)
    assert ran, "no kernel takes this call"


def difference(got: Array, wanted: Array, tolerance: float) -> str:
    """Returns "" if two outputs agree: integers exactly, floats within `tolerance` of the largest finite magnitude."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind not in "fc":
        wrong = np.flatnonzero(got != wanted)
        return "" if wrong.size == 0 else f"{wrong.size} differ, the first at {wrong[0]}: {got.flat[wrong[0]]}"
    finite = np.isfinite(wanted)
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    if not np.all(same[~finite]):
        return "infinities or NaNs are in different places"
    if not np.any(finite):
        return ""
    high = np.complex128 if wanted.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        error = np.abs(got.astype(high) - wanted.astype(high))[finite]
    limit = tolerance * float(np.max(np.abs(wanted[finite].astype(high))))
    worst = float(np.max(error))
    return "" if worst <= limit else f"error {worst:.3g} is more than {limit:.3g}"


def same_bits(a: Array, b: Array) -> bool:
    """Returns whether two arrays have equal shapes and bytes."""
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()

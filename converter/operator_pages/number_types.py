"""Which operators the CPU computes in float16 and in int8."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from mslite import _native
from mslite.converter.mindir.graph import Array, data_type_of
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.quantized import LOOKS, MOVES
from mslite.converter.mindir.reference import CASES, Case
from mslite.converter.mindir.serialization import primitive_bytes
from mslite.converter.operator_pages.cases import infer, inputs_of, nodes, output_count
from mslite.quantizer.precision.operators import rule_of

QUANTIZES = "QuantDTypeCast"
"""It converts between float32 and quantized integers."""

_KERNELS = Path(__file__).resolve().parents[2] / "kernels"


def float16_operators() -> frozenset[str]:
    """Operators with a kernel that reads and writes float16 on 64-bit Arm: those of float16 arithmetic, which this machine's
    library need not have, and portable ones that move elements of any type."""
    listed = [
        name for path in _KERNELS.glob("*/kernels.inc") for name in _half_kernels(path.read_text(encoding="utf-8"))
    ]
    portable: dict[str, list[str]] = {}
    found = set()
    for name, operator, isa, _ in _native.kernels():
        if name.removesuffix(f"_{isa}") in listed:
            found.add(operator)
        if isa == "scalar":
            portable.setdefault(operator, []).append(name)
    quantized = set(_native.quantized_kernels())
    for case in CASES:
        names = set(portable.get(case.op.name, ())) - quantized
        if case.op.name not in found and _takes_float16(case, names):
            found.add(case.op.name)
    return frozenset(found & OPERATORS.keys())


def _half_kernels(text: str) -> list[str]:
    return re.findall(r"^KERNEL_HALF\((\w+)\)", text, re.MULTILINE)


def _takes_float16(case: Case, kernels: set[str]) -> bool:
    """Whether one of the kernels takes the case with float16 activations, and with constants as they are or in float16."""
    inputs = inputs_of(case)
    flags = [index in case.constants for index in range(len(inputs))]
    for has_half_constants in (False, True):
        halved = [
            _halved(array) if has_half_constants or not is_constant else array
            for array, is_constant in zip(inputs, flags, strict=True)
        ]
        if not any(array.dtype == np.float16 and not flag for array, flag in zip(halved, flags, strict=True)):
            return False
        outputs = infer(case, halved)
        if outputs is None or all(DataType(output.dtype) is not DataType.FLOAT16 for output in outputs):
            continue
        infos = [_native.TensorInfo(int(data_type_of(array)), list(array.shape), None, array) for array in halved]
        if any(_supports(kernel, case, infos, flags) for kernel in kernels):
            return True
    return False


def _halved(array: Array) -> Array:
    with np.errstate(over="ignore"):
        return array.astype(np.float16) if array.dtype == np.float32 else array


def _supports(kernel: str, case: Case, infos: list[_native.TensorInfo], flags: list[bool]) -> bool:
    try:
        return _native.supports(kernel, primitive_bytes(case.op), infos, flags, output_count(case))
    except _native.OperatorError:
        return False


def int8_operators() -> frozenset[str]:
    """Operators with a kernel on quantized 8-bit integers, and those that only move elements or look at shapes."""
    quantized = set(_native.quantized_kernels())
    computing = {
        operator
        for name, operator, _, _ in _native.kernels()
        if name in quantized and ("int8" in name or "int16" not in name)
    }
    return frozenset((computing | MOVES | LOOKS | {QUANTIZES}) & OPERATORS.keys())


def quantized_operators() -> frozenset[str]:
    """Operators that mslite's full quantization computes in int8, in some of the test cases."""
    return frozenset({case.op.name for case, node in nodes() if rule_of(node) is not None} | LOOKS | {QUANTIZES})

"""Quantized operators of ONNX and onnxruntime are computed on integers; those that are not are named. Results are those
of onnxruntime, or a step away where its float values fall to the other side of a half."""

from __future__ import annotations

import pytest

from tests.e2e.integers import availability
from tests.kernels.integer_audit_onnx import CASES, distance, outcome

BLOCKS = "a scale for each block: the source computes in floats"
ON_REALS = {
    "DynamicQuantizeMatMul": "the product of the two scales, which is one number or one for each column",
    "QAttention": "the source's softmax is of float values, and so is the result; its projection is on integers",
    "DynamicQuantizeLSTM": "the gates are float values; what weights multiply is rounded to 8 bits",
    **{name: BLOCKS for name in CASES if "blocks" in name or name.startswith("MatMulNBits")},
}
HALVES = {"QLinearAdd", "QLinearMul", "QLinearAveragePool"}
"""What rounds once here and in other places of float32 there: one step."""
REFUSED = {"QLinearReduceMean"}
"""What onnxruntime has no kernel for."""
LARGEST = 5e-7
"""How far real results may be off, as a share of the largest magnitude."""
PAIRS = [(name, dtype) for name, case in CASES.items() for dtype in case[2]]


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_operator(name: str, dtype: str) -> None:
    if reason := availability("scalar"):
        pytest.skip(reason)
    found, outputs = outcome(name, dtype)
    assert bool(found) == (name in ON_REALS)
    if name not in REFUSED and not (name in HALVES and dtype.endswith("16")):
        assert distance(name, dtype, outputs) <= (1 if name in HALVES else LARGEST)


@pytest.mark.parametrize("name", ["QuantizeLinear blocks", "DequantizeLinear blocks", "MatMul blocks of 4 bits"])
@pytest.mark.parametrize("opset", [23, 25])
def test_blocks_of_newer_operator_sets(name: str, opset: int) -> None:
    if reason := availability("scalar"):
        pytest.skip(reason)
    _, outputs = outcome(name, "int8", opset)
    assert distance(name, "int8", outputs, 21) <= LARGEST

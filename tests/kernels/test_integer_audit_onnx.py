"""Quantised operators of ONNX and onnxruntime are computed on integers; those that are not are named."""

from __future__ import annotations

import pytest

from tests.e2e.integers import availability
from tests.kernels.integer_audit_onnx import CASES, on_reals

ON_REALS = {
    "ConvInteger": "the integers of the model as float32: exact as long as sums stay below 2^24",
    "MatMulInteger": "the same",
    "MatMulIntegerToFloat": "the same, and the result is real",
    "DynamicQuantizeMatMul": "the range is found at run time; the result is real",
    "QAttention": "the source's softmax is of real numbers, and so is the result",
    "DynamicQuantizeLSTM": "the gates are real numbers",
}


@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name, case in CASES.items() for dtype in case[2]])
def test_operator(name: str, dtype: str) -> None:
    if reason := availability("scalar"):
        pytest.skip(reason)
    assert bool(on_reals(name, dtype)) == (name in ON_REALS)

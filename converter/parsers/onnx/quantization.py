"""Quantised operators: named here so that a quantised model says what it waits for."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value

from .call import Call
from .registry import onnx_operator


@onnx_operator(
    "QuantizeLinear",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "QLinearConv",
    "QLinearMatMul",
    "ConvInteger",
    "MatMulInteger",
)
def quantized(call: Call) -> Value:
    raise call.block("quantised ONNX models are not supported yet", "Convert the float model")

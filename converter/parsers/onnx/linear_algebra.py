"""Determinant and inverse of square matrices."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.linear_algebra import Determinant, MatrixInverse

from .call import Call
from .registry import onnx_operator


@onnx_operator("Det")
def determinant(call: Call) -> Value:
    return call.emit(Determinant(), call.input(0))


@onnx_operator("Inverse", domain="com.microsoft")
def inverse(call: Call) -> Value:
    return call.told(call.emit(MatrixInverse(), call.input(0)), call.input(0), call.shape(call.input(0)))

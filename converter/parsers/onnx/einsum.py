"""Converts Einsum."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.parsers.einsum import einsum

from .call import Call
from .registry import onnx_operator


@onnx_operator("Einsum")
def einsum_operator(call: Call) -> Value:
    return einsum(call, call.text("equation"), call.inputs())

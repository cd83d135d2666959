"""Reshape, transpose, reverse, tile."""

from __future__ import annotations

from mslite.converter.mindir.ops.rearrange import ReverseV2

from .call import Call
from .registry import writes


@writes("Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims")
def reshape(call: Call) -> None:
    call.require_equal_quant_params()
    call.emit("RESHAPE", [call.input(), call.constant("shape", call.output_shape)])


@writes("Transpose")
def transpose(call: Call) -> None:
    call.require_equal_quant_params()
    call.emit("TRANSPOSE", [call.input(), call.constant("order", call.integers(1, "its order"))])


@writes("ReverseV2")
def reverse(call: Call) -> None:
    assert isinstance(call.op, ReverseV2)
    call.require_equal_quant_params()
    call.emit("REVERSE_V2", [call.input(), call.constant("axes", call.op.axis or ())])


@writes("TileFusion")
def tile(call: Call) -> None:
    call.require_equal_quant_params()
    call.emit("TILE", [call.input(), call.constant("multiples", call.integers(1, "its multiples"))])

"""Rearrangements that keep every element."""

from __future__ import annotations

from .call import Call
from .registry import writes


@writes("Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims")
def reshape(call: Call) -> None:
    call.require_equal_records()
    call.emit("RESHAPE", [call.input(), call.constant("shape", call.output_shape)])


@writes("Transpose")
def transpose(call: Call) -> None:
    call.require_equal_records()
    call.emit("TRANSPOSE", [call.input(), call.constant("order", call.integers(1, "its order"))])

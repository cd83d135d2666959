"""Filled tensors and ranges."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.creation import Fill, Range

from .call import Call
from .registry import tflite_operator


@tflite_operator("FILL")
def fill(call: Call) -> Value:
    """Converts FILL. The source's inputs are dims, value; mslite's are value, dims."""
    return call.emit(Fill(), call.input(1), call.int32(0))


@tflite_operator("RANGE")
def number_range(call: Call) -> Value:
    start, limit, delta = (call.input(index) for index in range(3))
    return call.emit(Range(d_type=int(start.dtype), delta=1), start, limit, delta)

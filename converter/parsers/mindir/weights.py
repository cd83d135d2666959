"""Convolution weights: [out, in / group, kh, kw] for NCHW nodes, [out, kh, kw, in / group] for NHWC nodes."""

from __future__ import annotations

from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.convolution import (
    AdderFusion,
    Conv2DAddFusion,
    Conv2DFusion,
    Conv2dTransposeFusion,
)
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.rearrange import Transpose

from .call import Call

CONVOLUTIONS = (AdderFusion, Conv2DAddFusion, Conv2DFusion, Conv2dTransposeFusion)
"""Operators with a convolution weight as the second operand."""

_TO_CHANNEL_LAST = (0, 2, 3, 1)


def channel_last(call: Call, op: Operator, values: list[Value]) -> list[Value]:
    """Returns the operands with the weight in mslite's layout, channels last."""
    if not isinstance(op, CONVOLUTIONS) or len(values) < 2 or call.format is Format.NHWC:
        return values
    return [values[0], as_channel_last(call, values[1]), *values[2:]]


def as_channel_last(call: Call, weight: Value) -> Value:
    """Returns a weight [a, b, kh, kw] as [a, kh, kw, b]."""
    shape = call.shape(weight)
    if shape is not None and len(shape) != 4:
        raise call.block(f"the weight has {len(shape)} dimensions instead of 4")
    if weight.data is not None:
        return call.scope.derived(weight, "channel_last", weight.data.transpose(_TO_CHANNEL_LAST))
    if weight.raw is not None:
        raise call.block(
            "its weight is compressed and in NCHW, which cannot be converted", "Export the weight without compression"
        )
    return call.emit(Transpose(), weight, call.ints(_TO_CHANNEL_LAST))


def weight_shape(call: Call, weight: Value) -> Shape:
    """Returns the shape of a weight as [first, second, kh, kw], for both layouts."""
    shape = call.require_shape(weight, "a convolution")
    if len(shape) != 4:
        raise call.block(f"the weight has {len(shape)} dimensions instead of 4")
    if call.format is Format.NHWC:
        return shape[0], shape[3], shape[1], shape[2]
    return shape

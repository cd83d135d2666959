"""Puts nodes with another image layout than the model between two Transposes; the layout pass cancels these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.normalization import ChannelsLastInstanceNorm, InstanceNorm
from mslite.converter.mindir.ops.rearrange import Transpose

from .call import Call

_TO_NCHW, _TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def in_layout(call: Call, op: Operator, values: list[Value], count: int) -> list[Value]:
    """Emits `op` in the model's layout. The first operand and the first result are images in the node's layout."""
    layout = call.scope.layout
    if op.declaration.layout not in ("nhwc", "nchw"):
        return _emit(call, op, values, count)
    if isinstance(op, InstanceNorm) and layout is Format.NHWC:
        op = ChannelsLastInstanceNorm(epsilon=op.epsilon)
    if hasattr(op, "format"):
        op = cast(Operator, replace(cast(Any, op), format=layout))
    shape = call.shape(values[0]) if values else ()
    if call.format is layout or (shape is not None and len(shape) != 4):
        return _emit(call, op, values, count)
    there, back = (_TO_NCHW, _TO_NHWC) if layout is Format.NCHW else (_TO_NHWC, _TO_NCHW)
    image = call.emit(Transpose(), values[0], call.ints(there))
    first, *others = _emit(call, op, [image, *values[1:]], count)
    return [call.emit(Transpose(), first, call.ints(back)), *others]


def _emit(call: Call, op: Operator, values: list[Value], count: int) -> list[Value]:
    if count == 1:
        return [call.emit(op, *values)]
    return [call.value(entry) for entry in call.emit_many(op, values, count).items]

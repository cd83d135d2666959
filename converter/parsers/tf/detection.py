"""Non-maximum suppression."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat, StridedSlice
from mslite.converter.mindir.ops.detection import NonMaxSuppression
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape

from .call import Call
from .registry import tf_operator


def _vector(call: Call, index: int) -> Value:
    """A scalar operand as a float vector of one element."""
    return call.emit(Reshape(), call.as_type(call.input(index), DataType.FLOAT32), call.ints((1,)))


def _suppress(call: Call) -> Value:
    """int32 [count]: the kept boxes. Inputs boxes [n, 4], scores [n], limit, overlap, [lowest score]."""
    boxes = call.emit(Reshape(), call.input(0), call.ints((1, -1, 4)))
    scores = call.emit(Reshape(), call.input(1), call.ints((1, 1, -1)))
    limit = call.emit(Reshape(), call.int32(2), call.ints((1,)))
    if call.operator == "NonMaxSuppression":
        operands = [limit, call.const([call.real("iou_threshold", 0.5)], np.float32)]
    else:
        operands = [limit, _vector(call, 3)]
    if call.has_input(4):
        operands.append(_vector(call, 4))
    kept = call.emit(NonMaxSuppression(), boxes, scores, *operands)
    return call.emit(Gather(), kept, call.ints(2), call.ints(1))


def _count(call: Call, chosen: Value) -> Value:
    return call.emit(Gather(), call.emit(Shape(), chosen), call.ints(0), call.ints(0))


def _filled(call: Call, values: Value, dtype: type[np.generic]) -> Value:
    """`values` with zeros behind it, cut to the greatest number of boxes."""
    size = call.require_integer(2, "the number of boxes, to which the result is padded,")
    if not 0 <= size <= 1 << 20:
        raise call.block(f"{size} is not a number of boxes")
    longer = call.emit(Concat(axis=0), values, call.const(np.zeros(size), dtype))
    return call.emit(StridedSlice(), longer, call.ints((0,)), call.ints((size,)), call.ints((1,)))


@tf_operator("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def non_max_suppression(call: Call) -> Value:
    return _suppress(call)


@tf_operator("NonMaxSuppressionV4")
def padded_suppression(call: Call) -> tuple[Value, Value]:
    """The kept boxes, filled up with 0 if asked for, and their number."""
    chosen = _suppress(call)
    count = _count(call, chosen)
    return (_filled(call, chosen, np.int32) if call.flag("pad_to_max_output_size") else chosen), count


@tf_operator("NonMaxSuppressionV5")
def suppression_with_scores(call: Call) -> tuple[Value, Value, Value]:
    """As version 4, with the scores of the kept boxes; only without the lowering of scores (sigma 0)."""
    sigma = call.constant(5)
    if sigma is None or sigma.any():
        raise call.block("scores that overlaps lower (soft suppression) are not supported", "Export it with sigma 0")
    chosen = _suppress(call)
    count = _count(call, chosen)
    scores = call.emit(Gather(), call.input(1), chosen, call.ints(0))
    if call.flag("pad_to_max_output_size"):
        return _filled(call, chosen, np.int32), _filled(call, scores, np.float32), count
    return chosen, scores, count

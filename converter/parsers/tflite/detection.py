"""Non-maximum suppression with outputs of fixed size."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat, StridedSlice
from mslite.converter.mindir.ops.detection import NonMaxSuppression, SoftNonMaxSuppression
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape

from .call import Call
from .registry import tflite_operator


@tflite_operator("NON_MAX_SUPPRESSION_V4")
def non_max_suppression(call: Call) -> tuple[Value, Value]:
    """Converts version 4: the indices of the kept boxes, padded with 0, and their count."""
    chosen, count = _suppress(call)
    return _filled(call, chosen, np.int32), count


@tflite_operator("NON_MAX_SUPPRESSION_V5")
def non_max_suppression_with_scores(call: Call) -> tuple[Value, Value, Value]:
    """Converts version 5: as version 4, with the scores of the kept boxes; a sigma other than 0 lowers scores by
    overlap."""
    sigma = call.constant(5)
    if sigma is not None and not sigma.any():
        chosen, count = _suppress(call)
        scores = call.emit(Gather(), call.input(1), chosen, call.ints(0))
    else:
        operands = [call.input(0), call.input(1), call.ints((_limit(call),))]
        operands += [call.emit(Reshape(), call.weight(index), call.ints((1,))) for index in (3, 4, 5)]
        chosen, scores = call.emit_many(SoftNonMaxSuppression(hard_limit=True), operands, 2)
        chosen.dtype, scores.dtype = DataType.INT32, DataType.FLOAT32
        count = call.emit(Gather(), call.emit(Shape(), chosen), call.ints(0), call.ints(0))
    return _filled(call, chosen, np.int32), _filled(call, scores, np.float32), count


def _suppress(call: Call) -> tuple[Value, Value]:
    """Returns the indices of the kept boxes, not padded, and their count. Raises Blocked."""
    boxes = call.emit(Reshape(), call.input(0), call.ints((1, -1, 4)))
    scores = call.emit(Reshape(), call.input(1), call.ints((1, 1, -1)))
    limits = []
    for index, name in ((3, "the overlap"), (4, "the lowest score")):
        limit = call.constant(index)
        if limit is None or limit.size != 1:
            raise call.block(f"{name} (input {index}) is computed at run time", "Export the model with fixed values")
        limits.append(call.const(limit.reshape(1), np.float32))
    kept = call.emit(NonMaxSuppression(), boxes, scores, call.ints((_limit(call),)), *limits)
    kept.dtype = DataType.INT32
    chosen = call.emit(Gather(), kept, call.ints(2), call.ints(1))
    count = call.emit(Gather(), call.emit(Shape(), kept), call.ints(0), call.ints(0))
    return chosen, count


def _limit(call: Call) -> int:
    """Returns the fixed size of the results. Raises Blocked."""
    numbers = call.integers(2, "the number of boxes")
    if len(numbers) != 1 or not 0 <= numbers[0] <= 1 << 20:
        raise call.block(f"{numbers} is not a number of boxes")
    return numbers[0]


def _filled(call: Call, values: Value, dtype: type[np.generic]) -> Value:
    """Returns `values` padded with zeros to the fixed size."""
    size = _limit(call)
    longer = call.emit(Concat(axis=0), values, call.const(np.zeros(size), dtype))
    return call.emit(StridedSlice(), longer, call.ints((0,)), call.ints((size,)), call.ints((1,)))

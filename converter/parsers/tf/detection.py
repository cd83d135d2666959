"""Non-maximum suppression."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import Minimum
from mslite.converter.mindir.ops.assembly import Concat, Stack, StridedSlice
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.detection import NonMaxSuppression, SoftNonMaxSuppression
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Transpose
from mslite.converter.mindir.ops.reduction import TopKFusion
from mslite.converter.mindir.ops.unary import Clip

from .call import Call
from .registry import tf_operator


def _vector(call: Call, index: int) -> Value:
    """Returns a scalar operand as a float vector [1]."""
    return call.emit(Reshape(), call.as_type(call.input(index), DataType.FLOAT32), call.ints((1,)))


def _suppress(call: Call) -> Value:
    """Returns the indices of the kept boxes, int32 [count]. The inputs are boxes [n, 4], scores [n], limit, overlap,
    [lowest score]."""
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
    """Returns `values` padded with zeros to the largest number of boxes."""
    size = call.require_integer(2, "the number of boxes for padding")
    if not 0 <= size <= 1 << 20:
        raise call.block(f"{size} is not a number of boxes")
    longer = call.emit(Concat(axis=0), values, call.const(np.zeros(size), dtype))
    return call.emit(StridedSlice(), longer, call.ints((0,)), call.ints((size,)), call.ints((1,)))


@tf_operator("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def non_max_suppression(call: Call) -> Value:
    return _suppress(call)


@tf_operator("NonMaxSuppressionV4")
def padded_suppression(call: Call) -> tuple[Value, Value]:
    """Converts version 4: the kept boxes, optionally padded with 0, and their count."""
    chosen = _suppress(call)
    count = _count(call, chosen)
    return (_filled(call, chosen, np.int32) if call.flag("pad_to_max_output_size") else chosen), count


@tf_operator("NonMaxSuppressionV5")
def suppression_with_scores(call: Call) -> tuple[Value, Value, Value]:
    """Converts version 5: as version 4, with the scores of the kept boxes; a sigma other than 0 lowers scores by
    overlap."""
    sigma = call.constant(5)
    if sigma is not None and not sigma.any():
        chosen = _suppress(call)
        scores = call.emit(Gather(), call.input(1), chosen, call.ints(0))
    else:
        limit = call.emit(Reshape(), call.int32(2), call.ints((1,)))
        operands = [call.input(0), call.input(1), limit, *(_vector(call, index) for index in (3, 4, 5))]
        chosen, scores = call.emit_many(SoftNonMaxSuppression(), operands, 2)
    count = _count(call, chosen)
    if call.flag("pad_to_max_output_size"):
        return _filled(call, chosen, np.int32), _filled(call, scores, np.float32), count
    return chosen, scores, count


@tf_operator("CombinedNonMaxSuppression")
def combined_suppression(call: Call) -> tuple[Value, Value, Value, Value]:
    """Converts a combined suppression: boxes [batch, n, 1 or classes, 4], scores [batch, n, classes], limits,
    thresholds.

    The limits are for each class and in total. Each class of each image is suppressed separately; the kept boxes of an
    image are sorted by score.
    """
    boxes, scores = call.input(0), call.input(1)
    sizes = call.require_shape(boxes, "CombinedNonMaxSuppression")
    if len(sizes) != 4:
        raise call.block(f"its boxes have {len(sizes)} dimensions, not 4", "Export the model again")
    batch, count, shared, _ = sizes
    classes = call.require_size(scores, 2, "CombinedNonMaxSuppression")
    per_class = call.require_integer(2, "the number of boxes per class")
    total = call.require_integer(3, "the number of boxes")
    if not (1 <= batch * classes <= _MAX_LISTS and 1 <= total <= 1 << 16 and shared in (1, classes)):
        raise call.block(f"{batch} images with {classes} classes and {total} boxes are unsupported")
    size = min(total, per_class * classes) if call.flag("pad_per_class") else total
    thresholds = [_vector(call, index) for index in (4, 5)]
    limit = call.ints((min(per_class, count),))
    rows = [_thinned(call, boxes, scores, image, thresholds, limit) for image in range(batch)]
    columns = list(zip(*(_best(call, *row, total, size) for row in rows), strict=True))
    made = [call.emit(Stack(axis=0), *column) for column in columns]
    if call.flag("clip_boxes", True):
        made[0] = call.emit(Clip(min=0.0, max=1.0), made[0])
    return made[0], made[1], made[2], made[3]


_MAX_LISTS = 4096


def _thinned(
    call: Call, boxes: Value, scores: Value, image: int, thresholds: list[Value], limit: Value
) -> tuple[Value, Value, Value]:
    """Returns the kept boxes [m, 4], scores [m] and classes [m] of one image, ordered by class."""
    shared = call.require_size(boxes, 2, "CombinedNonMaxSuppression") == 1
    classes = call.require_size(scores, 2, "CombinedNonMaxSuppression")
    own_scores = call.emit(Gather(), scores, call.ints(image), call.ints(0))
    own_boxes = call.emit(Gather(), boxes, call.ints(image), call.ints(0))
    by_class = call.emit(Transpose(), own_scores, call.ints((1, 0)))
    found = []
    for number in range(classes):
        line = call.emit(Gather(), by_class, call.ints(number), call.ints(0))
        corners = call.emit(Gather(), own_boxes, call.ints(0 if shared else number), call.ints(1))
        kept = call.emit(
            NonMaxSuppression(),
            call.emit(Reshape(), corners, call.ints((1, -1, 4))),
            call.emit(Reshape(), line, call.ints((1, 1, -1))),
            limit,
            *thresholds,
        )
        chosen = call.emit(Gather(), kept, call.ints(2), call.ints(1))
        picked = call.emit(Gather(), line, chosen, call.ints(0))
        label = call.emit(Fill(), call.const(np.float32(number)), call.emit(Shape(), chosen))
        found.append((call.emit(Gather(), corners, chosen, call.ints(0)), picked, label))
    if classes == 1:
        return found[0]
    first, second, third = (call.emit(Concat(axis=0), *column) for column in zip(*found, strict=True))
    return first, second, third


def _best(
    call: Call, boxes: Value, scores: Value, classes: Value, total: int, size: int
) -> tuple[Value, Value, Value, Value]:
    """Returns the best boxes of one image, padded with zeros, [size, 4], [size], [size], and their count."""
    # Entries of -inf after the scores ensure that TopK always finds enough elements; their boxes are 0.
    found = _count(call, scores)
    rank = call.emit(Concat(axis=0), scores, call.const(np.full(total, -np.inf), np.float32))
    _, order = call.emit_many(TopKFusion(sorted=True, axis=-1, largest=1), [rank, call.ints((size,))], 2)
    padded = [
        call.emit(Concat(axis=0), value, call.const(np.zeros((total, *tail)), np.float32))
        for value, tail in ((boxes, (4,)), (scores, ()), (classes, ()))
    ]
    best = [call.emit(Gather(), value, order, call.ints(0)) for value in padded]
    return best[0], best[1], best[2], call.emit(Minimum(), found, call.ints(size))

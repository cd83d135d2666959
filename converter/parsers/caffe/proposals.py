"""Region proposals: decoded anchors, top scores, non-maximum suppression."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, Minimum, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.comparison import GreaterEqual
from mslite.converter.mindir.ops.detection import NonMaxSuppression
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.reduction import TopKFusion
from mslite.converter.mindir.ops.unary import ExpFusion
from mslite.converter.parsers.protobuf import Message

from .call import Blob, Call
from .registry import caffe_layer
from .weights import Floats

_MAX_ANCHORS = 1 << 22


def _anchors(given: Message) -> Floats:
    """Returns the anchors of the first cell, [anchors, 4] as x1, y1, x2, y2; ordered by ratio, then scale."""
    base = given.base_size
    rows = []
    for ratio in list(given.ratio) or [1.0]:
        width = np.floor(np.sqrt(base * base / ratio) + 0.5)
        height = np.floor(width * ratio + 0.5)
        for scale in list(given.scale) or [1.0]:
            half = np.array([width * scale - 1, height * scale - 1]) / 2
            rows.append(np.concatenate([(base - 1) / 2 - half, (base - 1) / 2 + half]))
    return np.array(rows, np.float32)


def _columns(call: Call, table: Value, first: int, count: int) -> Value:
    return call.emit(SliceFusion(axes=(1,)), table, call.ints([first]), call.ints([count]))


def _by_anchor(call: Call, blob: Value, first: int, anchors: int, numbers: int, cells: tuple[int, int]) -> Value:
    """Returns channels from `first` on of [1, channels, height, width] as [height * width * anchors, numbers]."""
    part = call.emit(SliceFusion(axes=(1,)), blob, call.ints([first]), call.ints([anchors * numbers]))
    part = call.emit(Reshape(), part, call.ints([anchors, numbers, *cells]))
    part = call.emit(Transpose(), part, call.ints([2, 3, 0, 1]))
    return call.emit(Reshape(), part, call.ints([-1, numbers]))


def _decoded(call: Call, codes: Value, anchors: Floats) -> list[Value]:
    """Returns the upper left and lower right corners of decoded boxes, [count, 2] each; boxes include their last
    pixel."""
    size = anchors[:, 2:] - anchors[:, :2] + 1
    centers = call.emit(MulFusion(), _columns(call, codes, 0, 2), call.const(size))
    centers = call.emit(AddFusion(), centers, call.const(anchors[:, :2] + size / 2))
    half = call.emit(MulFusion(), call.emit(ExpFusion(), _columns(call, codes, 2, 2)), call.const(size / 2))
    return [call.emit(op, centers, half) for op in (SubFusion(), AddFusion())]


@caffe_layer("Proposal")
def proposal(call: Call) -> Blob | tuple[Blob, Blob]:
    """Converts Proposal: scores [1, 2 * anchors, h, w], codes [1, 4 * anchors, h, w], and the image's height, width,
    scale.

    The results are rows (0, x1, y1, x2, y2), sorted by score, and their scores. The number of rows depends on the
    scores.
    """
    scores, codes, image = call.bottom(0), call.bottom(1), call.bottom(2)
    given = call.parameter("proposal")
    if min([given.feat_stride, given.base_size, *given.ratio, *given.scale, given.post_nms_topn]) <= 0:
        raise call.block("the stride, the base size, ratios, scales and the number of results must be positive")
    base = _anchors(given)
    count = len(base)
    call.require_rank(scores, 4)
    height, width = scores.shape[2:]
    wanted = ((1, 2 * count, height, width), (1, 4 * count, height, width))
    if (scores.shape, codes.shape) != wanted or image.shape[-1] < 3:
        shown = ", ".join("x".join(map(str, blob.shape)) for blob in (scores, codes, image))
        raise call.block(f"the bottom blobs do not match {count} anchors of one image: {shown}")
    if height * width * count > _MAX_ANCHORS:
        raise call.block(f"{height * width * count} anchors are too many")
    y, x = np.mgrid[:height, :width] * given.feat_stride
    anchors = (np.stack([x, y, x, y], -1)[:, :, None] + base).reshape(-1, 4).astype(np.float32)

    info = call.emit(Reshape(), image.value, call.ints([-1, image.shape[-1]]))
    info = call.emit(SliceFusion(axes=(0,)), info, call.ints([0]), call.ints([1]))
    last = call.emit(Concat(axis=1), _columns(call, info, 1, 1), _columns(call, info, 0, 1))
    last = call.emit(SubFusion(), last, call.const(1.0))
    least = call.emit(MulFusion(), _columns(call, info, 2, 1), call.const(float(given.min_size)))
    corners = _decoded(call, _by_anchor(call, codes.value, 0, count, 4, (height, width)), anchors)
    zero, one = call.const(0.0), call.const(1.0)
    corners = [call.emit(Minimum(), call.emit(Maximum(), corner, zero), last) for corner in corners]
    size = call.emit(AddFusion(), call.emit(SubFusion(), corners[1], corners[0]), one)
    large = call.cast(call.emit(GreaterEqual(), size, least), DataType.FLOAT32)
    large = call.emit(MulFusion(), _columns(call, large, 0, 1), _columns(call, large, 1, 1))
    own = _by_anchor(call, scores.value, count, count, 1, (height, width))
    own = call.emit(Reshape(), call.emit(MulFusion(), own, large), call.ints([-1]))

    before = min(given.pre_nms_topn or len(anchors), len(anchors))
    best, order = call.emit_many(TopKFusion(axis=0, largest=1), [own, call.ints([before])], 2)
    boxes = call.emit(Gather(), call.emit(Concat(axis=1), *corners), order, call.ints(0))
    ends = call.emit(AddFusion(), boxes, call.const(np.array([[0, 0, 1, 1]])))
    operands = [call.emit(Reshape(), ends, call.ints([1, -1, 4])), call.emit(Reshape(), best, call.ints([1, 1, -1]))]
    limits = [call.const([given.post_nms_topn], np.int64), call.const([given.nms_thresh]), call.const([0.0])]
    kept = call.emit(NonMaxSuppression(), *operands, *limits)
    kept = call.emit(Reshape(), _columns(call, kept, 2, 1), call.ints([-1]))
    chosen = call.emit(Gather(), boxes, kept, call.ints(0))
    numbers = call.emit(MulFusion(), _columns(call, chosen, 0, 1), zero)
    rows = Blob(call.emit(Concat(axis=1), numbers, chosen), (given.post_nms_topn, 5))
    if call.top_count < 2:
        return rows
    found = call.emit(Reshape(), call.emit(Gather(), best, kept, call.ints(0)), call.ints([-1, 1]))
    return rows, Blob(found, (given.post_nms_topn, 1))

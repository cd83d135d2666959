"""Bounding boxes of detectors: encoding, decoding, validity, intersection over union."""

from __future__ import annotations

from math import log

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops.assembly import Concat, Split
from mslite.converter.mindir.ops.comparison import GreaterEqual, LessEqual
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.unary import Clip, ExpFusion, Log

from .call import Call
from .registry import primitive
from .statistics import reduced


def _columns(call: Call, x: Value) -> list[Value]:
    """Returns the four columns of the boxes, [boxes, 1] each."""
    op = Split(output_num=4, size_splits=(1,) * 4, axis=1)
    return [call.value(each) for each in call.emit_many(op, [x], 4).items]


class _Arithmetic:
    """Short names for arithmetic of a value with a value or a scalar."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def _apply(self, op: Operator, a: Value, b: Value | float) -> Value:
        return self._call.emit(op, a, b if isinstance(b, Value) else self._call.const(b, np.float32))

    def add(self, a: Value, b: Value | float) -> Value:
        return self._apply(ops.AddFusion(), a, b)

    def sub(self, a: Value, b: Value | float) -> Value:
        return self._apply(ops.SubFusion(), a, b)

    def mul(self, a: Value, b: Value | float) -> Value:
        return self._apply(ops.MulFusion(), a, b)

    def div(self, a: Value, b: Value | float) -> Value:
        return self._apply(ops.DivFusion(), a, b)

    def length(self, begin: Value, end: Value) -> Value:
        """Returns end - begin + 1: both ends are pixels of the box."""
        return self.add(self.sub(end, begin), 1.0)

    def center(self, begin: Value, end: Value) -> Value:
        return self.mul(self.add(begin, end), 0.5)


def _floats(call: Call, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    given = call.attribute(name)
    found = given if isinstance(given, tuple) else default
    if len(found) != 4 or any(isinstance(number, str | tuple) for number in found):
        raise call.block(f"{found} must have four numbers", attribute=name)
    return tuple(float(number) for number in found)


@primitive(
    "BoundingBoxEncode", operators="Split Concat SubFusion DivFusion Log", arguments="anchor_box groundtruth_box"
)
def encode(call: Call) -> Value:
    """Converts BoundingBoxEncode: offsets of the centers, relative to the anchor, and logarithms of the size ratios."""
    do = _Arithmetic(call)
    anchor, box = _columns(call, call.input(0)), _columns(call, call.input(1))
    moved, grown = [], []
    for axis in (0, 1):
        old, new = do.length(anchor[axis], anchor[axis + 2]), do.length(box[axis], box[axis + 2])
        way = do.sub(do.center(box[axis], box[axis + 2]), do.center(anchor[axis], anchor[axis + 2]))
        moved.append(do.div(way, old))
        grown.append(call.emit(Log(), do.div(new, old)))
    means, deviations = _floats(call, "means", (0.0,) * 4), _floats(call, "stds", (1.0,) * 4)
    code = do.sub(call.emit(Concat(axis=1), *moved, *grown), call.const(means, np.float32))
    return do.div(code, call.const(deviations, np.float32))


@primitive("BoundingBoxDecode", operators="Split Concat MulFusion ExpFusion Clip", arguments="anchor_box deltas")
def decode(call: Call) -> Value:
    do = _Arithmetic(call)
    means, deviations = _floats(call, "means", (0.0,) * 4), _floats(call, "stds", (1.0,) * 4)
    limit = abs(log(max(call.real("wh_ratio_clip", 0.016), 1e-30)))
    code = do.add(do.mul(call.input(1), call.const(deviations, np.float32)), call.const(means, np.float32))
    anchor, deltas = _columns(call, call.input(0)), _columns(call, code)
    most = call.integers("max_shape")
    begins, ends = [], []
    for axis in (0, 1):
        old = do.length(anchor[axis], anchor[axis + 2])
        grown = call.emit(Clip(min=-limit, max=limit), deltas[axis + 2])
        half = do.mul(do.mul(old, call.emit(ExpFusion(base=-1.0, scale=1.0, shift=0.0), grown)), 0.5)
        center = do.add(do.center(anchor[axis], anchor[axis + 2]), do.mul(old, deltas[axis]))
        pair = [do.add(do.sub(center, half), 0.5), do.sub(do.add(center, half), 0.5)]
        if most is not None and len(most) == 2:
            pair = [call.emit(Clip(min=0.0, max=float(most[1 - axis])), each) for each in pair]
        begins.append(pair[0])
        ends.append(pair[1])
    return call.emit(Concat(axis=1), *begins, *ends)


@primitive("CheckValid", operators="GreaterEqual LessEqual ReduceFusion", arguments="bboxes img_metas")
def inside(call: Call) -> Value:
    """Converts CheckValid: whether a box is inside the image. The second operand is [height, width, ratio] of the
    image."""
    do = _Arithmetic(call)
    box = _columns(call, call.cast(call.input(0), DataType.FLOAT32))
    op = Split(output_num=3, size_splits=(1,) * 3, axis=0)
    sizes = [call.value(each) for each in call.emit_many(op, [call.cast(call.input(1), DataType.FLOAT32)], 3).items]
    height, width = (do.sub(do.mul(size, sizes[2]), 1.0) for size in sizes[:2])
    tests = [call.emit(GreaterEqual(), edge, call.const(0, np.float32)) for edge in box[:2]]
    tests += [call.emit(LessEqual(), edge, most) for edge, most in ((box[2], width), (box[3], height))]
    joined = call.emit(Concat(axis=1), *(call.cast(test, DataType.INT32) for test in tests))
    return call.cast(reduced(call, ReduceMode.ReduceMin, joined, (1,), False), DataType.BOOL)


@primitive("IOU", operators="Split Maximum Minimum MulFusion DivFusion", arguments="anchor_boxes gt_boxes")
def overlap(call: Call) -> Value:
    """Converts IOU: for each box [x1, y1, x2, y2] of the second operand and each box of the first one."""
    do = _Arithmetic(call)
    x, y = (call.cast(call.input(index), DataType.FLOAT32) for index in (0, 1))
    a = [call.emit(Reshape(), each, call.ints((1, -1))) for each in _columns(call, x)]
    b = [call.emit(Reshape(), each, call.ints((-1, 1))) for each in _columns(call, y)]
    sides = []
    for axis in (0, 1):
        begin, end = call.emit(ops.Maximum(), a[axis], b[axis]), call.emit(ops.Minimum(), a[axis + 2], b[axis + 2])
        sides.append(call.emit(ops.Maximum(), do.length(begin, end), call.const(0, np.float32)))
    shared = do.mul(*sides)
    first, second = (do.mul(do.length(box[0], box[2]), do.length(box[1], box[3])) for box in (a, b))
    whole = do.sub(do.add(first, second), shared) if call.text("mode", "iou") == "iou" else second
    return call.cast(do.div(shared, whole), call.declared_type)

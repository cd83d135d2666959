"""Choices of slices by their index, tables of embeddings among them."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.mindir.ops.reduction import UnsortedSegmentSum
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.training.gradients.rule import Call, Gradients, NoGradientError, rule, shape_of


@rule("Gather")
def _gather(call: Call, dy: Value) -> Gradients:
    """Slices that were taken several times get the sum of their gradients, others nothing."""
    shape, taken = call.shape(0), call.shape(1)
    axis_of = call.node.inputs[2] if len(call.node.inputs) > 2 else None
    if axis_of is not None and axis_of.data is None:
        raise NoGradientError("the axis is not constant")
    axis = int(axis_of.array().reshape(-1)[0]) % len(shape) if axis_of is not None else 0
    count = prod(taken)
    # The dimensions of the index go to the front, and become one; then slices are rows.
    order = (*range(axis, axis + len(taken)), *range(axis), *range(axis + len(taken), len(shape_of(dy))))
    front = _turned(call, dy, order, "front")
    others = tuple(size for i, size in enumerate(shape) if i != axis)
    rows = call.build.reshaped(front, (count, *others), call.name("rows"))
    total = call.add(UnsortedSegmentSum(), "sum", [rows, _rows(call, count, shape[axis]), _number(call, shape[axis])],
                     (shape[axis], *others))  # fmt: skip
    back = (*range(1, axis + 1), 0, *range(axis + 1, len(shape)))
    dx = _turned(call, total, back, "x")
    return [dx, *[None] * (len(call.node.inputs) - 1)]


def _turned(call: Call, value: Value, order: tuple[int, ...], what: str) -> Value:
    if order == tuple(range(len(order))):
        return value
    before = shape_of(value)
    shape: Shape = tuple(before[axis] for axis in order)
    return call.add(Transpose(), what, [value, call.build.sizes(call.name(f"{what}/perm"), order)], shape)


def _number(call: Call, count: int) -> Value:
    return call.build.constant(call.name("count"), np.asarray([count], np.int32))


def _rows(call: Call, count: int, size: int) -> Value:
    """The index, a vector of int32; constant ones may count from the end."""
    index = call.node.inputs[1]
    if index.data is not None:
        rows = np.asarray(index.data, np.int64).reshape(-1)
        return call.build.constant(call.name("index"), np.where(rows < 0, rows + size, rows).astype(np.int32))
    if index.dtype is not DataType.INT32:
        number = call.build.constant(call.name("int32"), np.int32(DataType.INT32))
        index = call.add(Cast(), "narrow", [index, number], call.shape(1))
    flat = call.build.reshaped(index, (count,), call.name("index"))
    index.dtype = flat.dtype = DataType.INT32
    return flat

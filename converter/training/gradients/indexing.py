"""Gradients of Gather and GatherNd, such as embedding lookups."""

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
    """Slices that were read several times get the sum of their gradients, other slices 0."""
    shape, taken = call.shape(0), call.shape(1)
    axis_of = call.node.inputs[2] if len(call.node.inputs) > 2 else None
    if axis_of is not None and axis_of.data is None:
        raise NoGradientError("the axis is not constant")
    axis = int(axis_of.array().reshape(-1)[0]) % len(shape) if axis_of is not None else 0
    count = prod(taken)
    whole = shape_of(dy)
    flat = call.build.reshaped(dy, (*whole[:axis], count, *whole[axis + len(taken) :]), call.name("flat"))
    dx = summed_at(call, flat, axis, _rows(call, count, shape[axis]), shape[axis])
    return [dx, *[None] * (len(call.node.inputs) - 1)]


@rule("GatherNd")
def _gather_tuples(call: Call, dy: Value) -> Gradients:
    """Merges the dimensions that an index tuple selects, so that a tuple becomes the index of a row."""
    shape, index = call.shape(0), call.node.inputs[1]
    *before, depth = call.shape(1)
    count, rows = prod(before), prod(shape[:depth])
    rest = shape[depth:]
    if depth == 1:
        places = _rows(call, count, rows)
    elif index.data is not None:
        sizes = np.asarray(shape[:depth])
        tuples = np.asarray(index.data, np.int64).reshape(-1, depth)
        flat = np.ravel_multi_index(tuple((tuples % sizes).T), tuple(sizes))
        places = call.build.constant(call.name("index"), flat.astype(np.int32))
    else:
        raise NoGradientError("the gradient for computed index tuples is not supported", "Use Gather on rows")
    total = summed_at(call, call.build.reshaped(dy, (count, *rest), call.name("rows")), 0, places, rows)
    return [call.build.reshaped(total, shape, call.name("params")), None]


def summed_at(call: Call, dy: Value, axis: int, index: Value, size: int, what: str = "") -> Value:
    """Adds the slices of dy along `axis` with the same `index`, an int32 vector; the result has `size` slices."""
    rank = len(shape_of(dy))
    front = _turned(call, dy, (axis, *range(axis), *range(axis + 1, rank)), f"{what}front")
    number = call.build.constant(call.name(f"{what}count"), np.asarray([size], np.int32))
    total = call.add(UnsortedSegmentSum(), f"{what}sum", [front, index, number], (size, *shape_of(front)[1:]))
    return _turned(call, total, (*range(1, axis + 1), 0, *range(axis + 1, rank)), f"{what}x")


def _turned(call: Call, value: Value, order: tuple[int, ...], what: str) -> Value:
    if order == tuple(range(len(order))):
        return value
    before = shape_of(value)
    shape: Shape = tuple(before[axis] for axis in order)
    return call.add(Transpose(), what, [value, call.build.sizes(call.name(f"{what}/perm"), order)], shape)


def _rows(call: Call, count: int, size: int) -> Value:
    """Returns the index as an int32 vector; constant indices may be negative."""
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

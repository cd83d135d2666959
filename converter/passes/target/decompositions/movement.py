"""Decompositions of operators that move and select elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import Crop, SliceFusion, StridedSlice
from mslite.converter.mindir.ops.comparison import Select
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.target.writer import Writer, decomposes


@decomposes("Gather")
def count_from_the_front(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Replaces negative constant indices."""
    if len(node.inputs) != 3:
        return None
    data, indices, axis = node.inputs
    if (
        indices.data is None
        or axis.data is None
        or data.shape is None
        or bool((indices.data.astype(np.int64) >= 0).all())
    ):
        return None
    size = data.shape[int(axis.data.reshape(-1)[0])]
    if size < 0:
        return None
    numbers = indices.data.astype(np.int64)
    positive = np.where(numbers < 0, numbers + size, numbers)
    return (writer.emit(node.op, data, writer.const(positive, np.int32), axis),)


@decomposes("StridedSlice")
def cut_to_the_sizes(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Clamps constant begins and ends of slices to the dimensions."""
    assert isinstance(node.op, StridedSlice)
    count = len(node.inputs)
    data = node.inputs[0]
    if count not in (4, 5) or data.shape is None or any(value.data is None for value in node.inputs[1:]):
        return None
    begin, end, strides = (node.inputs[k].array().reshape(-1).astype(np.int64) for k in (1, 2, count - 1))
    axes = node.inputs[3].array().reshape(-1).tolist() if count == 5 else range(len(begin))
    masks = (node.op.ellipsis_mask, node.op.new_axis_mask, node.op.shrink_axis_mask)
    if any(masks) or (strides <= 0).any():
        return None
    op = node.op
    for position, axis in enumerate(axes):
        size = data.shape[axis]
        if size < 0:
            continue
        begin[position] = np.clip(begin[position] + (size if begin[position] < 0 else 0), 0, size)
        end[position] = np.clip(end[position] + (size if end[position] < 0 else 0), 0, size)
    operands = [data, writer.const(begin, np.int32), writer.const(end, np.int32), *node.inputs[3:]]
    return (writer.emit(op, *operands),)


@decomposes("BroadcastTo")
def add_to_zeros(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers broadcasting to an addition of zeros, for types that AddFusion supports."""
    result = node.outputs[0]
    if (
        result.shape is None
        or any(size < 0 for size in result.shape)
        or result.dtype not in (DataType.FLOAT32, DataType.INT32)
    ):
        return None
    zeros = writer.const(np.zeros(result.shape), np.float32 if result.dtype is DataType.FLOAT32 else np.int32)
    return (writer.emit(AddFusion(), node.inputs[0], zeros),)


@decomposes("Split")
def state_every_size(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Replaces -1 in the sizes of a Split."""
    sizes = [value.shape[getattr(node.op, "axis", 0)] if value.shape is not None else -1 for value in node.outputs]
    if min(sizes) < 0:
        return None
    return writer.many(changed(node.op, size_splits=tuple(sizes), output_num=len(sizes)), node.inputs[:1], len(sizes))


@decomposes("Gather Softmax LogSoftmax")
def axis_from_the_front(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Replaces a negative axis."""
    rank = node.inputs[0].rank
    if rank is None:
        return None
    if node.op.name == "Gather":
        axis = node.inputs[2].data if len(node.inputs) == 3 else None
        if axis is None or int(axis.reshape(-1)[0].astype(np.int64)) >= 0:
            return None
        front = writer.const(axis.astype(np.int64) + rank, np.int32)
        return (writer.emit(node.op, *node.inputs[:2], front),)
    axes = getattr(node.op, "axis", None)
    if isinstance(axes, int):
        return (writer.emit(changed(node.op, axis=axes + rank), *node.inputs),) if axes < 0 else None
    if axes is None or min(axes) >= 0:
        return None
    return (writer.emit(changed(node.op, axis=tuple(axis % rank for axis in axes)), *node.inputs),)


@decomposes("Where")
def select(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers Where to Select, with inputs broadcast to the whole shape."""
    if len(node.inputs) != 3:
        return None
    result = node.outputs[0]
    if result.shape is None or any(size < 0 for size in result.shape) or result.dtype not in _SUMS:
        raise Blocked("Select needs known dimensions, and float32 or int32", "Fix the input shapes with --inputShape")
    truth, *values = node.inputs
    if truth.shape not in (result.shape, (), (1,)):
        return None
    return (writer.emit(Select(), truth, *(_repeated(writer, value, result) for value in values)),)


_SUMS = {DataType.FLOAT32: np.float32, DataType.INT32: np.int32}
"""Types that AddFusion supports."""


def _repeated(writer: Writer, value: Value, result: Value) -> Value:
    if value.shape == result.shape:
        return value
    return writer.emit(AddFusion(), value, writer.const(np.zeros(result.shape or ()), _SUMS[result.dtype]))


@decomposes("Crop")
def slice_of_known_size(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers a crop to known sizes to a slice."""
    op, shape = node.op, node.outputs[0].shape
    assert isinstance(op, Crop)
    if shape is None or any(size < 0 for size in shape):
        return None
    first = op.axis % len(shape)
    given = list(op.offsets or (0,))
    offsets = given if len(given) > 1 else given * (len(shape) - first)
    begin = [0] * first + offsets
    return (
        writer.emit(
            SliceFusion(axes=tuple(range(len(shape)))), node.inputs[0], writer.ints(*begin), writer.ints(*shape)
        ),
    )

"""Decompositions of operators that move elements to constant or computed positions, with Gather."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import Concat, PadExtend, Split, Stack, StridedSlice, Unstack
from mslite.converter.mindir.ops.comparison import Less
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import BatchGather, Gather
from mslite.converter.mindir.ops.rearrange import DepthToSpace
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.target.decompositions.dynamic_reshape import known_shape, reshaped
from mslite.converter.passes.target.decompositions.float_arithmetic import REMEDY, cast, number
from mslite.converter.passes.target.writer import Writer, decomposes

_SIZES = "Fix the input shapes with --inputShape"


def gathered(x: Value, axis: int, places: npt.NDArray[np.int64], writer: Writer) -> Value:
    """Emits the elements at constant positions of a dimension."""
    return writer.emit(Gather(), x, writer.const(places, np.int32), writer.const(axis, np.int32))


@decomposes("DepthToSpace")
def channels_in_the_other_order(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers DepthToSpace in mode CRD to mode DCR, with reordered channels."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, DepthToSpace)
    if (op.mode or "DCR") == "DCR":
        return None
    if x.quant:
        raise Blocked("it is quantized", REMEDY)
    size = known_shape(x)[3]
    order = np.arange(size).reshape(-1, op.block_size * op.block_size).T.reshape(-1)
    return [writer.emit(changed(op, mode="DCR"), gathered(x, 3, order, writer))]


@decomposes("PadExtend")
def continued(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Pads each dimension separately; negative paddings are cut first."""
    op, (x, borders) = node.op, node.inputs
    assert isinstance(op, PadExtend)
    shape = known_shape(x)
    if borders.data is None or any(size < 0 for size in shape):
        raise Blocked("its paddings or input dimensions are unknown", _SIZES)
    y = x
    for axis, (before, after) in enumerate(borders.data.reshape(-1, 2).astype(np.int64).tolist()):
        if before or after:
            kept = np.arange(max(-before, 0), shape[axis] - max(-after, 0))
            pad = (max(before, 0), max(after, 0))
            places = np.pad(kept, pad, mode="wrap" if op.mode == "wrap" else "edge")
            y = gathered(y, axis, places, writer)
    return [y if y is not x else reshaped(x, shape, writer)]


@decomposes("StridedSlice")
def backwards(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers constant slices of known dimensions, with positive or negative strides."""
    op, (x, *rest) = node.op, node.inputs
    assert isinstance(op, StridedSlice)
    shape = known_shape(x)
    if any(value.data is None for value in rest) or any(size < 0 for size in shape):
        return None
    if op.ellipsis_mask or op.new_axis_mask:
        raise Blocked("it has an ellipsis or new axes", REMEDY)
    begin, end, *more = (value.array().reshape(-1).astype(np.int64).tolist() for value in rest)
    strides = more[-1] if more else [1] * len(begin)
    axes = more[0] if len(more) > 1 else range(len(begin))
    y = x
    for place, axis in enumerate(axes):
        first = None if op.begin_mask >> place & 1 else begin[place]
        last = None if op.end_mask >> place & 1 else end[place]
        every = np.arange(shape[axis])
        if op.shrink_axis_mask >> place & 1:
            chosen = every[[begin[place]]]
        else:
            chosen = every[first : last : strides[place]]
        if len(chosen) == 0:
            raise Blocked("its result has no elements", REMEDY)
        if not np.array_equal(chosen, every):
            y = gathered(y, axis % len(shape), chosen, writer)
    return [reshaped(y, known_shape(node.outputs[0]), writer)]


@decomposes("GatherD")
def at_places_along(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Gathers from the flattened input: computes the position of the element for each index."""
    x, dim, index = node.inputs
    shape, wanted = known_shape(x), known_shape(index)
    if dim.data is None or any(size < 0 for size in (*shape, *wanted)):
        raise Blocked("its dimensions are unknown", _SIZES)
    axis = int(dim.data.reshape(-1)[0].astype(np.int64)) % len(shape)
    steps = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
    base = np.zeros(wanted, np.int64)
    for place, grid in enumerate(np.indices(wanted)):
        base += 0 if place == axis else grid * steps[place]
    flat = _flat_places(index, shape[axis], steps[axis], base, writer)
    return [_at(x, flat, writer)]


def _flat_places(index: Value, size: int, step: int, base: npt.NDArray[np.int64], writer: Writer) -> Value:
    """Emits index * step + base; indices may be negative."""
    if index.data is not None:
        numbers = index.data.astype(np.int64)
        return writer.const(np.where(numbers < 0, numbers + size, numbers) * step + base, np.int32)
    if index.dtype is not DataType.INT32:
        index = cast(index, DataType.INT32, writer)
    is_behind = cast(writer.emit(Less(), index, number(0, index, writer)), DataType.INT32, writer)
    front = writer.emit(AddFusion(), index, writer.emit(MulFusion(), is_behind, number(size, index, writer)))
    scaled = writer.emit(MulFusion(), front, number(step, index, writer)) if step != 1 else front
    return writer.emit(AddFusion(), scaled, writer.const(base, np.int32)) if np.any(base) else scaled


def _at(x: Value, flat: Value, writer: Writer) -> Value:
    return writer.emit(Gather(), reshaped(x, (-1,), writer), flat, writer.const(0, np.int32))


@decomposes("BatchGather")
def of_each_batch(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Merges the batch dimensions with the gathered dimension, which must follow them."""
    op, (x, index) = node.op, node.inputs
    assert isinstance(op, BatchGather)
    shape, wanted = known_shape(x), known_shape(index)
    count, axis = op.batch_dims, op.axis % len(shape)
    if axis != count or any(size < 0 for size in (*shape, *wanted)):
        raise Blocked("its dimensions are unknown, or there are dimensions between its batches and its axis", REMEDY)
    batches = math.prod(shape[:count])
    places = np.arange(batches).reshape(*wanted[:count], *[1] * (len(wanted) - count)) * shape[axis]
    flat = _flat_places(index, shape[axis], 1, np.broadcast_to(places, wanted).astype(np.int64), writer)
    rows = reshaped(x, (batches * shape[axis], *shape[axis + 1 :]), writer)
    return [writer.emit(Gather(), rows, flat, writer.const(0, np.int32))]


@decomposes("Unstack")
def slices(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Unstack)
    if x.quant:
        raise Blocked("it is quantized", REMEDY)
    axis, count = op.axis % len(known_shape(x)), len(node.outputs)
    parts = writer.many(Split(output_num=count, axis=axis), [x], count) if count > 1 else [x]
    return [reshaped(part, known_shape(old), writer) for part, old in zip(parts, node.outputs, strict=True)]


@decomposes("Stack")
def beside_each_other(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    op = node.op
    assert isinstance(op, Stack)
    if any(value.quant for value in node.inputs):
        raise Blocked("it is quantized", REMEDY)
    rank = len(known_shape(node.outputs[0]))
    axis = op.axis % rank
    parts = []
    for value in node.inputs:
        shape = known_shape(value)
        parts.append(reshaped(value, (*shape[:axis], 1, *shape[axis:]), writer))
    return [writer.emit(Concat(axis=axis), *parts)]

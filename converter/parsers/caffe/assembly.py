"""Concatenation, slices, crop, tile, lookups, and constant blobs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import Concat, Crop, Split, TileFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather

from .call import Blob, Call
from .inputs import dummy_shapes
from .registry import caffe_layer

_MAX_FILLED = 1 << 26
_MAX_OPERANDS = 64
"""Largest number of operands of kernels; longer lists are concatenated and split in stages."""


def join(call: Call, values: Sequence[Value], axis: int) -> Value:
    """Concatenates values along `axis`."""
    while len(values) > 1:
        groups = [values[at : at + _MAX_OPERANDS] for at in range(0, len(values), _MAX_OPERANDS)]
        values = [call.emit(Concat(axis=axis), *group) if len(group) > 1 else group[0] for group in groups]
    return values[0]


def cut(call: Call, value: Value, sizes: Sequence[int], axis: int) -> list[Value]:
    """Splits a value into parts of these sizes along `axis`."""
    if len(sizes) == 1:
        return [value]
    if len(sizes) <= _MAX_OPERANDS:
        op = Split(output_num=len(sizes), size_splits=tuple(sizes), axis=axis)
        return list(call.emit_many(op, [value], len(sizes)))
    step = max(_MAX_OPERANDS, -(-len(sizes) // _MAX_OPERANDS))
    groups = [sizes[at : at + step] for at in range(0, len(sizes), step)]
    pieces = cut(call, value, [sum(group) for group in groups], axis)
    return [part for piece, group in zip(pieces, groups, strict=True) for part in cut(call, piece, group, axis)]


@caffe_layer("Concat")
def concat(call: Call) -> Blob:
    first, given = call.bottom(), call.parameter("concat")
    axis = given.concat_dim if given.HasField("concat_dim") else given.axis
    axis = call.axis(axis, first.rank)
    for blob in call.bottoms:
        if blob.rank != first.rank or _without(blob.shape, axis) != _without(first.shape, axis):
            shapes = ", ".join("x".join(map(str, other.shape)) for other in call.bottoms)
            raise call.block(f"the bottom blobs differ in other dimensions than {axis}: {shapes}")
    total = sum(blob.shape[axis] for blob in call.bottoms)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    return Blob(join(call, [blob.value for blob in call.bottoms], axis), shape)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


@caffe_layer("Slice")
def slice_(call: Call) -> list[Blob]:
    """Converts Slice: splits at the slice points, or into equal parts."""
    x, given, count = call.bottom(), call.parameter("slice"), call.top_count
    axis = given.slice_dim if given.HasField("slice_dim") else given.axis
    axis = call.axis(axis, x.rank)
    size, points = x.shape[axis], list(given.slice_point)
    if points:
        bounds = [0, *points, size]
        sizes = [after - before for before, after in pairwise(bounds)]
    else:
        sizes = [size // max(count, 1)] * count
    if len(sizes) != count or sum(sizes) != size or any(part < 1 for part in sizes):
        raise call.block(f"{size} elements cannot be split into {count} parts at {points or 'equal distances'}")
    values = cut(call, x.value, sizes, axis)
    return [
        Blob(value, (*x.shape[:axis], part, *x.shape[axis + 1 :])) for value, part in zip(values, sizes, strict=True)
    ]


@caffe_layer("Crop")
def crop(call: Call) -> Blob:
    """Converts Crop: crops the first bottom blob to the size of the second from `axis` on."""
    x, reference, given = call.bottom(0), call.bottom(1), call.parameter("crop")
    axis, offsets = call.axis(given.axis, x.rank), list(given.offset)
    if reference.rank != x.rank:
        raise call.block(f"the bottom blobs have {x.rank} and {reference.rank} dimensions")
    count = x.rank - axis
    if len(offsets) not in (0, 1, count):
        raise call.block(f"it has {len(offsets)} offsets for {count} dimensions", attribute="offset")
    offsets = offsets or [0]
    offsets = offsets * count if len(offsets) == 1 else offsets
    shape = (*x.shape[:axis], *reference.shape[axis:])
    if any(offset + size > have for offset, size, have in zip(offsets, shape[axis:], x.shape[axis:], strict=True)):
        raise call.block(
            f"a crop of {list(shape)} at {offsets} is outside the blob {list(x.shape)}", attribute="offset"
        )
    if shape == x.shape:
        return x
    return Blob(call.emit(Crop(axis=axis, offsets=tuple(offsets)), x.value, reference.value), shape)


@caffe_layer("Tile")
def tile(call: Call) -> Blob:
    x, given = call.bottom(), call.parameter("tile")
    axis, tiles = call.axis(given.axis, x.rank), given.tiles
    if tiles < 1:
        raise call.block(f"{tiles} is not a valid number of copies", attribute="tiles")
    multiples = [tiles if index == axis else 1 for index in range(x.rank)]
    shape = (*x.shape[:axis], x.shape[axis] * tiles, *x.shape[axis + 1 :])
    return Blob(call.emit(TileFusion(), x.value, call.ints(multiples)), shape)


@caffe_layer("BatchReindex")
def batch_reindex(call: Call) -> Blob:
    """Converts BatchReindex: the batch items of the first bottom blob with the indices of the second."""
    x, index = call.bottom(0), call.bottom(1)
    call.require_rank(index, 1)
    numbers = call.cast(index.value, DataType.INT32)
    return Blob(call.emit(Gather(), x.value, numbers, call.ints(0)), (*index.shape, *x.shape[1:]))


@caffe_layer("Embed")
def embed(call: Call) -> Blob:
    """Converts Embed: a lookup of table rows, plus a bias."""
    x, given = call.bottom(), call.parameter("embed")
    table = call.const(call.weight(0, (given.input_dim, given.num_output)))
    y = call.emit(Gather(), table, call.cast(x.value, DataType.INT32), call.ints(0))
    if given.bias_term:
        y = call.emit(AddFusion(), y, call.const(call.weight(1, (given.num_output,))))
    return Blob(y, (*x.shape, given.num_output))


@caffe_layer("Parameter")
def parameter(call: Call) -> Blob:
    """Converts Parameter: a weight as a blob."""
    shape = tuple(call.parameter("parameter").shape.dim)
    return Blob(call.const(call.weight(0, shape)), shape)


@caffe_layer("DummyData")
def dummy_data(call: Call) -> list[Blob]:
    """Converts DummyData to constant blobs."""
    given, tops = call.parameter("dummy_data"), call.top_count
    shapes, fillers = dummy_shapes(call.layer), list(given.data_filler)
    if len(shapes) not in (1, tops) or len(fillers) not in (0, 1, tops):
        raise call.block(f"{len(shapes)} shapes and {len(fillers)} fillers do not match {tops} top blobs")
    shapes = shapes * tops if len(shapes) == 1 else shapes
    blobs = []
    for index, shape in enumerate(shapes):
        if any(dim < 1 for dim in shape) or prod(shape) > _MAX_FILLED:
            raise call.block(f"the shape {list(shape)} is not valid")
        filler = fillers[index if len(fillers) == tops else 0] if fillers else None
        value = 0.0 if filler is None else filler.value
        blobs.append(Blob(call.const(np.full(shape, value, np.float32)), shape))
    return blobs

"""StableHLO's gather and scatter of slices, lowered to gathers and scatters of elements by flat indices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import arithmetic, comparison
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Gather, ScatterNdUpdate, ScatterReduceNd
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.reduction import ReduceFusion

from .call import Call
from .registry import tflite_operator
from .stablehlo_reduce import region_kind

_MAX = 1 << 24
"""Largest number of gathered or scattered elements."""


def _dimensions(call: Call, name: str, rank: int) -> tuple[int, ...]:
    """Returns an option with distinct dimensions of a tensor of this rank. Raises Blocked."""
    values = call.options.integers(name) or ()
    if len(set(values)) != len(values) or any(not 0 <= value < rank for value in values):
        raise call.block(f"{values} are not distinct dimensions of a tensor of rank {rank}", attribute=name)
    return values


class _Places:
    """Positions of slices in a tensor: `starts` [slices, dimensions], and the offsets of the elements of one slice."""

    def __init__(self, call: Call, sizes: Sequence[int], mapping: Sequence[int]) -> None:
        self.call = call
        self.shape = call.shape(0)
        self.mapping = tuple(mapping)
        self.strides = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        self.sizes = tuple(sizes)
        self.elements = np.indices(self.sizes).reshape(len(self.sizes), -1)
        """Offsets in a slice, [dimensions of the tensor, elements of a slice]."""
        vector = call.options.integer("vector_dimension")
        indices, rank = call.shape(1), call.rank(1)
        if not 0 <= vector <= rank or (indices[vector] if vector < rank else 1) != len(self.mapping):
            raise call.block(f"indices of shape {indices} do not match {len(self.mapping)} dimensions")
        self.batch = tuple(size for axis, size in enumerate(indices) if axis != vector)
        if max(math.prod(self.batch) * self.elements.shape[1], math.prod(self.shape)) > _MAX:
            raise call.block(f"{math.prod(self.batch)} slices of {self.sizes} are too many", "Use fewer slices")
        starts = call.int32(1)
        if vector < rank - 1:
            order = [axis for axis in range(rank) if axis != vector] + [vector]
            starts = call.emit(Transpose(), starts, call.ints(order))
        self.starts = call.emit(Reshape(), starts, call.ints((math.prod(self.batch), len(self.mapping))))

    def flat(self, starts: Value) -> Value:
        """Returns the flat index of each element, int32 [slices, elements]."""
        call = self.call
        steps = call.ints([self.strides[axis] for axis in self.mapping])
        add = ReduceFusion(mode=ReduceMode.ReduceSum, coeff=1.0, keep_dims=True)
        first = call.emit(add, call.emit(arithmetic.MulFusion(), starts, steps), call.ints((1,)))
        within = np.array(self.strides, np.int64) @ self.elements if self.strides else np.zeros(1, np.int64)
        return call.emit(arithmetic.AddFusion(), first, call.ints(within[None].tolist()))


@tflite_operator("STABLEHLO_GATHER")
def gather(call: Call) -> Value:
    """Converts gather. Its inputs are x and starts, which are clamped so that slices are inside x."""
    rank = call.rank(0)
    sizes = call.options.integers("slice_sizes") or ()
    if len(sizes) != rank or any(not 0 <= size <= most for size, most in zip(sizes, call.shape(0), strict=True)):
        raise call.block(f"slices of {sizes} do not match the shape {call.shape(0)}", attribute="slice_sizes")
    places = _Places(call, sizes, _dimensions(call, "start_index_map", rank))
    collapsed = _dimensions(call, "collapsed_slice_dims", rank)
    kept = [size for axis, size in enumerate(sizes) if axis not in collapsed]
    out_rank = len(places.batch) + len(kept)
    offsets = _dimensions(call, "offset_dims", out_rank)
    if len(offsets) != len(kept) or any(sizes[axis] != 1 for axis in collapsed):
        raise call.block(
            f"{offsets} do not match slices of {sizes} without the dimensions {collapsed}", attribute="offset_dims"
        )
    last = call.ints([call.shape(0)[axis] - sizes[axis] for axis in places.mapping])
    above = call.emit(arithmetic.Maximum(), places.starts, call.ints((0,) * len(places.mapping)))
    flat = places.flat(call.emit(arithmetic.Minimum(), above, last))
    line = call.emit(Reshape(), call.input(0), call.ints((-1,)))
    found = call.emit(Gather(), line, flat, call.ints(0))
    apart = call.emit(Reshape(), found, call.ints((*places.batch, *kept)))
    return _arranged(call, apart, len(places.batch), offsets, False)


def _arranged(call: Call, x: Value, batch: int, offsets: Sequence[int], back: bool) -> Value:
    """Transposes [batch..., slice...] so that the slice's dimensions are dimensions `offsets` of the result; or
    back."""
    rank = batch + len(offsets)
    rest = [axis for axis in range(rank) if axis not in offsets]
    order = [*rest, *offsets]  # position of each dimension of [batch..., slice...] in the result
    perm = order if back else [order.index(axis) for axis in range(rank)]
    return x if perm == list(range(rank)) else call.emit(Transpose(), x, call.ints(perm))


@tflite_operator("STABLEHLO_SCATTER")
def scatter(call: Call) -> Value:
    """Converts scatter. Its inputs are x, starts, updates; updates are written, added, ... to a copy of x. Elements
    outside x are ignored."""
    if call.input_count != 3:
        raise call.block(f"it has {call.input_count} inputs; 3 are supported", "Scatter one tensor at a time")
    rank, update_rank = call.rank(0), call.rank(2)
    kind = region_kind(call, "body")
    if kind in ("all", "any"):
        raise call.block("a scatter with and/or is unsupported", "Use add, multiply, maximum or minimum")
    windows = _dimensions(call, "update_window_dims", update_rank)
    inserted = _dimensions(call, "inserted_window_dims", rank)
    if len(windows) + len(inserted) != rank or list(windows) != sorted(windows):
        raise call.block(f"{windows} do not match slices of {rank} dimensions", attribute="update_window_dims")
    rest = iter(call.shape(2)[axis] for axis in windows)
    sizes = [1 if axis in inserted else next(rest) for axis in range(rank)]
    places = _Places(call, sizes, _dimensions(call, "scatter_dims_to_operand_dims", rank))
    if tuple(call.shape(2)[axis] for axis in range(update_rank) if axis not in windows) != places.batch:
        raise call.block(f"updates of shape {call.shape(2)} do not match {places.batch} slices")
    count, total = math.prod(places.batch) * places.elements.shape[1], math.prod(call.shape(0))
    inside = _inside(call, places)
    flat = call.emit(comparison.Where(), inside, places.flat(places.starts), call.ints(total))
    flat.dtype = DataType.INT32
    tuples = call.emit(Reshape(), flat, call.ints((count, 1)))
    updates = _arranged(call, call.input(2), len(places.batch), windows, True)
    updates = call.emit(Reshape(), updates, call.ints((count,)))
    line = call.emit(Reshape(), call.input(0), call.ints((-1,)))
    longer = call.emit(Concat(axis=0), line, call.const(np.zeros(1), numpy_type(call.source(0).dtype)))
    op = ScatterNdUpdate() if kind == "second" else ScatterReduceNd(reduction=kind)
    written = call.emit(op, longer, tuples, updates)
    cut = call.emit(SliceFusion(axes=(0,)), written, call.ints((0,)), call.ints((total,)))
    return call.emit(Reshape(), cut, call.ints(call.shape(0)))


def _inside(call: Call, places: _Places) -> Value:
    """Returns whether each element is inside the tensor, bool [slices, elements]."""
    result: Value | None = None
    for column, axis in enumerate(places.mapping):
        start = call.emit(SliceFusion(axes=(1,)), places.starts, call.ints((column,)), call.ints((1,)))
        at = call.emit(arithmetic.AddFusion(), start, call.ints(places.elements[axis][None].tolist()))
        for good in (
            call.emit(comparison.GreaterEqual(), at, call.ints(0)),
            call.emit(comparison.Less(), at, call.ints(places.shape[axis])),
        ):
            result = good if result is None else call.emit(comparison.LogicalAnd(), result, good)
    if result is None:
        return call.const(np.ones((math.prod(places.batch), places.elements.shape[1])), np.bool_)
    return result

"""Gather and scatter operators."""

from __future__ import annotations

import numpy as np

from ..builder import Builder
from ..evaluate import Rejected
from ..values import FLOATS, TYPES, Value
from .reductions import axis_of
from .registry import operator

_MOVED = ("float32", "int32", "int64", "float16", "bool", "uint8", "int8", "float64")

_ADDED = tuple(dtype for dtype in _MOVED if dtype != "bool")  # sums and products of duplicates are undefined


def indices(g: Builder, shape: tuple[int, ...], size: int) -> Value:
    """Returns indices along a dimension of that size, sometimes negative ones."""
    if size < 1:
        raise Rejected("nothing to point at")
    low = -size if g.maybe(3) else 0
    return g.operand(g.choose(("int64", "int32")), shape, low, size - 1)


def fixed(x: Value) -> Value:
    if not x.fixed_shape or x.size == 0:
        raise Rejected("open sizes")
    return x


@operator("Gather")
def gather(g: Builder, name: str) -> None:
    x = g.pick(TYPES, low=1)
    axis = axis_of(g, x)
    if not x.fixed(axis):
        raise Rejected("an open axis")
    shape = g.choose(((), (1,), (3,), (2, 2), (4,)))
    g.node(name, x, indices(g, shape, x.shape[axis]), axis=axis)


@operator("GatherElements")
def gather_elements(g: Builder, name: str) -> None:
    x = fixed(g.pick(_MOVED, low=1))
    axis = axis_of(g, x)
    shape = [g.integer(1, size) for size in x.shape]
    shape[axis] = g.integer(1, 4)
    g.node(name, x, indices(g, tuple(shape), x.shape[axis]), axis=axis)


def points(g: Builder, x: Value, batch: int, different: bool = False) -> Value:
    """Returns index tuples into the leading dimensions of x after its batch dimensions."""
    depth = g.integer(1, x.rank - batch)
    lead = (*x.shape[:batch], *g.choose(((), (2,), (1, 3))))
    bounds = x.shape[batch : batch + depth]
    if different:
        count = int(np.prod(lead))
        every = int(np.prod(bounds))
        if count > every:
            raise Rejected("more places than there are")
        order = np.random.default_rng(g.integer(0, 1000)).permutation(every)[:count]
        found = np.stack(np.unravel_index(order, bounds), -1).reshape(*lead, depth)
    else:
        rng = np.random.default_rng(g.integer(0, 1000))
        found = np.stack([rng.integers(-b if g.maybe(4) else 0, b, lead) for b in bounds], -1)
    return g.constant(found, "int64")


@operator("GatherND")
def gather_nd(g: Builder, name: str) -> None:
    x = fixed(g.pick(_MOVED, low=1))
    batch = g.integer(0, min(2, x.rank - 1)) if g.maybe(3) else 0
    g.node(name, x, points(g, x, batch), batch_dims=batch or None)


@operator("ScatterND")
def scatter_nd(g: Builder, name: str) -> None:
    x = fixed(g.pick(_ADDED, low=1))
    kinds = (None, "none", "add", "mul", *(("max", "min") if g.opset >= 18 else ()))
    kind = g.choose(kinds) if g.opset >= 16 else None
    places = points(g, x, 0, different=kind in (None, "none"))
    updates = g.operand(x.dtype, (*places.shape[:-1], *x.shape[places.shape[-1] :]))
    g.node(name, x, places, updates, reduction=kind)


@operator("ScatterElements")
def scatter_elements(g: Builder, name: str) -> None:
    x = fixed(g.pick(_ADDED, low=1))
    axis = g.integer(0, x.rank - 1)
    kind = g.choose((None, "add", "mul", *(("max", "min") if g.opset >= 18 else ()))) if g.opset >= 16 else None
    shape = [g.integer(1, size) for size in x.shape]
    if kind is None:  # indices must be unique
        line = np.random.default_rng(g.integer(0, 1000)).permutation(x.shape[axis])[: shape[axis]]
        found = np.moveaxis(np.broadcast_to(line, (*shape[:axis], *shape[axis + 1 :], len(line))), -1, axis)
        places = g.constant(found, "int64")
    else:
        places = indices(g, tuple(shape), x.shape[axis])
    updates = g.operand(x.dtype, places.shape)
    g.node(name, x, places, updates, axis=axis - x.rank if g.maybe(3) else axis, reduction=kind)


@operator("OneHot")
def one_hot(g: Builder, name: str) -> None:
    depth = g.integer(1, 6)
    x = g.operand(g.choose(("int64", "int32", "float32")), g.shape(high=3), -depth, depth - 1)
    if x.dtype == "float32":
        x = g.node("Round", x)
    values = g.constant(np.array([g.integer(-1, 0), g.integer(1, 3)]), g.choose(("float32", "int64", "int32")))
    count = g.constant(depth if g.maybe() else [depth], g.choose(("int64", "int32")))
    g.node(name, x, count, values, axis=g.choose((None, -1, g.integer(0, x.rank))))


@operator("Compress")
def compress(g: Builder, name: str) -> None:
    x = fixed(g.pick(_MOVED, low=1))
    axis = None if g.maybe(3) else axis_of(g, x)
    size = x.size if axis is None else x.shape[axis]
    g.node(name, x, g.operand("bool", (g.integer(1, min(size, 40)),)), axis=axis)


@operator("NonMaxSuppression")
def suppression(g: Builder, name: str) -> None:
    batch, count, classes = g.integer(1, 2), g.integer(1, 8), g.integer(1, 3)
    boxes = g.operand("float32", (batch, count, 4), 0.0, 4.0)
    scores = g.operand("float32", (batch, classes, count), 0.0, 1.0)
    most = g.constant([g.integer(1, 4)], "int64")
    overlap = g.constant([g.choose((0.5, 0.3, 0.7))], "float32") if g.maybe() else None
    least = g.constant([0.25], "float32") if g.maybe() else None
    g.node(name, boxes, scores, most, overlap, least, center_point_box=g.choose((None, 1)))


@operator("GridSample", since=16)
def grid_sample(g: Builder, name: str) -> None:
    volume = g.opset >= 20 and g.maybe(3)
    rank = 5 if volume else 4
    x = fixed(g.pick(FLOATS[:1], rank, rank))
    sizes = [g.integer(1, 4) for _ in range(rank - 2)]
    grid = g.operand("float32", (x.shape[0], *sizes, rank - 2), -1.3, 1.3)
    old = ("bilinear", "nearest", "bicubic")
    modes = ("linear", "nearest", *(() if volume else ("cubic",))) if g.opset >= 20 else old
    padding = g.choose((None, "zeros", "border", "reflection"))
    g.node(name, x, grid, mode=g.choose((None, *modes)), padding_mode=padding, align_corners=g.choose((None, 1)))


@operator("RoiAlign")
def roi_align(g: Builder, name: str) -> None:
    x = fixed(g.pick(FLOATS[:1], 4, 4))
    count = g.integer(1, 3)
    low = g.data("float32", (count, 2), 0.0, 2.0)
    corners = np.concatenate([low, low + g.data("float32", (count, 2), 0.5, 4.0)], 1)
    batch = g.operand("int64", (count,), 0, x.shape[0] - 1)
    mode = g.choose(
        (None, "avg", "max")
    )  # onnxruntime's maxima of several samples differ from the standard, which it reports as a warning
    where = g.choose((None, "half_pixel", "output_half_pixel")) if g.opset >= 16 else None
    g.node(
        name,
        x,
        g.constant(corners),
        batch,
        mode=mode,
        output_height=g.integer(1, 3),
        output_width=g.integer(1, 3),
        sampling_ratio=1 if mode == "max" else g.choose((None, 1, 2)),
        spatial_scale=g.choose((None, 0.5)),
        coordinate_transformation_mode=where,
    )

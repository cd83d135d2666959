"""Gradients of operators that move elements, and of reductions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Literal

import numpy as np

from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops import arithmetic, comparison, reduction
from mslite.converter.mindir.ops.assembly import (
    Concat,
    PadExtend,
    PadFusion,
    SliceFusion,
    Split,
    Stack,
    StridedSlice,
    Unstack,
)
from mslite.converter.mindir.ops.enums import DataType, PaddingMode, ReduceMode
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.mindir.ops.training import StridedSliceGrad
from mslite.converter.mindir.ops.unary import Cast, ExpFusion, Sign
from mslite.converter.training.gradients.indexing import summed_at
from mslite.converter.training.gradients.rule import Call, Gradients, NoGradientError, rule, rule_of_several, shape_of


@rule("Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims")
def _same_elements(call: Call, dy: Value) -> Gradients:
    dx = call.build.reshaped(dy, call.shape(0), call.name("x"))
    return [dx, *[None] * (len(call.node.inputs) - 1)]


@rule("Transpose")
def _transpose(call: Call, dy: Value) -> Gradients:
    if len(call.node.inputs) < 2 or call.node.inputs[1].data is None:
        raise NoGradientError("the permutation is not constant")
    inverse = np.argsort(call.node.inputs[1].array()).astype(np.int32)
    perm = call.build.constant(call.name("perm"), inverse)
    return [call.add(Transpose(), "x", [dy, perm], call.shape(0)), None]


@rule("Concat")
def _concat(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, Concat)
    axis = call.op.axis % len(shape_of(dy))
    found: Gradients = []
    at = 0
    for place, wanted in enumerate(call.wanted):
        shape = call.shape(place)
        begin = tuple(at if i == axis else 0 for i in range(len(shape)))
        found.append(call.build.slice(dy, begin, shape, call.name(f"x{place}")) if wanted else None)
        at += shape[axis]
    return found


@rule("Stack")
def _stack(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, Stack)
    whole = shape_of(dy)
    axis = call.op.axis % len(whole)
    one = tuple(1 if i == axis else size for i, size in enumerate(whole))
    found: Gradients = []
    for place, wanted in enumerate(call.wanted):
        begin = tuple(place if i == axis else 0 for i in range(len(whole)))
        part = call.build.slice(dy, begin, one, call.name(f"part_{place}")) if wanted else None
        found.append(None if part is None else call.build.reshaped(part, call.shape(place), call.name(f"x{place}")))
    return found


@rule_of_several("Split")
def _split(call: Call, dys: Sequence[Value | None]) -> Gradients:
    assert isinstance(call.op, Split)
    parts = [dy if dy is not None else _nothing(call, place) for place, dy in enumerate(dys)]
    dx = call.add(Concat(axis=call.op.axis), "x", parts, call.shape(0))
    return [dx, *[None] * (len(call.node.inputs) - 1)]


@rule_of_several("Unstack")
def _unstack(call: Call, dys: Sequence[Value | None]) -> Gradients:
    assert isinstance(call.op, Unstack)
    axis = call.op.axis % len(call.shape(0))
    one = tuple(1 if i == axis else size for i, size in enumerate(call.shape(0)))
    parts = [
        call.build.reshaped(dy if dy is not None else _nothing(call, place), one, call.name(f"part_{place}"))
        for place, dy in enumerate(dys)
    ]
    return [call.add(Concat(axis=axis), "x", parts, call.shape(0))]


def _nothing(call: Call, place: int) -> Value:
    """Returns zeros as the gradient of an output that is not read."""
    zeros = np.zeros(shape_of(call.node.outputs[place]), np.float32)
    return call.build.constant(call.name(f"nothing_{place}"), zeros)


@rule("StridedSlice")
def _strided_slice(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, StridedSlice)
    begin, end, strides = _bounds(call)
    masks: dict[str, Any] = {"begin_mask": op.begin_mask, "end_mask": op.end_mask, "ellipsis_mask": op.ellipsis_mask}
    masks |= {"new_axis_mask": op.new_axis_mask, "shrink_axis_mask": op.shrink_axis_mask}
    sizes = call.build.sizes(call.name("x/shape"), call.shape(0))
    dx = call.add(StridedSliceGrad(**masks), "x", [dy, sizes, begin, end, strides], call.shape(0))
    return [dx, *[None] * (len(call.node.inputs) - 1)]


def _bounds(call: Call) -> list[Value]:
    """Returns begin, end and strides as int32, without the axes that the fourth of five inputs selects."""
    given = [value.data for value in call.node.inputs[1:]]
    if len(given) not in (2, 3, 4) or any(data is None for data in given):
        raise NoGradientError("slices need constant bounds")
    vectors = [np.asarray(data, np.int64).reshape(-1) for data in given if data is not None]
    if len(vectors) == 2:
        vectors.append(np.ones_like(vectors[0]))
    if len(vectors) == 4:
        shape = call.shape(0)
        begin, end, axes, strides = vectors
        whole = [np.zeros(len(shape), np.int64), np.asarray(shape, np.int64), np.ones(len(shape), np.int64)]
        for vector, own in zip(whole, (begin, end, strides), strict=True):
            vector[axes] = own
        vectors = whole
    limits = np.iinfo(np.int32)
    return [
        call.build.constant(call.name(name), np.clip(vector, limits.min, limits.max).astype(np.int32))
        for name, vector in zip(("begin", "end", "strides"), vectors, strict=True)
    ]


_REDUCTIONS = (
    ReduceMode.ReduceSum, ReduceMode.ReduceMean, ReduceMode.ReduceMax, ReduceMode.ReduceMin, ReduceMode.ReduceL2,
    ReduceMode.ReduceSumSquare, ReduceMode.ReduceASum,
)  # fmt: skip


@rule("SliceFusion")
def _slice(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, SliceFusion)
    if len(call.node.inputs) < 3 or call.node.inputs[1].data is None:
        raise NoGradientError("the begin of the slice is not constant")
    shape = call.shape(0)
    begin = [0] * len(shape)
    for axis, first in zip(op.axes or range(len(shape)), call.node.inputs[1].array().reshape(-1), strict=False):
        place = int(axis) % len(shape)
        begin[place] = int(first) + (shape[place] if int(first) < 0 else 0)
    pads = [(first, whole - first - part) for first, whole, part in zip(begin, shape, shape_of(dy), strict=True)]
    paddings = call.build.constant(call.name("paddings"), np.asarray(pads, np.int32))
    dx = call.add(PadFusion(padding_mode=PaddingMode.CONSTANT), "x", [dy, paddings], shape)
    return [dx, *[None] * (len(call.node.inputs) - 1)]


_BORDERS: dict[object, Literal["reflect", "symmetric", "edge", "wrap"]] = {
    PaddingMode.REFLECT: "reflect",
    PaddingMode.SYMMETRIC: "symmetric",
    "edge": "edge",
    "wrap": "wrap",
}
"""Padding modes that copy elements of the tensor -> numpy's names."""


@rule("PadFusion", "PadExtend")
def _pad(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, PadFusion | PadExtend)
    mode = op.padding_mode if isinstance(op, PadFusion) else op.mode
    is_known = mode is PaddingMode.CONSTANT or mode in _BORDERS
    if not is_known or len(call.node.inputs) < 2 or call.node.inputs[1].data is None:
        raise NoGradientError("paddings must be constant")
    pads = call.node.inputs[1].array().astype(np.int64).reshape(-1, 2)
    begin = tuple(int(before) for before in pads[:, 0])
    if min(begin) < 0 or int(pads.min()) < 0:
        raise NoGradientError("negative paddings are not supported")
    others = [None] * (len(call.node.inputs) - 1)
    if mode is PaddingMode.CONSTANT:
        return [call.build.slice(dy, begin, call.shape(0), call.name("x")), *others]
    for axis, (before, after) in enumerate(pads):
        if before or after:
            size = call.shape(0)[axis]
            taken = np.pad(np.arange(size, dtype=np.int32), (int(before), int(after)), _BORDERS[mode])
            dy = summed_at(
                call, dy, axis, call.build.constant(call.name(f"border_{axis}"), taken), size, f"axis_{axis}/"
            )
    return [dy, *others]


@rule("BroadcastTo")
def _broadcast(call: Call, dy: Value) -> Gradients:
    """The gradient of broadcasting is the sum over the copies."""
    shape, whole = call.shape(0), shape_of(dy)
    ones = (1,) * (len(whole) - len(shape)) + shape
    repeated = [axis for axis, size in enumerate(whole) if ones[axis] != size]
    total = call.reduced(ReduceMode.ReduceSum, "sum", dy, repeated) if repeated else dy
    return [call.build.reshaped(total, shape, call.name("x")), *[None] * (len(call.node.inputs) - 1)]


@rule("TileFusion")
def _tile(call: Call, dy: Value) -> Gradients:
    """The gradient of Tile is the sum over the copies: reshapes each repeated dimension to (copies, elements)."""
    shape, whole = call.shape(0), shape_of(dy)
    ones = (1,) * (len(whole) - len(shape)) + shape
    apart: list[int] = []
    copies: list[int] = []
    for all_of, one in zip(whole, ones, strict=True):
        if all_of != one:
            copies.append(len(apart))
            apart.append(all_of // max(one, 1))
        apart.append(one)
    view = call.build.reshaped(dy, tuple(apart), call.name("copies"))
    total = call.reduced(ReduceMode.ReduceSum, "sum", view, copies) if copies else view
    return [call.build.reshaped(total, shape, call.name("x")), *[None] * (len(call.node.inputs) - 1)]


@rule("ReduceFusion")
def _reduce(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, reduction.ReduceFusion)
    shape = call.shape(0)
    if op.mode not in _REDUCTIONS or op.reduce_to_end:
        raise NoGradientError(
            f"the gradient of {op.mode.name} is not supported",
            "Use a sum, a sum of squares, a mean, an L2 norm, a maximum or a minimum",
        )
    axes: tuple[int, ...] = tuple(range(len(shape)))
    if len(call.node.inputs) > 1:
        if call.node.inputs[1].data is None:
            raise NoGradientError("the axes are not constant")
        axes = tuple(int(axis) % len(shape) for axis in call.node.inputs[1].array().reshape(-1))
    kept = tuple(1 if i in axes else size for i, size in enumerate(shape))
    dx = call.build.reshaped(dy, kept, call.name("kept"))
    if op.mode is ReduceMode.ReduceL2:
        return [_of_length(call, dx, kept), *[None] * (len(call.node.inputs) - 1)]
    if op.mode is ReduceMode.ReduceSumSquare:
        two = call.build.constant(call.name("two"), np.float32(2))
        twice = call.product("twice", call.node.inputs[0], two)
        return [call.product("x", twice, dx), *[None] * (len(call.node.inputs) - 1)]
    if op.mode is ReduceMode.ReduceASum:
        sign = call.add(Sign(), "sign", [call.node.inputs[0]], shape)
        return [call.product("x", sign, dx), *[None] * (len(call.node.inputs) - 1)]
    if op.mode in (ReduceMode.ReduceMax, ReduceMode.ReduceMin):
        return [_of_chosen(call, dx, kept, axes), *[None] * (len(call.node.inputs) - 1)]
    factor = 1.0
    if op.mode is ReduceMode.ReduceMean:
        factor /= prod(shape[axis] for axis in axes)
    if factor != 1.0:
        scale = call.build.constant(call.name("factor"), np.float32(factor))
        dx = call.add(arithmetic.MulFusion(), "scaled", [dx, scale], kept)
    return [call.build.broadcast(dx, shape, call.name("x")), *[None] * (len(call.node.inputs) - 1)]


def _of_length(call: Call, dy: Value, kept: Shape) -> Value:
    """dx = dy x / y for an L2 norm, and 0 if the norm is 0, as in other frameworks."""
    y = call.build.reshaped(call.node.output, kept, call.name("y/kept"))
    small = call.build.constant(call.name("small"), np.finfo(np.float32).tiny)
    bounded = call.add(arithmetic.Maximum(), "bounded", [y, small], kept)
    direction = call.add(arithmetic.DivFusion(), "direction", [call.node.inputs[0], bounded], call.shape(0))
    return call.product("x", direction, dy)


@rule("ReduceLogSumExp")
def _log_of_sum(call: Call, dy: Value) -> Gradients:
    """dx = dy exp(x - y)."""
    shape = call.shape(0)
    axes: Sequence[int] = range(len(shape))
    if len(call.node.inputs) > 1:
        if call.node.inputs[1].data is None:
            raise NoGradientError("the axes are not constant")
        axes = [int(axis) % len(shape) for axis in call.node.inputs[1].array().reshape(-1)]
    kept = tuple(1 if i in axes else size for i, size in enumerate(shape))
    y = call.build.reshaped(call.node.output, kept, call.name("y/kept"))
    shares = call.add(ExpFusion(), "shares", [call.difference("below", call.node.inputs[0], y)], shape)
    dx = call.product("x", shares, call.build.reshaped(dy, kept, call.name("kept")))
    return [dx, *[None] * (len(call.node.inputs) - 1)]


def _of_chosen(call: Call, dy: Value, kept: Shape, axes: tuple[int, ...]) -> Value:
    """The gradient of maxima and minima is divided equally between equal elements."""
    x, shape = call.node.inputs[0], call.shape(0)
    y = call.build.reshaped(call.node.output, kept, call.name("y/kept"))
    equal = call.build.node(comparison.Equal(), call.name("equal"), [x, y], shape)
    equal.dtype = DataType.BOOL
    number = call.build.constant(call.name("float"), np.int32(DataType.FLOAT32))
    chosen = call.add(Cast(), "chosen", [equal, number], shape)
    count = call.reduced(ReduceMode.ReduceSum, "count", chosen, axes)
    share = call.add(arithmetic.DivFusion(), "share", [dy, count], kept)
    return call.product("x", chosen, share)

"""Operators that move values and change shapes."""

from __future__ import annotations

import numpy as np

from ..builder import Builder
from ..evaluate import Rejected
from ..values import FLOATS, NUMBERS, TYPES, Value
from .reductions import axes_of, axis_of
from .registry import operator


def regrouped(g: Builder, size: int) -> list[int]:
    """Returns another shape with the same number of elements."""
    if size == 0:
        return [0, g.choose((1, 2, 3))]
    sizes, rest = [], size
    for _ in range(g.integer(0, 4)):
        divisor = g.choose([d for d in range(1, min(rest, 32) + 1) if rest % d == 0])
        sizes.append(divisor)
        rest //= divisor
    return [*sizes, rest] if rest > 1 or g.maybe(3) else sizes


@operator("Reshape")
def reshape(g: Builder, name: str) -> None:
    x = g.pick(TYPES)
    if not x.fixed_shape:
        keep = [axis for axis in range(x.rank) if not x.fixed(axis)]
        if keep != [0]:
            raise Rejected("an inner open axis")
        inner = regrouped(g, int(np.prod(x.shape[1:])))
        g.node(name, x, g.constant([g.choose((0, -1)), *inner], "int64"))
        return
    sizes = regrouped(g, x.size)
    if sizes and x.size and g.maybe():
        sizes[g.integer(0, len(sizes) - 1)] = -1
    for axis in range(min(len(sizes), x.rank)):
        if sizes[axis] == x.shape[axis] and sizes[axis] and g.maybe(4):
            sizes[axis] = 0
    if 0 in sizes and x.size == 0:
        g.node(name, x, g.constant(sizes, "int64"), allowzero=1)
    else:
        g.node(name, x, g.operand_of(sizes))


@operator("Flatten")
def flatten(g: Builder, name: str) -> None:
    x = g.pick(TYPES)
    g.node(name, x, axis=g.choose((None, g.integer(-x.rank, x.rank))))


@operator("Squeeze")
def squeeze(g: Builder, name: str) -> None:
    x = g.pick(TYPES, where=lambda v: 1 in v.shape)
    ones = [axis for axis in range(x.rank) if x.shape[axis] == 1 and x.fixed(axis)]
    axes = [axis - x.rank if g.maybe(3) else axis for axis in g.subset(ones, 1)]
    if x.fixed_shape and g.maybe(3):
        g.node(name, x)
    elif not axes:
        raise Rejected("onnxruntime takes an empty list for all dimensions, the standard for none")
    else:
        g.with_axes(name, x, axes)


@operator("Unsqueeze")
def unsqueeze(g: Builder, name: str) -> None:
    x = g.pick(TYPES, high=4)
    count = g.integer(1, 6 - x.rank if g.maybe(4) else min(2, 5 - x.rank))
    axes = g.permutation(x.rank + count)[:count]
    g.with_axes(name, x, [axis - x.rank - count if g.maybe(3) else axis for axis in axes])


@operator("Transpose")
def transpose(g: Builder, name: str) -> None:
    x = g.pick(TYPES, high=6)
    g.node(name, x, perm=None if x.rank == 0 or g.maybe(5) else g.permutation(x.rank))


@operator("Slice")
def cut(g: Builder, name: str) -> None:
    x = g.pick(TYPES, low=1)
    axes = axes_of(g, x, 1)
    starts, ends, steps = [], [], []
    for axis in axes:
        size = x.shape[axis]
        step = g.choose((1, 1, 1, 2, -1, 3, -2)) if g.opset >= 10 else 1
        first, last = g.integer(-size - 1, size), g.integer(-size - 1, size + 1)
        starts.append(first)
        ends.append(g.choose((last, np.iinfo(np.int64).max if step > 0 else -np.iinfo(np.int64).max)))
        steps.append(step)
    if g.opset < 10:
        g.node(name, x, axes=axes, starts=starts, ends=ends)
        return
    kind = g.choose(("int64", "int32"))
    if kind == "int32":
        ends = [int(np.clip(end, -(2**31) + 1, 2**31 - 1)) for end in ends]
    given = [g.constant(starts, kind), g.constant(ends, kind)]
    if axes != list(range(len(axes))) or any(step != 1 for step in steps) or g.maybe():
        given.append(g.constant(axes, kind))
    if any(step != 1 for step in steps) or (len(given) == 3 and g.maybe()):
        given.append(g.constant(steps, kind))
    result = g.node(name, x, *given)
    if result.size == 0 and not g.maybe(10):
        raise Rejected("nothing is left")


def sliced(g: Builder, x: Value, start: int, end: int) -> Value:
    """Slices the first dimension; the bounds are attributes in old opsets."""
    if g.opset < 10:
        return g.node("Slice", x, starts=[start], ends=[end])
    return g.node("Slice", x, g.constant([start], "int64"), g.constant([end], "int64"))


@operator("Concat")
def concat(g: Builder, name: str) -> None:
    x = g.pick(TYPES, low=1)
    if x.size == 0 and not x.fixed_shape:
        raise Rejected("onnxruntime does not look at the sizes of what is empty")
    axis = g.integer(0, x.rank - 1)
    operands = [x]
    for _ in range(g.integer(0, 3)):
        fits = [
            v
            for v in reversed(g.values)
            if v.dtype == x.dtype
            and v.rank == x.rank
            and all(a == b for i, (a, b) in enumerate(zip(v.shape, x.shape, strict=True)) if i != axis)
        ]
        if g.maybe():
            operands.append(g.choose(fits))
        else:
            operands.append(
                g.operand(x.dtype, [g.choose((1, 2, 3)) if i == axis else n for i, n in enumerate(x.shape)])
            )
    order = g.permutation(len(operands))
    behind = g.opset >= 11 and g.maybe(3)  # in older opsets ONNX infers no shape for a negative axis
    g.node(name, *(operands[i] for i in order), axis=axis - x.rank if behind else axis)


@operator("Split")
def split(g: Builder, name: str) -> None:
    x = g.pick(TYPES, low=1)
    axis = axis_of(g, x)
    size = x.shape[axis]
    if not x.fixed(axis) or size < 1:
        raise Rejected("an open axis")
    count = g.integer(1, min(4, size))
    if g.maybe():
        cuts = sorted(g.integer(0, size) for _ in range(count - 1))
        sizes = [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]
        if g.opset < 13:
            g.nodes_results(name, x, outputs=count, axis=axis, split=sizes)
        else:
            g.nodes_results(name, x, g.constant(sizes, "int64"), outputs=count, axis=axis)
    elif g.opset >= 18:
        g.nodes_results(name, x, outputs=count, axis=axis, num_outputs=count)
    else:
        g.nodes_results(name, x, outputs=count, axis=axis)


def padded(g: Builder, x: Value, pads: list[int], mode: str = "constant") -> Value:
    """The padding is an attribute in old opsets."""
    if g.opset < 11:
        return g.node("Pad", x, pads=pads, mode=mode, value=g.choose((None, 0.5)) if mode == "constant" else None)
    return g.node("Pad", x, g.constant(pads, "int64"), mode=mode)


@operator("Pad")
def pad(g: Builder, name: str) -> None:
    x = g.pick((*NUMBERS, "bool"), low=1)
    modes = ("constant", "reflect", "edge", *(("wrap",) if g.opset >= 19 else ()))
    mode = g.choose(modes)
    some = g.opset >= 18 and g.maybe(3)
    axes = axes_of(g, x, 1) if some else list(range(x.rank))
    low = -1 if g.maybe(6) else 0
    most = [2 if mode in ("constant", "edge") else min(2, x.shape[axis] - 1) for axis in axes]
    pads = [g.integer(low, max(most[i % len(axes)], 0)) if g.maybe() else 0 for i in range(2 * len(axes))]
    if g.opset < 11:
        padded(g, x, pads, mode)
        return
    value = g.constant_values(x.dtype, ()) if mode == "constant" and g.maybe() else None
    extra = [g.constant(axes, "int64")] if some else []
    g.node(name, x, g.constant(pads, "int64"), value, *extra, mode=None if mode == "constant" and g.maybe() else mode)


@operator("Tile")
def tile(g: Builder, name: str) -> None:
    x = g.pick(TYPES, where=lambda v: v.size < 500)
    g.node(name, x, g.constant([g.choose((1, 2, 1, 3)) for _ in range(x.rank)], "int64"))


@operator("Expand")
def expand(g: Builder, name: str) -> None:
    x = g.pick(TYPES, where=lambda v: v.size < 300)
    shape = [g.choose((1, 2, 3)) if size == 1 else g.choose((size, 1)) for size in x.shape]
    if g.maybe(3):
        shape = [g.choose((1, 2, 3)), *shape]
    shape = shape[g.integer(0, len(shape)) :] if g.maybe(4) else shape
    g.node(name, x, g.constant(shape, "int64"))


@operator("DepthToSpace", "SpaceToDepth")
def blocks(g: Builder, name: str) -> None:
    block = g.choose((2, 3, 1))
    n, c, h, w = g.integer(1, 2), g.integer(1, 3), g.integer(1, 4), g.integer(1, 4)
    if name == "DepthToSpace":
        x = (
            g.pick((*FLOATS, "float32"), 4, 4, where=lambda v: v.shape[1] % block**2 == 0)
            if g.maybe()
            else g.input("float32", (n, c * block**2, h, w))
        )
        g.node(name, x, blocksize=block, mode=g.choose((None, "DCR", "CRD")))
    else:
        x = (
            g.pick((*FLOATS, "float32"), 4, 4, where=lambda v: v.shape[2] % block == 0 and v.shape[3] % block == 0)
            if g.maybe()
            else g.input("float32", (n, c, h * block, w * block))
        )
        g.node(name, x, blocksize=block)


@operator("ReverseSequence")
def reverse(g: Builder, name: str) -> None:
    x = g.pick(("float32", "int32", "int64", "float16"), low=2)
    time, batch = g.choose(((0, 1), (1, 0)))
    if not x.fixed(time) or not x.fixed(batch) or x.size == 0:
        raise Rejected("an open axis")
    lengths = g.operand("int64", (x.shape[batch],), 1, x.shape[time])
    g.node(name, x, lengths, time_axis=time, batch_axis=batch)


@operator("ConstantOfShape")
def filled(g: Builder, name: str) -> None:
    from onnx import numpy_helper

    dtype = g.choose(TYPES)
    value = numpy_helper.from_array(g.data(dtype, (1,)), "value") if g.maybe() else None
    shapes: Value = g.constant(g.shape(), "int64")
    if g.maybe():
        shapes = g.node("Shape", g.pick(TYPES))
    g.node(name, shapes, value=value)


@operator("EyeLike")
def eye(g: Builder, name: str) -> None:
    from .elementwise import np_element

    x = g.pick(NUMBERS, 2, 2)
    target = g.choose((None, "float32", "int64", "int32", "float64"))
    g.node(name, x, k=g.choose((None, 0, 1, -1)), dtype=np_element(target) if target else None)

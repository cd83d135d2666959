"""Reshape, transpose, and rearrangements of channels."""

from __future__ import annotations

from math import prod

from mslite.converter.mindir.ops.rearrange import Reshape, Transpose

from .call import Blob, Call
from .registry import caffe_layer


@caffe_layer("Flatten")
def flatten(call: Call) -> Blob:
    """Converts Flatten: merges the dimensions `axis` to `end_axis`."""
    x, given = call.bottom(), call.parameter("flatten")
    start, end = call.axis(given.axis, x.rank), call.axis(given.end_axis, x.rank, "end_axis")
    if start > end:
        raise call.block(f"axis {start} is after end_axis {end}", attribute="axis")
    shape = (*x.shape[:start], prod(x.shape[start : end + 1]), *x.shape[end + 1 :])
    if end == x.rank - 1:
        return Blob(call.reshape(x.value, x.shape, shape), shape)
    if shape == x.shape:
        return x
    target = [0] * start + [-1] + list(x.shape[end + 1 :])
    return Blob(call.emit(Reshape(), x.value, call.ints(target)), shape)


@caffe_layer("Reshape")
def reshape(call: Call) -> Blob:
    """Converts Reshape: replaces `num_axes` (-1: all) dimensions from `axis` on by `shape`; 0 keeps a size, -1 is
    inferred."""
    x, given = call.bottom(), call.parameter("reshape")
    wanted = list(given.shape.dim)
    start = given.axis if given.axis >= 0 else x.rank + given.axis + 1
    count = x.rank - start if given.num_axes == -1 else given.num_axes
    if not 0 <= start <= x.rank or count < 0 or start + count > x.rank:
        raise call.block(
            f"{given.num_axes} axes from {given.axis} on are out of range for {x.rank} dimensions", attribute="axis"
        )
    if any(dim < -1 for dim in wanted) or wanted.count(-1) > 1:
        raise call.block(f"{wanted} is not a shape", attribute="shape")
    sizes = []
    for index, dim in enumerate(wanted):
        if dim == 0 and start + index >= x.rank:
            raise call.block(f"dimension {index} is copied, but does not exist in the bottom blob", attribute="shape")
        sizes.append(x.shape[start + index] if dim == 0 else dim)
    total, known = prod(x.shape[start : start + count]), prod(dim for dim in sizes if dim != -1)
    if -1 in sizes:
        if known < 1 or total % known:
            raise call.block(f"{total} elements do not match the shape {wanted}", attribute="shape")
        sizes[sizes.index(-1)] = total // known
    elif known != total:
        raise call.block(f"{total} elements do not match the shape {wanted}", attribute="shape")
    shape = (*x.shape[:start], *sizes, *x.shape[start + count :])
    if not shape:
        raise call.block("the result would have no dimensions", attribute="shape")
    written = [0] * start + wanted + list(x.shape[start + count :])  # zeros copy sizes by position, as in MindIR
    return Blob(call.emit(Reshape(), x.value, call.ints(written)), shape)


@caffe_layer("Permute")
def permute(call: Call) -> Blob:
    """Converts Permute: the dimensions in the given order, followed by the others."""
    x, order = call.bottom(), list(call.parameter("permute").order)
    if len(set(order)) != len(order) or any(axis >= x.rank for axis in order):
        raise call.block(f"{order} is not a permutation of {x.rank} dimensions", attribute="order")
    order += [axis for axis in range(x.rank) if axis not in order]
    return Blob(call.emit(Transpose(), x.value, call.ints(order)), tuple(x.shape[axis] for axis in order))


@caffe_layer("ShuffleChannel")
def shuffle_channel(call: Call) -> Blob:
    """Converts ShuffleChannel: transposes the channels [group, channels / group]."""
    x, group = call.bottom(), call.parameter("shuffle_channel").group
    call.require_rank(x, 4)
    _, c, h, w = x.shape
    if group < 1 or c % group:
        raise call.block(f"{group} groups do not divide {c} channels", attribute="group")
    parts = call.emit(Reshape(), x.value, call.ints((0, group, c // group, h, w)))
    turned = call.emit(Transpose(), parts, call.ints((0, 2, 1, 3, 4)))
    return Blob(call.emit(Reshape(), turned, call.ints((0, c, h, w))), x.shape)


@caffe_layer("Reorg")
def reorg(call: Call) -> Blob:
    """Converts Reorg of Darknet: the image is reshaped to [C / s^2, H * s, W * s], then blocks of s x s become
    channels."""
    x, given = call.bottom(), call.parameter("reorg")
    call.require_rank(x, 4)
    (n, c, h, w), s = x.shape, given.stride
    if s < 1 or c % (s * s) or (not given.reverse and (h % s or w % s)):
        raise call.block(f"a stride of {s} does not divide {c} channels of {h} x {w}", attribute="stride")
    inner = c // (s * s)
    if given.reverse:
        shape, parts, perm = (n, inner, h * s, w * s), (0, s, s, inner, h, w), (0, 3, 4, 1, 5, 2)
    else:
        shape, parts, perm = (n, c * s * s, h // s, w // s), (0, inner, h, s, w, s), (0, 3, 5, 1, 2, 4)
    turned = call.emit(Transpose(), call.emit(Reshape(), x.value, call.ints(parts)), call.ints(perm))
    return Blob(call.emit(Reshape(), turned, call.ints((0, *shape[1:]))), shape)

"""Maxima put back where they came from (SegNet): the mask of a MAX pooling, and Upsample with it.

Caffe's mask holds the index of each window's first maximum. For windows that touch and do not overlap, a plane of ones at
these maxima and zeros elsewhere says the same; it is computed by comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import MulFusion
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.comparison import Equal
from mslite.converter.mindir.ops.enums import DataType, PaddingMode, ResizeMethod

from .call import Blob, Call, Mask
from .pool_windows import PoolWindow, pool_image
from .registry import caffe_layer
from .resize import resized

_LOWEST = -3.0e38
_MAX_WINDOW = 64


def max_pool_with_mask(call: Call, x: Blob, window: PoolWindow) -> list[Blob]:
    """The maxima and their mask."""
    if window.kernel != window.stride or any(window.pad) or max(window.kernel) > _MAX_WINDOW:
        raise call.block(
            "the mask of the maxima (second top) is only supported for windows that touch, without padding",
            "Use kernel_size = stride and pad = 0, or take the mask out",
        )
    call.scope.reads_sizes = True
    sizes = window.output(call, x.shape[2:])
    whole = [count * size for count, size in zip(sizes, window.kernel, strict=True)]
    value = _fitted(call, x.value, x.shape[2:], whole, _LOWEST)
    even = PoolWindow(window.kernel, window.stride, (0, 0), False)
    maxima = pool_image(call, value, even, "MAX")
    largest = _marked(call, value, maxima, whole)
    # Among equal elements the first of a window counts.
    rows, columns = window.kernel
    order = np.arange(rows * columns, 0, -1, dtype=np.float32).reshape(rows, columns)
    plane = np.tile(order, sizes)[None, None]
    ranked = call.emit(MulFusion(), largest, call.const(plane))
    first = _marked(call, ranked, pool_image(call, ranked, even, "MAX"), whole)
    shape = (*x.shape[:2], *sizes)
    return [Blob(maxima, shape), Blob(first, shape, Mask(x.shape, window.kernel))]


def _fitted(call: Call, value: Value, have: Sequence[int], wanted: Sequence[int], fill: float) -> Value:
    """An image of height and width `have` cut or filled up, below and on the right, to `wanted`."""
    kept = tuple(map(min, have, wanted))
    if kept != tuple(have):
        value = call.emit(StridedSlice(), value, *(call.ints(part) for part in ((0, 0), kept, (2, 3), (1, 1))))
    if kept != tuple(wanted):
        rows = ((0, 0), (0, 0), (0, wanted[0] - kept[0]), (0, wanted[1] - kept[1]))
        value = call.emit(PadFusion(padding_mode=PaddingMode.CONSTANT, constant_value=fill), value, call.ints(rows))
    return value


def _marked(call: Call, value: Value, maxima: Value, whole: list[int]) -> Value:
    """1 where the value is the maximum of its window, else 0."""
    spread = resized(call, maxima, whole[0], whole[1], ResizeMethod.NEAREST)
    return call.cast(call.emit(Equal(), value, spread), DataType.FLOAT32)


def _unpooled(call: Call, x: Blob, mask: Blob, sizes: tuple[int, int]) -> Blob:
    """x at the places of the mask, zeros elsewhere."""
    origin = mask.mask
    if origin is None:
        raise call.block("the second bottom is not the mask of a MAX pooling", "Upsample with such a mask, or without")
    if mask.shape != x.shape or sizes != origin.source[2:]:
        raise call.block(
            f"the mask of {list(origin.source)} does not fit {list(x.shape)} and a result of {list(sizes)}"
        )
    whole = [count * size for count, size in zip(x.shape[2:], origin.window, strict=True)]
    y = call.emit(MulFusion(), resized(call, x.value, whole[0], whole[1], ResizeMethod.NEAREST), mask.value)
    return Blob(_fitted(call, y, whole, sizes, 0.0), (*x.shape[:2], *sizes))


@caffe_layer("Upsample")
def upsample(call: Call) -> Blob:
    """Every pixel becomes a block of equal ones; with a mask, its value goes to where the maximum was."""
    x, given = call.bottom(), call.parameter("upsample")
    call.require_rank(x, 4)
    height, width = x.shape[2:]
    sizes = (height * (given.scale_h or given.scale), width * (given.scale_w or given.scale))
    sizes = (sizes[0] - int(given.pad_out_h), sizes[1] - int(given.pad_out_w))
    if given.HasField("upsample_h") or given.HasField("upsample_w"):
        sizes = (given.upsample_h, given.upsample_w)
    if len(call.bottoms) > 1:
        return _unpooled(call, x, call.bottom(1), sizes)
    if sizes[0] % height or sizes[1] % width:
        raise call.block(f"{height} x {width} does not divide {sizes[0]} x {sizes[1]}", "Upsample with a mask")
    return Blob(resized(call, x.value, *sizes, ResizeMethod.NEAREST), (*x.shape[:2], *sizes))

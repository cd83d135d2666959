"""Unpooling (SegNet): the mask of a MAX pooling, and Upsample with this mask.

Caffe's mask has the index of the first maximum of each window. For adjacent windows without overlap, an image of ones
at these maxima and zeros elsewhere is equivalent; it is computed with comparisons.
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
    """Returns the maxima and their mask. Raises Blocked."""
    if window.kernel != window.stride or any(window.pad) or max(window.kernel) > _MAX_WINDOW:
        raise call.block(
            "the mask of the maxima (second top blob) is only supported for adjacent windows without padding",
            "Use kernel_size = stride and pad = 0, or remove the mask",
        )
    call.scope.depends_on_input_sizes = True
    sizes = window.output(call, x.shape[2:])
    whole = [count * size for count, size in zip(sizes, window.kernel, strict=True)]
    value = _fitted(call, x.value, x.shape[2:], whole, _LOWEST)
    even = PoolWindow(window.kernel, window.stride, (0, 0), False)
    maxima = pool_image(call, value, even, "MAX")
    largest = _marked(call, value, maxima, whole)
    # Of equal elements in a window, only the first one is marked.
    rows, columns = window.kernel
    order = np.arange(rows * columns, 0, -1, dtype=np.float32).reshape(rows, columns)
    plane = np.tile(order, sizes)[None, None]
    ranked = call.emit(MulFusion(), largest, call.const(plane))
    first = _marked(call, ranked, pool_image(call, ranked, even, "MAX"), whole)
    shape = (*x.shape[:2], *sizes)
    return [Blob(maxima, shape), Blob(first, shape, Mask(x.shape, window.kernel))]


def _fitted(call: Call, value: Value, have: Sequence[int], wanted: Sequence[int], fill: float) -> Value:
    """Crops or pads an image of height and width `have`, at the bottom and on the right, to `wanted`."""
    kept = tuple(map(min, have, wanted))
    if kept != tuple(have):
        value = call.emit(StridedSlice(), value, *(call.ints(part) for part in ((0, 0), kept, (2, 3), (1, 1))))
    if kept != tuple(wanted):
        rows = ((0, 0), (0, 0), (0, wanted[0] - kept[0]), (0, wanted[1] - kept[1]))
        value = call.emit(PadFusion(padding_mode=PaddingMode.CONSTANT, constant_value=fill), value, call.ints(rows))
    return value


def _marked(call: Call, value: Value, maxima: Value, whole: list[int]) -> Value:
    """Returns 1 for elements that are the maximum of their window, else 0."""
    spread = resized(call, maxima, whole[0], whole[1], ResizeMethod.NEAREST)
    return call.cast(call.emit(Equal(), value, spread), DataType.FLOAT32)


def _unpooled(call: Call, x: Blob, mask: Blob, sizes: tuple[int, int]) -> Blob:
    """Returns x at the positions of the mask, else zeros. Raises Blocked."""
    origin = mask.mask
    if origin is None:
        raise call.block(
            "the second bottom blob is not the mask of a MAX pooling",
            "Use Upsample with such a mask, or without a mask",
        )
    if mask.shape != x.shape or sizes != origin.source[2:]:
        raise call.block(
            f"the mask of a blob {list(origin.source)} does not match {list(x.shape)} and a result of {list(sizes)}"
        )
    whole = [count * size for count, size in zip(x.shape[2:], origin.window, strict=True)]
    y = call.emit(MulFusion(), resized(call, x.value, whole[0], whole[1], ResizeMethod.NEAREST), mask.value)
    return Blob(_fitted(call, y, whole, sizes, 0.0), (*x.shape[:2], *sizes))


@caffe_layer("Upsample")
def upsample(call: Call) -> Blob:
    """Converts Upsample: repeats each pixel in a block; with a mask, writes it to the position of the maximum."""
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
        raise call.block(
            f"the result {sizes[0]} x {sizes[1]} is not a multiple of {height} x {width}", "Use Upsample with a mask"
        )
    return Blob(resized(call, x.value, *sizes, ResizeMethod.NEAREST), (*x.shape[:2], *sizes))

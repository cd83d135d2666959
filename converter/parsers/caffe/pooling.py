"""Pooling, spatial pyramid pooling, ROI pooling."""

from __future__ import annotations

from math import prod

from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion, ROIPooling

from .assembly import join
from .call import Blob, Call
from .pool_windows import MAX_SIZE, PoolWindow, pool_image, read_pool_window
from .registry import caffe_layer
from .unpooling import max_pool_with_mask

_MAX_PYRAMID = 10


@caffe_layer("Pooling")
def pooling(call: Call) -> list[Blob]:
    x, given = call.bottom(), call.parameter("pooling")
    call.require_rank(x, 4)
    method = call.choice(given, "pool")
    if method == "STOCHASTIC":
        raise call.block("stochastic pooling is unsupported", "Use MAX or AVE", "pool")
    if given.global_pooling:
        kind = MaxPoolFusion if method == "MAX" else AvgPoolFusion
        return [Blob(call.emit(kind(format=Format.NCHW, global_=True), x.value), (*x.shape[:2], 1, 1))]
    window = read_pool_window(call, given)
    if call.top_count > 1 and method == "MAX":
        return max_pool_with_mask(call, x, window)
    return [_pool(call, x, window, method)]


def _pool(call: Call, x: Blob, window: PoolWindow, method: str) -> Blob:
    sizes = window.output(call, x.shape[2:])
    # A window that is larger than the padded image is cropped; there is only one.
    kernel = tuple(min(k, size + 2 * p) for k, size, p in zip(window.kernel, x.shape[2:], window.pad, strict=True))
    call.scope.depends_on_input_sizes |= kernel != window.kernel
    y = pool_image(call, x.value, PoolWindow(kernel, window.stride, window.pad, window.ceiling), method)  # type: ignore[arg-type]
    return Blob(y, (*x.shape[:2], *sizes))


@caffe_layer("SPP")
def spatial_pyramid(call: Call) -> Blob:
    """Converts SPP: pooling to 1, 2, 4, ... bins in each direction, flattened and concatenated."""
    x, given = call.bottom(), call.parameter("spp")
    call.require_rank(x, 4)
    method, height = call.choice(given, "pool"), given.pyramid_height
    if not 1 <= height <= _MAX_PYRAMID or method == "STOCHASTIC":
        raise call.block(f"{height} levels of {method} pooling are unsupported", attribute="pyramid_height")
    n, c = x.shape[:2]
    levels, total = [], 0
    for level in range(height):
        bins = 1 << level
        kernel = tuple(-(-size // bins) for size in x.shape[2:])
        pad = tuple((k * bins - size + 1) // 2 for k, size in zip(kernel, x.shape[2:], strict=True))
        pooled = _pool(call, x, PoolWindow(kernel, kernel, pad, True), method)  # type: ignore[arg-type]
        features = c * pooled.shape[2] * pooled.shape[3]
        levels.append(call.reshape(pooled.value, pooled.shape, (n, features)))
        total += features
    return Blob(join(call, levels, 1), (n, total))


@caffe_layer("ROIPooling")
def roi_pooling(call: Call) -> Blob:
    """Converts ROIPooling: the maximum in each bin of each region. Regions are rows (image, x1, y1, x2, y2)."""
    x, rois, given = call.bottom(0), call.bottom(1), call.parameter("roi_pooling")
    call.require_rank(x, 4)
    if rois.shape[-1] != 5 and not (rois.rank == 4 and rois.shape[1:] == (5, 1, 1)):
        raise call.block(f"the regions have the shape {list(rois.shape)} instead of [regions, 5]")
    if not (1 <= given.pooled_h <= MAX_SIZE and 1 <= given.pooled_w <= MAX_SIZE):
        raise call.block(f"{given.pooled_h} x {given.pooled_w} bins are not valid", attribute="pooled_h")
    count = prod(rois.shape) // 5
    rows = call.reshape(rois.value, rois.shape, (count, 5))
    op = ROIPooling(pooled_h=given.pooled_h, pooled_w=given.pooled_w, scale=given.spatial_scale)
    return Blob(call.emit(op, x.value, rows), (count, x.shape[1], given.pooled_h, given.pooled_w))

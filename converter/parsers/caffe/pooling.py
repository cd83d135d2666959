"""Pooling and the spatial pyramid."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import Format, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolExtended, AvgPoolFusion, MaxPoolFusion, ROIPooling
from mslite.converter.parsers.protobuf import Message

from .assembly import join
from .call import Blob, Call
from .registry import caffe_layer

_MAX_SIZE = 1 << 24
_MAX_PYRAMID = 10


@dataclass(frozen=True)
class PoolWindow:
    """All lists are [height, width]."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    pad: tuple[int, int]
    ceiling: bool

    def output(self, call: Call, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Caffe's sizes: the last window has to begin inside the image or the padding before it."""
        result = []
        for size, k, s, p in zip(sizes, self.kernel, self.stride, self.pad, strict=True):
            if p >= k:
                raise call.block(f"the padding {p} is not smaller than the window {k}")
            room = size + 2 * p - k
            count = (-(-room // s) if self.ceiling else room // s) + 1
            if p and (count - 1) * s >= size + p:
                count -= 1
            if count < 1 or (count - 1) * s - p >= size:
                raise call.block(f"windows of size {k} and stride {s} lie beyond a size of {size}")
            result.append(count)
        return tuple(result)


def _pair(given: Message, name: str, single: str, default: int) -> tuple[int, int]:
    if given.HasField(f"{name}_h") or given.HasField(f"{name}_w"):
        return getattr(given, f"{name}_h"), getattr(given, f"{name}_w")
    value: int = getattr(given, single)
    return (value or default,) * 2 if not given.HasField(single) else (value,) * 2


def _read_window(call: Call, given: Message) -> PoolWindow:
    kernel, stride = _pair(given, "kernel", "kernel_size", 0), _pair(given, "stride", "stride", 1)
    pad = _pair(given, "pad", "pad", 0)
    for name, values, least in (("kernel_size", kernel, 1), ("stride", stride, 1), ("pad", pad, 0)):
        if any(not least <= value <= _MAX_SIZE for value in values):
            raise call.block(f"{list(values)} is out of range", attribute=name)
    floor = call.choice(given, "round_mode") == "FLOOR" or not given.ceil_mode
    return PoolWindow(kernel, stride, pad, not floor)


@caffe_layer("Pooling")
def pooling(call: Call) -> list[Blob]:
    x, given = call.bottom(), call.parameter("pooling")
    call.require_rank(x, 4)
    method = call.choice(given, "pool")
    if method == "STOCHASTIC":
        raise call.block("stochastic pooling is not supported", "Use MAX or AVE", "pool")
    if call.top_count > 1:
        raise call.block("the second top, the mask of the maxima, is not supported", "Upsample without a mask")
    if given.global_pooling:
        kind = MaxPoolFusion if method == "MAX" else AvgPoolFusion
        return [Blob(call.emit(kind(format=Format.NCHW, global_=True), x.value), (*x.shape[:2], 1, 1))]
    window = _read_window(call, given)
    return [_pool(call, x, window, method)]


def _pool(call: Call, x: Blob, window: PoolWindow, method: str) -> Blob:
    sizes = window.output(call, x.shape[2:])
    # A window larger than the padded image is cut at its end, and there is only one.
    kernel = tuple(min(k, size + 2 * p) for k, size, p in zip(window.kernel, x.shape[2:], window.pad, strict=True))
    y = pool_image(call, x.value, PoolWindow(kernel, window.stride, window.pad, window.ceiling), method)  # type: ignore[arg-type]
    return Blob(y, (*x.shape[:2], *sizes))


def pool_image(call: Call, x: Value, window: PoolWindow, method: str) -> Value:
    """The average divides by the part of the window inside image and padding."""
    pads = (window.pad[0], window.pad[0], window.pad[1], window.pad[1])
    rounding = RoundMode.CEIL if window.ceiling else RoundMode.FLOOR
    if method == "AVE" and any(window.pad):
        extended = AvgPoolExtended(
            format=Format.NCHW,
            kernel_size=window.kernel,
            strides=window.stride,
            dilation=(1, 1),
            pad=pads,
            round_mode=rounding,
            count_include_pad=True,
        )
        return call.emit(extended, x)
    kind = MaxPoolFusion if method == "MAX" else AvgPoolFusion
    op = kind(format=Format.NCHW, kernel_size=window.kernel, strides=window.stride, pad=pads, round_mode=rounding)
    return call.emit(op, x)


@caffe_layer("SPP")
def spatial_pyramid(call: Call) -> Blob:
    """Poolings into 1, 2, 4, ... bins per direction, flattened and joined."""
    x, given = call.bottom(), call.parameter("spp")
    call.require_rank(x, 4)
    method, height = call.choice(given, "pool"), given.pyramid_height
    if not 1 <= height <= _MAX_PYRAMID or method == "STOCHASTIC":
        raise call.block(f"{height} levels of {method} pooling are not supported", attribute="pyramid_height")
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
    """The maximum in each bin of each region; regions are rows (image, x1, y1, x2, y2)."""
    x, rois, given = call.bottom(0), call.bottom(1), call.parameter("roi_pooling")
    call.require_rank(x, 4)
    if rois.shape[-1] != 5 and not (rois.rank == 4 and rois.shape[1:] == (5, 1, 1)):
        raise call.block(f"the regions have the shape {list(rois.shape)}, not [regions, 5]")
    if not (1 <= given.pooled_h <= _MAX_SIZE and 1 <= given.pooled_w <= _MAX_SIZE):
        raise call.block(f"{given.pooled_h} x {given.pooled_w} bins are not possible", attribute="pooled_h")
    count = prod(rois.shape) // 5
    rows = call.reshape(rois.value, rois.shape, (count, 5))
    op = ROIPooling(pooled_h=given.pooled_h, pooled_w=given.pooled_w, scale=given.spatial_scale)
    return Blob(call.emit(op, x.value, rows), (count, x.shape[1], given.pooled_h, given.pooled_w))

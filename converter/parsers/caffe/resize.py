"""Resampling of images."""

from __future__ import annotations

from mslite.converter.mindir.ops.assembly import StridedSlice
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, Format, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.resize import Resize

from .call import MAX_DIMENSION, Blob, Call
from .registry import caffe_layer


def _resized(call: Call, x: Blob, height: int, width: int, method: ResizeMethod) -> Blob:
    if not (1 <= height <= MAX_DIMENSION and 1 <= width <= MAX_DIMENSION):
        raise call.block(f"a result of {height} x {width} is not possible")
    linear = method is ResizeMethod.LINEAR
    op = Resize(
        format=Format.NCHW,
        method=method,
        new_height=height,
        new_width=width,
        coordinate_transform_mode=(
            CoordinateTransformMode.ALIGN_CORNERS if linear else CoordinateTransformMode.ASYMMETRIC
        ),
        nearest_mode=NearestMode.NORMAL if linear else NearestMode.FLOOR,
    )
    return Blob(call.emit(op, x.value), (*x.shape[:2], height, width))


@caffe_layer("Upsample")
def upsample(call: Call) -> Blob:
    """Every pixel becomes a block of equal ones."""
    x, given = call.bottom(), call.parameter("upsample")
    call.require_rank(x, 4)
    if len(call.bottoms) > 1:
        raise call.block("the second bottom, a mask of maxima, is not supported", "Upsample without a mask")
    height, width = x.shape[2:]
    if given.HasField("upsample_h") or given.HasField("upsample_w"):
        sizes = (given.upsample_h, given.upsample_w)
        if sizes[0] % height or sizes[1] % width:
            raise call.block(f"{height} x {width} does not divide {sizes[0]} x {sizes[1]}", attribute="upsample_h")
        return _resized(call, x, *sizes, ResizeMethod.NEAREST)
    scale_h, scale_w = given.scale_h or given.scale, given.scale_w or given.scale
    return _resized(call, x, height * scale_h, width * scale_w, ResizeMethod.NEAREST)


@caffe_layer("Interp")
def interpolate(call: Call) -> Blob:
    """Linear, corners on corners; the size follows from factors, numbers, or the second bottom."""
    x, given = call.bottom(), call.parameter("interp")
    call.require_rank(x, 4)
    if given.pad_beg > 0 or given.pad_end > 0:
        raise call.block("only negative paddings, which crop, are defined", attribute="pad_beg")
    cropped = _cropped(call, x, -given.pad_beg, -given.pad_end)
    height, width = cropped.shape[2:]
    shrink, zoom = given.shrink_factor, given.zoom_factor
    if shrink < 1 or zoom < 1:
        raise call.block(f"the factors {shrink} and {zoom} must be positive", attribute="zoom_factor")
    if len(call.bottoms) > 1:
        reference = call.bottom(1)
        call.require_rank(reference, 4)
        height, width = reference.shape[2:]
    elif given.HasField("height") or given.HasField("width"):
        height, width = given.height, given.width
    else:
        height, width = ((size - 1) // shrink + 1 for size in (height, width))
        height, width = (size + (size - 1) * (zoom - 1) for size in (height, width))
    return _resized(call, cropped, height, width, ResizeMethod.LINEAR)


def _cropped(call: Call, x: Blob, begin: int, end: int) -> Blob:
    if begin == end == 0:
        return x
    height, width = (size - begin - end for size in x.shape[2:])
    if height < 1 or width < 1:
        raise call.block(
            f"cropping {begin} and {end} leaves nothing of {x.shape[2]} x {x.shape[3]}", attribute="pad_beg"
        )
    bounds = ((begin, begin), (begin + height, begin + width), (2, 3), (1, 1))
    y = call.emit(StridedSlice(), x.value, *(call.ints(bound) for bound in bounds))
    return Blob(y, (*x.shape[:2], height, width))

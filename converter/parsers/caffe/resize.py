"""Resize of images."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import StridedSlice
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, Format, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.resize import Resize

from .call import MAX_DIMENSION, Blob, Call
from .registry import caffe_layer


def resized(call: Call, x: Value, height: int, width: int, method: ResizeMethod) -> Value:
    """Emits a resize: NEAREST repeats pixels, LINEAR aligns the corners."""
    if not (1 <= height <= MAX_DIMENSION and 1 <= width <= MAX_DIMENSION):
        raise call.block(f"a result of {height} x {width} is not valid")
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
    return call.emit(op, x)


@caffe_layer("Interp")
def interpolate(call: Call) -> Blob:
    """Converts Interp: linear, with aligned corners; the size is given by factors, numbers, or the second bottom
    blob."""
    x, given = call.bottom(), call.parameter("interp")
    call.require_rank(x, 4)
    if given.pad_beg > 0 or given.pad_end > 0:
        raise call.block("only negative padding, which crops, is supported", attribute="pad_beg")
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
    y = resized(call, cropped.value, height, width, ResizeMethod.LINEAR)
    return Blob(y, (*x.shape[:2], height, width))


def _cropped(call: Call, x: Blob, begin: int, end: int) -> Blob:
    if begin == end == 0:
        return x
    height, width = (size - begin - end for size in x.shape[2:])
    if height < 1 or width < 1:
        raise call.block(
            f"a crop by {begin} and {end} removes the whole image {x.shape[2]} x {x.shape[3]}", attribute="pad_beg"
        )
    bounds = ((begin, begin), (begin + height, begin + width), (2, 3), (1, 1))
    y = call.emit(StridedSlice(), x.value, *(call.ints(bound) for bound in bounds))
    return Blob(y, (*x.shape[:2], height, width))

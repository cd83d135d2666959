"""Resize of images."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, Format, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.resize import Resize

from .call import Call
from .registry import tflite_operator


@tflite_operator("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(call: Call) -> Value:
    """Converts resizes. Nearest reads floor(i * scale); with align_corners round(i * scale); with half_pixel
    floor((i + 1/2) * scale), which is the half-pixel coordinate rounded half up."""
    align, half = bool(call.options.integer("align_corners")), bool(call.options.integer("half_pixel"))
    if align and half:
        raise call.block("align_corners and half_pixel_centers are mutually exclusive", attribute="align_corners")
    mode = CoordinateTransformMode.ASYMMETRIC
    if align or half:
        mode = CoordinateTransformMode.ALIGN_CORNERS if align else CoordinateTransformMode.HALF_PIXEL
    nearest = call.node.name == "RESIZE_NEAREST_NEIGHBOR"
    size = call.constant(1)
    if size is not None and size.size != 2:
        raise call.block(f"the size has {size.size} numbers, not 2")
    op = Resize(
        format=Format.NHWC,
        method=ResizeMethod.NEAREST if nearest else ResizeMethod.LINEAR,
        new_height=0 if size is None else int(size.ravel()[0]),
        new_width=0 if size is None else int(size.ravel()[1]),
        coordinate_transform_mode=mode,
        nearest_mode=(NearestMode.ROUND_HALF_UP if align or half else NearestMode.FLOOR)
        if nearest
        else NearestMode.NORMAL,
        cubic_coeff=-0.5 if half else -0.75,
    )
    return call.emit(op, call.input(0)) if size is not None else call.emit(op, call.input(0), call.int32(1))

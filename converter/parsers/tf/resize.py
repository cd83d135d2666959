"""Resampling of images."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import resize as ops
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, Format, NearestMode, ResizeMethod

from .call import Call
from .registry import tf_operator

_METHODS = {
    "ResizeBicubic": ResizeMethod.CUBIC,
    "ResizeBilinear": ResizeMethod.LINEAR,
    "ResizeNearestNeighbor": ResizeMethod.NEAREST,
}


@tf_operator(*_METHODS)
def resize(call: Call) -> Value:
    """Nearest: floor(i * scale); with align_corners round(i * scale); with half_pixel_centers floor((i + 1/2) * scale),
    which is the half-pixel coordinate rounded half up. Cubic with half_pixel_centers leaves out what lies outside."""
    x = call.input(0)
    align, half = call.flag("align_corners"), call.flag("half_pixel_centers")
    if align and half:
        raise call.block("align_corners and half_pixel_centers exclude each other", attribute="align_corners")
    mode = CoordinateTransformMode.ASYMMETRIC
    if align or half:
        mode = CoordinateTransformMode.ALIGN_CORNERS if align else CoordinateTransformMode.HALF_PIXEL
    method = _METHODS[call.operator]
    if method is not ResizeMethod.NEAREST:
        x = call.as_type(x, DataType.FLOAT32)
    size = call.known_integers(1)
    if size is not None and (len(size) != 2 or not all(1 <= length < 2**31 for length in size)):
        raise call.block(f"the size {list(size)} is not two positive numbers")
    nearest = NearestMode.ROUND_HALF_UP if align or half else NearestMode.FLOOR
    op = ops.Resize(
        format=Format.NHWC,
        method=method,
        new_height=0 if size is None else size[0],
        new_width=0 if size is None else size[1],
        coordinate_transform_mode=mode,
        nearest_mode=nearest if method is ResizeMethod.NEAREST else NearestMode.NORMAL,
        cubic_coeff=-0.5 if half else -0.75,
        exclude_outside=int(half and method is ResizeMethod.CUBIC),
    )
    return call.spatial(op, x) if size is not None else call.spatial(op, x, call.int32(1))


@tf_operator("CropAndResize")
def crop_and_resize(call: Call) -> Value:
    """Inputs images (NHWC), boxes, box_indices, size."""
    methods = {"bilinear": ResizeMethod.LINEAR, "nearest": ResizeMethod.NEAREST}
    text = call.text("method", "bilinear")
    if text not in methods:
        raise call.block(f"the method '{text}' is unknown", attribute="method")
    op = ops.CropAndResize(method=methods[text], extrapolation_value=call.real("extrapolation_value"))
    image = call.as_type(call.input(0), DataType.FLOAT32)
    return call.emit(op, image, call.input(1), call.int32(2), call.int32(3))

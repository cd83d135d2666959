"""Resize of images."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import CoordinateTransformMode, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.resize import Resize

from .call import Call
from .registry import writes

_ALIGNED, _HALF = CoordinateTransformMode.ALIGN_CORNERS, CoordinateTransformMode.HALF_PIXEL
_NAMES = {ResizeMethod.LINEAR: "RESIZE_BILINEAR", ResizeMethod.NEAREST: "RESIZE_NEAREST_NEIGHBOR"}


@writes("Resize")
def resize(call: Call) -> None:
    op = call.op
    assert isinstance(op, Resize)
    call.require_equal_quant_params()
    name, mode = _NAMES.get(op.method), op.coordinate_transform_mode
    if name is None or mode not in (CoordinateTransformMode.ASYMMETRIC, _ALIGNED, _HALF):
        raise call.refuse("TensorFlow Lite does not support its interpolation")
    rounding = NearestMode.FLOOR if mode is CoordinateTransformMode.ASYMMETRIC else NearestMode.ROUND_HALF_UP
    if op.method is ResizeMethod.NEAREST and op.nearest_mode is not rounding:
        raise call.refuse("TensorFlow Lite rounds coordinates differently")
    size = call.constant("size", call.output_shape[1:3])
    call.emit(name, [call.input(), size], align_corners=mode is _ALIGNED, half_pixel=mode is _HALF)

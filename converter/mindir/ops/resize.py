"""Resampling of images."""

from __future__ import annotations

from ._declare import Operator, boolean, enum, long, operator, real
from .enums import CoordinateTransformMode, Format, NearestMode, ResizeMethod


@operator(
    120,
    inputs="x [size]",
    layout="nhwc",
    tflite="RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR",
    onnx="Resize Upsample",
    tensorflow="ResizeBilinear ResizeNearestNeighbor ResizeBicubic",
    caffe="Interp Upsample",
)
class Resize(Operator):
    """Resamples height and width."""

    format: Format = enum(0, Format.NCHW)
    method: ResizeMethod = enum(1, ResizeMethod.LINEAR)
    new_height: int = long(2)
    new_width: int = long(3)
    preserve_aspect_ratio: bool = boolean(4)
    coordinate_transform_mode: CoordinateTransformMode = enum(5, CoordinateTransformMode.ASYMMETRIC)
    cubic_coeff: float = real(6)
    exclude_outside: int = long(7)
    extrapolation_value: float = real(8)
    nearest_mode: NearestMode = enum(9, NearestMode.NORMAL)


@operator(177, inputs="x boxes box_index crop_size", tensorflow="CropAndResize")
class CropAndResize(Operator):
    """Cuts boxes out of images and resamples them."""

    method: ResizeMethod = enum(0, ResizeMethod.LINEAR)
    extrapolation_value: float = real(1)

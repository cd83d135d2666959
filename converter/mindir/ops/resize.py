"""Resizing of images."""

from __future__ import annotations

from ._declare import Longs, Operator, boolean, enum, long, longs, operator, real, text
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
    """Resizes height and width."""

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
    """Crops boxes from images and resizes them."""

    method: ResizeMethod = enum(0, ResizeMethod.LINEAR)
    extrapolation_value: float = real(1)


@operator(1100, inputs="x target [roi]", onnx="Resize Upsample", custom_type="mslite.ResizeND")
class ResizeND(Operator):
    """ONNX Resize of any dimensions: `target` contains sizes (integers) or scales (floats), one for each entry of
    `axes`.

    `roi` contains the starts and then the ends of the region, for `tf_crop_and_resize`. String attributes are as in
    ONNX.
    """

    method: ResizeMethod = enum(0, ResizeMethod.NEAREST)
    coordinate_transformation_mode: str | None = text(1)
    """default: `half_pixel`"""
    nearest_mode: str | None = text(2)
    """default: `round_prefer_floor`"""
    cubic_coeff: float = real(3, -0.75)
    exclude_outside: bool = boolean(4)
    extrapolation_value: float = real(5)
    antialias: bool = boolean(6)
    axes: Longs = longs(7)
    """the dimensions of `target`; default: all"""
    keep_aspect_ratio_policy: str | None = text(8)
    """default: `stretch`; only for sizes"""


@operator(1106, inputs="x grid", layout="any", onnx="GridSample", custom_type="GridSampler")
class GridSampler(Operator):
    """Samples NCHW images (or NCDHW volumes) at the normalized coordinates of `grid` [n, h, w, 2] (x, y)."""

    interpolation_mode: int = long(0)
    """0 linear, 1 nearest, 2 cubic"""
    padding_mode: int = long(1)
    """0 zeros, 1 border, 2 reflection"""
    align_corners: bool = boolean(2)

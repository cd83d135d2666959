"""Pooling in NHWC."""

from __future__ import annotations

from ._declare import Longs, Operator, boolean, enum, long, longs, operator, real
from .enums import ActivationType, Format, PadMode, RoundMode


@operator(
    17,
    layout="nhwc",
    tflite="AVERAGE_POOL_2D",
    onnx="AveragePool GlobalAveragePool Int8AveragePool",
    tensorflow="AvgPool",
    caffe="Pooling",
)
class AvgPoolFusion(Operator):
    """Average pooling, without padding elements."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    pad: Longs = longs(2)
    """[top, bottom, left, right]"""
    pad_mode: PadMode = enum(3, PadMode.PAD)
    round_mode: RoundMode = enum(4, RoundMode.FLOOR)
    format: Format = enum(5, Format.NCHW)
    global_: bool = boolean(6)
    """the window is the whole image"""
    activation_type: ActivationType = enum(7, ActivationType.NO_ACTIVATION)


@operator(92, layout="nhwc", tflite="MAX_POOL_2D", onnx="MaxPool GlobalMaxPool", tensorflow="MaxPool", caffe="Pooling")
class MaxPoolFusion(Operator):
    """Max pooling."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    pad: Longs = longs(2)
    """[top, bottom, left, right]"""
    pad_mode: PadMode = enum(3, PadMode.PAD)
    round_mode: RoundMode = enum(4, RoundMode.FLOOR)
    format: Format = enum(5, Format.NCHW)
    global_: bool = boolean(6)
    """the window is the whole image"""
    activation_type: ActivationType = enum(7, ActivationType.NO_ACTIVATION)


@operator(124, inputs="x rois", layout="nhwc", caffe="ROIPooling")
class ROIPooling(Operator):
    """Max pooling of regions of interest, rows (image, x1, y1, x2, y2)."""

    pooled_h: int = long(0)
    pooled_w: int = long(1)
    scale: float = real(2)


# ---- mslite's operators for attributes that AvgPoolFusion and MaxPoolFusion do not have ----


@operator(1200, layout="nhwc", custom_type="mslite.AvgPoolExtended")
class AvgPoolExtended(Operator):
    """Average pooling with dilation; padding may be included as zeros."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    dilation: Longs = longs(2)
    pad: Longs = longs(3)
    """[top, bottom, left, right]"""
    pad_mode: PadMode = enum(4, PadMode.PAD)
    round_mode: RoundMode = enum(5, RoundMode.FLOOR)
    format: Format = enum(6, Format.NCHW)
    count_include_pad: bool = boolean(7)
    """the average includes padding; else only elements of the input"""
    activation_type: ActivationType = enum(8, ActivationType.NO_ACTIVATION)


@operator(1201, layout="nhwc", custom_type="mslite.MaxPoolExtended")
class MaxPoolExtended(Operator):
    """Max pooling with dilation."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    dilation: Longs = longs(2)
    pad: Longs = longs(3)
    """[top, bottom, left, right]"""
    pad_mode: PadMode = enum(4, PadMode.PAD)
    round_mode: RoundMode = enum(5, RoundMode.FLOOR)
    format: Format = enum(6, Format.NCHW)
    activation_type: ActivationType = enum(7, ActivationType.NO_ACTIVATION)

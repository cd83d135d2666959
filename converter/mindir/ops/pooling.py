"""Spatial pooling on NHWC."""

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
    """Average pooling; padding does not count."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    pad: Longs = longs(2)
    """[top, bottom, left, right]"""
    pad_mode: PadMode = enum(3, PadMode.PAD)
    round_mode: RoundMode = enum(4, RoundMode.FLOOR)
    format: Format = enum(5, Format.NCHW)
    global_: bool = boolean(6)
    """kernel = whole spatial extent"""
    activation_type: ActivationType = enum(7, ActivationType.NO_ACTIVATION)


@operator(92, layout="nhwc", tflite="MAX_POOL_2D", onnx="MaxPool GlobalMaxPool", tensorflow="MaxPool", caffe="Pooling")
class MaxPoolFusion(Operator):
    """Maximum pooling."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    pad: Longs = longs(2)
    """[top, bottom, left, right]"""
    pad_mode: PadMode = enum(3, PadMode.PAD)
    round_mode: RoundMode = enum(4, RoundMode.FLOOR)
    format: Format = enum(5, Format.NCHW)
    global_: bool = boolean(6)
    """kernel = whole spatial extent"""
    activation_type: ActivationType = enum(7, ActivationType.NO_ACTIVATION)


@operator(124, inputs="x rois", layout="nhwc", caffe="ROIPooling")
class ROIPooling(Operator):
    """Maximum pooling of regions of interest, rows (image, x1, y1, x2, y2)."""

    pooled_h: int = long(0)
    pooled_w: int = long(1)
    scale: float = real(2)


# ---- of mslite: what the attributes of AvgPoolFusion and MaxPoolFusion cannot say ----


@operator(1200, layout="nhwc", custom_type="mslite.AvgPoolExtended")
class AvgPoolExtended(Operator):
    """Average pooling with dilation, and padding that may count as zeros."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    dilation: Longs = longs(2)
    pad: Longs = longs(3)
    """[top, bottom, left, right]"""
    pad_mode: PadMode = enum(4, PadMode.PAD)
    round_mode: RoundMode = enum(5, RoundMode.FLOOR)
    format: Format = enum(6, Format.NCHW)
    count_include_pad: bool = boolean(7)
    """The divisor counts the window's taps inside input and padding; otherwise inside the input."""
    activation_type: ActivationType = enum(8, ActivationType.NO_ACTIVATION)


@operator(1201, layout="nhwc", custom_type="mslite.MaxPoolExtended")
class MaxPoolExtended(Operator):
    """Maximum pooling with dilation."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    dilation: Longs = longs(2)
    pad: Longs = longs(3)
    """[top, bottom, left, right]"""
    pad_mode: PadMode = enum(4, PadMode.PAD)
    round_mode: RoundMode = enum(5, RoundMode.FLOOR)
    format: Format = enum(6, Format.NCHW)
    activation_type: ActivationType = enum(7, ActivationType.NO_ACTIVATION)

"""Convolutions; activations NHWC, weights [out, kh, kw, in / group]."""

from __future__ import annotations

from ._declare import Longs, Operator, enum, long, longs, operator
from .enums import ActivationType, Format, PadMode


@operator(
    35,
    inputs="x weight [bias]",
    layout="nhwc",
    tflite="CONV_2D DEPTHWISE_CONV_2D",
    onnx="Conv Int8Conv ConvRelu Int8ConvRelu",
    tensorflow="Conv2D DepthwiseConv2dNative",
    caffe="Convolution DepthwiseConv",
)
class Conv2DFusion(Operator):
    """2-D convolution, then the fused activation."""

    format: Format = enum(0, Format.NCHW)
    kernel_size: Longs = longs(1)
    """[h, w]"""
    stride: Longs = longs(2)
    """[h, w]"""
    dilation: Longs = longs(3)
    """[h, w]"""
    pad_mode: PadMode = enum(4, PadMode.PAD)
    pad_list: Longs = longs(5)
    """[top, bottom, left, right]"""
    mode: int = long(6)
    """1 = cross-correlation (only value used)"""
    group: int = long(7)
    """1 = normal; = in_channel = out_channel -> depthwise kernel; else grouped"""
    in_channel: int = long(8)
    out_channel: int = long(9)
    activation_type: ActivationType = enum(10, ActivationType.NO_ACTIVATION)


@operator(
    36,
    inputs="x weight [bias]",
    layout="nhwc",
    tflite="TRANSPOSE_CONV",
    onnx="ConvTranspose",
    tensorflow="Conv2DBackpropInput",
    caffe="Deconvolution",
)
class Conv2dTransposeFusion(Operator):
    """Transposed 2-D convolution; weight [in, kh, kw, out / group]."""

    format: Format = enum(0, Format.NCHW)
    kernel_size: Longs = longs(1)
    stride: Longs = longs(2)
    dilation: Longs = longs(3)
    pad_mode: PadMode = enum(4, PadMode.PAD)
    pad: Longs = longs(5)
    pad_list: Longs = longs(6)
    """[top, bottom, left, right]"""
    mode: int = long(7)
    group: int = long(8)
    in_channel: int = long(9)
    out_channel: int = long(10)
    activation_type: ActivationType = enum(11, ActivationType.NO_ACTIVATION)
    output_paddings: Longs = longs(12)
    """[h, w] extra output size"""


@operator(6, inputs="x weight [bias]", layout="nhwc", onnx="adder_f")
class AdderFusion(Operator):
    """Convolution of an adder network: minus the sum of |x - weight|."""

    format: Format = enum(0, Format.NCHW)
    kernel_size: Longs = longs(1)
    stride: Longs = longs(2)
    dilation: Longs = longs(3)
    pad_mode: PadMode = enum(4, PadMode.PAD)
    pad_list: Longs = longs(5)
    group: int = long(6)
    in_channel: int = long(7)
    out_channel: int = long(8)
    activation_type: ActivationType = enum(9, ActivationType.NO_ACTIVATION)


# ---- of mslite: what the runtime makes of a convolution and a sum when it loads a file; once in files of mslite ----


@operator(1210, inputs="x weight bias residual", layout="nhwc", custom_type="mslite.Conv2DAddFusion")
class Conv2DAddFusion(Operator):
    """2-D convolution plus a residual of the output's shape, then the fused activation."""

    format: Format = enum(0, Format.NCHW)
    kernel_size: Longs = longs(1)
    """[h, w]"""
    stride: Longs = longs(2)
    """[h, w]"""
    dilation: Longs = longs(3)
    """[h, w]"""
    pad_mode: PadMode = enum(4, PadMode.PAD)
    pad_list: Longs = longs(5)
    """[top, bottom, left, right]"""
    group: int = long(6, 1)
    activation_type: ActivationType = enum(7, ActivationType.NO_ACTIVATION)


# ---- of mslite: integers whose scales and zero points are known at run time ----


@operator(
    1221,
    inputs="x weight x_zero weight_zero [scale] [bias] [image_scale]",
    layout="nhwc",
    onnx="ConvInteger",
    custom_type="mslite.ConvInteger",
)
class ConvInteger(Operator):
    """2-D convolution of x - x_zero with weight - weight_zero, 8-bit integers, signed or unsigned, in int32; sums wrap.

    weight_zero: one, or one per output channel. Padding is x_zero (one, or one per image). With a scale (one, or one per channel) the result is
    float32: the sum rounded to float32, times the scale [and image_scale, one per x_zero], plus the bias of each channel.
    """

    format: Format = enum(0, Format.NCHW)
    kernel_size: Longs = longs(1)
    stride: Longs = longs(2)
    dilation: Longs = longs(3)
    pad_mode: PadMode = enum(4, PadMode.PAD)
    pad_list: Longs = longs(5)
    """[top, bottom, left, right]"""
    group: int = long(6, 1)

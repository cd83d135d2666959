"""Convolution and Deconvolution. MindIR's weights are [out, kh, kw, in / group] and [in, kh, kw, out / group]."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import Format, PadMode
from mslite.converter.parsers.protobuf import Message

from .call import Blob, Call
from .registry import caffe_layer
from .volumes import conv_volume
from .windows import lift, lower, read_window

_DEPTHWISE = ("ConvolutionDepthwise", "DepthwiseConvolution", "DepthwiseConv")


def _channels_last(weight: Array) -> Array:
    """[first, second, kernel...] -> [first, kh, kw, second]"""
    image = weight.reshape(*weight.shape[:2], -1 if weight.ndim == 4 else 1, weight.shape[-1])
    return np.ascontiguousarray(image.transpose(0, 2, 3, 1))


def _spatial(call: Call, given: Message, x: Blob) -> int:
    """The number of spatial dimensions."""
    if call.axis(given.axis, x.rank) != 1:
        raise call.block("only dimension 1 may hold the channels", "Move the channels with Permute", "axis")
    if not 3 <= x.rank <= 5:
        raise call.block(f"the bottom blob has {x.rank} dimensions; 3 to 5 are supported", "Reshape the data")
    return x.rank - 2


def _group(call: Call, given: Message, channels: int) -> int:
    group: int = given.group
    if call.layer.type in _DEPTHWISE and group == 1:
        group = channels
    if group < 1 or channels % group or given.num_output % group or given.num_output < 1:
        reason = f"{group} groups do not divide {channels} channels and {given.num_output} outputs"
        raise call.block(reason, attribute="group")
    return group


def _operands(call: Call, given: Message, weight: Array) -> list[Value]:
    """The weight and, where the layer has one, the bias."""
    bias = [call.const(call.weight(1, (given.num_output,)))] if given.bias_term else []
    return [call.const(_channels_last(weight)), *bias]


@caffe_layer("Convolution", *_DEPTHWISE)
def convolution(call: Call) -> list[Blob]:
    """Several bottoms share the weights."""
    call.bottom()
    return [_convolution(call, x) for x in call.bottoms]


def _convolution(call: Call, x: Blob) -> Blob:
    given = call.parameter("convolution")
    dimensions = _spatial(call, given, x)
    window, group = read_window(call, given, dimensions), _group(call, given, x.shape[1])
    sizes = window.output(x.shape[2:])
    shape = (x.shape[0], given.num_output, *sizes)
    if any(size < 1 for size in sizes):
        raise call.block(f"the window {list(window.kernel)} does not fit into {list(x.shape[2:])}")
    weight = call.weight(0, (given.num_output, x.shape[1] // group, *window.kernel))
    if dimensions == 3:
        bias = call.const(call.weight(1, (given.num_output,))) if given.bias_term else None
        return Blob(conv_volume(call, x, shape, weight, bias, group, window), shape)
    op = Conv2DFusion(
        format=Format.NCHW,
        kernel_size=window.image(window.kernel, 1),
        stride=window.image(window.stride, 1),
        dilation=window.image(window.dilation, 1),
        pad_mode=PadMode.PAD,
        pad_list=window.image_pads,
        mode=1,
        group=group,
        in_channel=x.shape[1],
        out_channel=given.num_output,
    )
    y = call.emit(op, lift(call, x.value, dimensions), *_operands(call, given, weight))
    return Blob(lower(call, y, dimensions), shape)


@caffe_layer("Deconvolution")
def deconvolution(call: Call) -> list[Blob]:
    """The transposed convolution; several bottoms share the weights."""
    call.bottom()
    return [_deconvolution(call, x) for x in call.bottoms]


def _deconvolution(call: Call, x: Blob) -> Blob:
    given = call.parameter("convolution")
    dimensions = _spatial(call, given, x)
    if dimensions == 3:
        raise call.block("a transposed convolution of volumes is not built", "Use images")
    window, group = read_window(call, given, dimensions), _group(call, given, x.shape[1])
    sizes = window.transposed_output(x.shape[2:])
    if any(size < 1 for size in sizes):
        raise call.block(f"the padding {list(window.pad)} leaves nothing of the result", attribute="pad")
    weight = call.weight(0, (x.shape[1], given.num_output // group, *window.kernel))
    op = Conv2dTransposeFusion(
        format=Format.NCHW,
        kernel_size=window.image(window.kernel, 1),
        stride=window.image(window.stride, 1),
        dilation=window.image(window.dilation, 1),
        pad_mode=PadMode.PAD,
        pad_list=window.image_pads,
        mode=1,
        group=group,
        in_channel=x.shape[1],
        out_channel=given.num_output,
        output_paddings=(0, 0),
    )
    y = call.emit(op, lift(call, x.value, dimensions), *_operands(call, given, weight))
    return Blob(lower(call, y, dimensions), (x.shape[0], given.num_output, *sizes))


@caffe_layer("Im2col")
def im2col(call: Call) -> Blob:
    """Every element of every window becomes a channel: a depthwise convolution with unit kernels."""
    x, given = call.bottom(), call.parameter("convolution")
    call.require_rank(x, 4)
    window = read_window(call, given, 2)
    channels, taps = x.shape[1], window.kernel[0] * window.kernel[1]
    sizes = window.output(x.shape[2:])
    if channels * taps > 1 << 16 or taps > 1 << 12:
        raise call.block(f"{channels * taps} windows are too many", "Use Convolution")
    if any(size < 1 for size in sizes):
        raise call.block(f"the window {list(window.kernel)} does not fit into {list(x.shape[2:])}")
    units = np.tile(np.eye(taps, dtype=np.float32), (channels, 1))
    op = Conv2DFusion(
        format=Format.NCHW,
        kernel_size=window.kernel,
        stride=window.stride,
        dilation=window.dilation,
        pad_mode=PadMode.PAD,
        pad_list=window.image_pads,
        mode=1,
        group=channels,
        in_channel=channels,
        out_channel=channels * taps,
    )
    y = call.emit(op, x.value, call.const(units.reshape(channels * taps, *window.kernel, 1)))
    return Blob(y, (x.shape[0], channels * taps, *sizes))

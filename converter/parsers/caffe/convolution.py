"""Convolution and Deconvolution. Weights in MindIR are [out, kh, kw, in / group] and [in, kh, kw, out / group]."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import Format, PadMode
from mslite.converter.parsers.protobuf import Message

from .call import Blob, Call
from .registry import caffe_layer
from .volumes import conv_volume
from .windows import Window, lift, lower, read_window

_DEPTHWISE = ("ConvolutionDepthwise", "DepthwiseConvolution", "DepthwiseConv")


def _channels_last(weight: Array) -> Array:
    """Returns a weight [first, second, kernel...] as [first, kh, kw, second]."""
    image = weight.reshape(*weight.shape[:2], -1 if weight.ndim == 4 else 1, weight.shape[-1])
    return np.ascontiguousarray(image.transpose(0, 2, 3, 1))


def _spatial(call: Call, given: Message, x: Blob) -> int:
    """Returns the number of spatial dimensions. Raises Blocked."""
    if call.axis(given.axis, x.rank) != 1:
        raise call.block("only dimension 1 is supported for the channels", "Move the channels with Permute", "axis")
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


@caffe_layer("Convolution", *_DEPTHWISE, "Deconvolution")
def convolution(call: Call) -> list[Blob]:
    """Converts convolutions; several bottom blobs share the weights. Deconvolution is the transposed convolution."""
    call.bottom()
    return [_convolution(call, x, call.layer.type == "Deconvolution") for x in call.bottoms]


def _convolution(call: Call, x: Blob, transposed: bool) -> Blob:
    given = call.parameter("convolution")
    dimensions = _spatial(call, given, x)
    window, channels, out = read_window(call, given, dimensions), x.shape[1], given.num_output
    group = _group(call, given, channels)
    sizes = window.transposed_output(x.shape[2:]) if transposed else window.output(x.shape[2:])
    if any(size < 1 for size in sizes):
        what = f"the window {list(window.kernel)} is larger than the input {list(x.shape[2:])}"
        raise call.block(f"the padding {list(window.pad)} removes the whole result" if transposed else what)
    first, second = (channels, out // group) if transposed else (out, channels // group)
    weight = call.weight(0, (first, second, *window.kernel))
    bias = [call.const(call.weight(1, (out,)))] if given.bias_term else []
    shape = (x.shape[0], out, *sizes)
    if dimensions == 3:
        return Blob(conv_volume(call, x, weight, bias, group, window, transposed), shape)
    op = _operator(window, group, channels, out, transposed)
    y = call.emit(op, lift(call, x.value, dimensions), call.const(_channels_last(weight)), *bias)
    return Blob(lower(call, y, dimensions), shape)


def _operator(window: Window, group: int, channels: int, out: int, transposed: bool = False) -> Operator:
    """Returns the operator of a 2-D convolution."""
    kind: Callable[..., Operator] = Conv2DFusion
    if transposed:
        kind = partial(Conv2dTransposeFusion, output_paddings=(0, 0))
    return kind(
        format=Format.NCHW,
        kernel_size=window.image(window.kernel, 1),
        stride=window.image(window.stride, 1),
        dilation=window.image(window.dilation, 1),
        pad_mode=PadMode.PAD,
        pad_list=window.image_pads,
        mode=1,
        group=group,
        in_channel=channels,
        out_channel=out,
    )


@caffe_layer("Im2col")
def im2col(call: Call) -> Blob:
    """Converts Im2col to a depthwise convolution with kernels of a single 1: each window element becomes a channel."""
    x, given = call.bottom(), call.parameter("convolution")
    call.require_rank(x, 4)
    window = read_window(call, given, 2)
    channels, taps = x.shape[1], window.kernel[0] * window.kernel[1]
    sizes = window.output(x.shape[2:])
    if channels * taps > 1 << 16 or taps > 1 << 12:
        raise call.block(f"{channels * taps} output channels are too many", "Use Convolution")
    if any(size < 1 for size in sizes):
        raise call.block(f"the window {list(window.kernel)} is larger than the input {list(x.shape[2:])}")
    units = np.tile(np.eye(taps, dtype=np.float32), (channels, 1))
    op = _operator(window, channels, channels, channels * taps)
    y = call.emit(op, x.value, call.const(units.reshape(channels * taps, *window.kernel, 1)))
    return Blob(y, (x.shape[0], channels * taps, *sizes))

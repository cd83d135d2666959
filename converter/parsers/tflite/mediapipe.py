"""Custom operators of MediaPipe's models. Their options are C structures of 32-bit integers."""

from __future__ import annotations

import struct

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.comparison import Equal, Where
from mslite.converter.mindir.ops.convolution import Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import DataType, Format, PadMode
from mslite.converter.mindir.ops.pooling import MaxPoolFusion
from mslite.converter.mindir.ops.rearrange import DepthToSpace, Reshape, SpaceToDepth
from mslite.converter.mindir.ops.reduction import ArgMaxFusion

from .call import Call
from .convolution import permuted, with_bias
from .registry import tflite_operator


def _structure(call: Call, count: int) -> tuple[int, ...]:
    options = bytes(call.node.custom_options)
    if len(options) < 4 * count:
        raise call.block(f"its options have {len(options)} bytes, not {4 * count}")
    return struct.unpack_from(f"<{count}i", options)


def _window(call: Call) -> int:
    """Returns the size of square windows without overlap. The fields are padding, strides (width, height), sizes
    (width, height). Raises Blocked."""
    _, stride_w, stride_h, filter_w, filter_h = _structure(call, 5)
    height, width = call.shape(0)[1:3] if call.rank(0) == 4 else (0, 0)
    if len({stride_w, stride_h, filter_w, filter_h}) != 1 or not 1 <= stride_w <= 16:
        raise call.block(
            f"windows of {filter_h} by {filter_w} with strides {stride_h} and {stride_w} are unsupported",
            "Use square windows of size up to 16 without overlap",
        )
    if call.node.name.endswith("Argmax2D") and (height % filter_h or width % filter_w or not height or not width):
        raise call.block(f"the input {call.shape(0)} is not a multiple of the window size {filter_h}", "Pad the input")
    return stride_w


@tflite_operator("CUSTOM:MaxPoolingWithArgmax2D")
def max_pool_with_place(call: Call) -> tuple[Value, Value]:
    """Converts max pooling with indices: the maximum of each window, and its row-major index in the window as a
    float."""
    size = _window(call)
    n, height, width, channels = call.shape(0)
    op = MaxPoolFusion(
        kernel_size=(size, size), strides=(size, size), pad=(0, 0, 0, 0), pad_mode=PadMode.VALID, format=Format.NHWC
    )
    largest = call.emit(op, call.input(0))
    deep = call.emit(SpaceToDepth(block_size=size, format=Format.NHWC), call.input(0))
    places = call.emit(Reshape(), deep, call.ints((n, height // size, width // size, size * size, channels)))
    index = call.emit(ArgMaxFusion(axis=3, top_k=1, keep_dims=False), places)
    index.dtype = DataType.INT32
    return largest, call.as_type(index, DataType.FLOAT32)


@tflite_operator("CUSTOM:MaxUnpooling2D")
def max_unpool(call: Call) -> Value:
    """Converts unpooling: writes each value at its index in a window of zeros."""
    size = _window(call)
    index = call.as_type(call.input(1), DataType.INT32)
    zero = call.const(0.0, np.float32)
    parts = [
        call.emit(Where(), call.emit(Equal(), index, call.ints(place)), call.input(0), zero)
        for place in range(size * size)
    ]
    joined = parts[0] if len(parts) == 1 else call.emit(Concat(axis=3), *parts)
    return call.emit(DepthToSpace(block_size=size, format=Format.NHWC, mode="DCR"), joined)


@tflite_operator("CUSTOM:Convolution2DTransposeBias")
def transposed_convolution(call: Call) -> Value:
    """Converts a transposed convolution. Inputs are x, weight [out, kh, kw, in], bias; with SAME, the output size is
    the input size times the stride. The fields are padding, stride width, stride height."""
    padding, stride_w, stride_h = _structure(call, 3)
    if call.rank(0) != 4 or call.rank(1) != 4 or call.shape(0)[3] != call.shape(1)[3] or min(stride_w, stride_h) < 1:
        raise call.block(f"a weight of shape {call.shape(1)} does not match the input {call.shape(0)}")
    out, height, width, depth = call.shape(1)
    pads, extra = [], []
    for kernel, stride in ((height, stride_h), (width, stride_w)):
        total = kernel - stride if padding == 1 else 0  # in this structure, 1 is SAME
        pads += [max(total, 0) // 2, max(total, 0) - max(total, 0) // 2]
        extra.append(max(-total, 0))
    op = Conv2dTransposeFusion(
        format=Format.NHWC,
        kernel_size=(height, width),
        stride=(stride_h, stride_w),
        dilation=(1, 1),
        pad_mode=PadMode.PAD,
        pad_list=tuple(pads),
        mode=1,
        group=1,
        in_channel=depth,
        out_channel=out,
        output_paddings=tuple(extra),
    )
    return with_bias(call, op, call.input(0), permuted(call, call.weight(1), (3, 1, 2, 0)), 2)

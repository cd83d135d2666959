"""Convolutions, depthwise and transposed ones."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import Format, PadMode
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.parsers.affine_sizes import sizes_of

from .call import Call
from .registry import tflite_operator


def _strides(call: Call, first: str = "stride") -> tuple[int, int]:
    pair = call.options.integer(f"{first}_h"), call.options.integer(f"{first}_w")
    if min(pair) < 1:
        raise call.block(f"{first} {pair} is not positive", attribute=first)
    return pair


def _rank_4(call: Call, *indices: int) -> None:
    for index in indices:
        if call.rank(index) != 4:
            raise call.block(f"input {index} has {call.rank(index)} dimensions, not 4")


def permuted(call: Call, weight: Value, perm: tuple[int, ...]) -> Value:
    if weight.data is None:
        return call.emit(Transpose(), weight, call.ints(perm))
    return call.scope.permuted(weight, perm)


def with_bias(call: Call, op: Conv2DFusion | Conv2dTransposeFusion, x: Value, weight: Value, index: int) -> Value:
    bias = call.bias(index)
    return call.emit(op, x, weight, *([] if bias is None else [bias]))


def _image(call: Call, index: int = 0) -> Value:
    """Returns the activation; for int8 weights of a float operator, quantized at run time with a scale for each image;
    symmetric for CONV_2D with one weight scale."""
    x = call.input(index)
    if not call.is_hybrid(1):
        return x
    quantization = call.source(1).quantization
    scales = set() if quantization is None else set(quantization.scales)
    return call.rounded(x, call.node.name == "CONV_2D" and len(scales) <= 1, (0,))


@tflite_operator("CONV_2D")
def convolution(call: Call) -> Value:
    """Converts CONV_2D. Weights are [out, kh, kw, in / group] in both formats; the group count follows from the
    channels."""
    _rank_4(call, 0, 1)
    out, height, width, depth = call.shape(1)
    channels = call.shape(0)[3]
    if depth < 1 or channels % depth or out % (channels // depth or 1):
        raise call.block(f"{channels} input channels do not match a weight of shape {call.shape(1)}")
    activation, follow = call.fused()
    op = Conv2DFusion(
        format=Format.NHWC,
        kernel_size=(height, width),
        stride=_strides(call),
        dilation=_strides(call, "dilation"),
        pad_mode=call.pad_mode(),
        pad_list=(0, 0, 0, 0),
        mode=1,
        group=channels // depth,
        in_channel=channels,
        out_channel=out,
        activation_type=activation,
    )
    return follow(with_bias(call, op, _image(call), call.stored_weight(1), 2))


@tflite_operator("DEPTHWISE_CONV_2D")
def depthwise(call: Call) -> Value:
    """Converts DEPTHWISE_CONV_2D. The weight [1, kh, kw, out] becomes [out, kh, kw, 1]; input channel c is read by
    outputs c * multiplier to (c + 1) * multiplier - 1."""
    _rank_4(call, 0, 1)
    _, height, width, out = call.shape(1)
    channels = call.shape(0)[3]
    if channels < 1 or out % channels or call.shape(1)[0] != 1:
        raise call.block(f"{channels} input channels do not match a weight of shape {call.shape(1)}")
    activation, follow = call.fused()
    op = Conv2DFusion(
        format=Format.NHWC,
        kernel_size=(height, width),
        stride=_strides(call),
        dilation=_strides(call, "dilation"),
        pad_mode=call.pad_mode(),
        pad_list=(0, 0, 0, 0),
        mode=1,
        group=channels,
        in_channel=channels,
        out_channel=out,
        activation_type=activation,
    )
    return follow(with_bias(call, op, _image(call), permuted(call, call.stored_weight(1), (3, 1, 2, 0)), 2))


def output_size(call: Call, rank: int) -> tuple[int, ...]:
    """Returns the output shape of a transposed convolution. With a dynamic batch, the file computes the shape, but
    stores its other sizes in the result."""
    stated = call.output()
    sizes = stated.signature if len(stated.signature) == len(stated.shape) else stated.shape
    if call.constant(0) is None and len(sizes) == rank and min(sizes[1:]) > 0:
        return sizes
    return call.integers(0, "the output size")


def _beyond(call: Call, stride: tuple[int, int]) -> list[int]:
    """Returns the height and width of a transposed convolution's result minus (length - 1) * stride, which is known
    even if the sizes are dynamic. Raises Blocked."""
    sizes = (
        None if call.constant(0) is not None else sizes_of(call.input(0), call.input(2), 4, lambda value: value.data)
    )
    if sizes is not None and len(sizes) == 4:
        x = call.source(2)
        lengths = x.signature if len(x.signature) == len(x.shape) else x.shape
        found = [
            size.beyond(axis, lengths[axis], step)
            for axis, step, size in zip((1, 2), stride, sizes[1:3], strict=True)
            if size is not None
        ]
        known = [beyond for beyond in found if beyond is not None]
        if len(known) == 2:
            return known
    size, lengths = output_size(call, 4), call.shape(2)
    if len(size) != 4 or min(size[1:3]) < 1:
        raise call.block(f"the output shape {size} is not [batch, height, width, channels]")
    return [size[axis] - (lengths[axis] - 1) * stride[axis - 1] for axis in (1, 2)]


@tflite_operator("TRANSPOSE_CONV")
def transposed(call: Call) -> Value:
    """Converts TRANSPOSE_CONV. Inputs are output_shape, weight [out, kh, kw, in], x, [bias]; the padding follows from
    the output shape."""
    _rank_4(call, 1, 2)
    out, height, width, depth = call.shape(1)
    x_shape, stride, padded = call.shape(2), _strides(call), call.pad_mode() is PadMode.SAME
    if depth != x_shape[3]:
        raise call.block(f"the weight {call.shape(1)} does not match the input {x_shape}")
    pads: list[int] = []
    extra = []
    for beyond, kernel in zip(_beyond(call, stride), (height, width), strict=True):
        total = max(kernel - beyond, 0) if padded else 0
        pads += [total // 2, total - total // 2]
        extra.append(beyond - kernel + total)
    if min(extra) < 0 or any(e >= s for e, s in zip(extra, stride, strict=True)):
        raise call.block(f"the output size (input 0) does not match the input {x_shape[1:3]}")
    activation, follow = call.fused()
    op = Conv2dTransposeFusion(
        format=Format.NHWC,
        kernel_size=(height, width),
        stride=stride,
        dilation=(1, 1),
        pad_mode=PadMode.PAD,
        pad_list=tuple(pads),
        mode=1,
        group=1,
        in_channel=depth,
        out_channel=out,
        activation_type=activation,
        output_paddings=tuple(extra),
    )
    return follow(with_bias(call, op, _image(call, 2), permuted(call, call.stored_weight(1), (3, 1, 2, 0)), 3))

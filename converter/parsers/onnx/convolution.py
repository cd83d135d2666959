"""Conv and ConvTranspose, 1-D and 2-D. MindIR's weights are [out, kh, kw, in / group] and [in, kh, kw, out / group]."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import Format, PadMode
from mslite.converter.mindir.ops.rearrange import Transpose, Unsqueeze
from mslite.converter.parsers.volumes import Window3D

from .call import Call
from .registry import onnx_operator
from .spatial import check_dimensions, lift, lower, pads_attribute, read_window, sizes
from .volumes import conv_transpose_volume, conv_volume


def weight_of(call: Call) -> tuple[Value, tuple[int, ...]]:
    """Returns the weight in MindIR's layout, and the shape of the source's weight [first, second, kernel...]."""
    weight = call.stored_weight(1)
    shape = call.require_shape(weight, "a convolution")
    if len(shape) < 3:
        raise call.block(f"the weight has {len(shape)} dimensions", "Export the model again")
    check_dimensions(call, len(shape) - 2)
    if 0 in shape:
        raise call.block(f"the weight has the shape {list(shape)}", "Export the model again")
    if weight.data is not None:
        array = weight.data.reshape(shape[0], shape[1], -1 if len(shape) == 4 else 1, shape[-1])
        return call.scope.rearranged(weight, "channel_last", array.transpose(0, 2, 3, 1), {0: 0, 1: 3}), shape
    if len(shape) == 3:
        weight = call.emit(Unsqueeze(axis=(2,)), weight)
    return call.emit(Transpose(), weight, call.ints((0, 2, 3, 1))), shape


def kernel_of(call: Call, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the kernel size of a weight of this shape. Raises Blocked if kernel_shape differs."""
    kernel = call.integers("kernel_shape")
    if kernel and tuple(kernel) != shape[2:]:
        raise call.block(
            f"{list(kernel)} differs from the weight's shape {list(shape)}", "Remove the attribute", "kernel_shape"
        )
    return shape[2:]


def group_of(call: Call, channels: int) -> int:
    group = call.integer("group", 1)
    if group < 1 or channels % group != 0:
        raise call.block(f"{group} groups do not divide {channels} channels", "Export the model again", "group")
    return group


@onnx_operator("Conv")
def conv(call: Call) -> Value:
    x, bias = call.input(0), call.optional_stored_weight(2)
    if call.rank(call.stored_weight(1)) == 5:
        bias = call.optional(2)
        shape = call.require_shape(call.input(1), "a convolution")
        kernel_of(call, shape)
        return conv_volume(call, x, call.input(1), bias, group_of(call, shape[0]))
    weight, shape = weight_of(call)
    window = read_window(call, x, kernel_of(call, shape))
    group = group_of(call, shape[0])
    op = Conv2DFusion(
        format=Format.NCHW,
        kernel_size=window.kernel,
        stride=window.stride,
        dilation=window.dilation,
        pad_mode=window.pad_mode,
        pad_list=window.pads,
        mode=1,
        group=group,
        in_channel=shape[1] * group,
        out_channel=shape[0],
    )
    operands = [lift(call, x, window.dimensions), weight] + ([] if bias is None else [bias])
    return lower(call, call.emit(op, *operands), window.dimensions)


def _transpose_pads(
    call: Call, x: Value, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...], extra: list[int]
) -> tuple[list[int], list[int]]:
    """Returns the begin and end padding of ConvTranspose. Negative padding is added to `extra`, the output padding."""
    dimensions = len(kernel)
    auto = call.text("auto_pad", "NOTSET")
    pads, wanted = pads_attribute(call, dimensions), call.integers("output_shape")
    if wanted:
        wanted = wanted[-dimensions:]
        shape = call.shape(x) or ()
        spatial = [size for size in shape[2:] if size is not None]
        if not shape or len(spatial) != len(shape[2:]):
            raise call.not_known(f"output_shape needs the size of '{x.name}', which is dynamic", "Give --inputShape")
        if len(shape) != dimensions + 2 or len(wanted) != dimensions:
            raise call.block(f"{list(wanted)} does not fit the input", "Export the model again", "output_shape")
    elif auto in ("NOTSET", "", "VALID"):
        pads = (0,) * (2 * dimensions) if auto == "VALID" else pads
        return list(pads[:dimensions]), list(pads[dimensions:])
    elif auto not in ("SAME_UPPER", "SAME_LOWER"):
        raise call.block(f"'{auto}' is not defined", "Use NOTSET, VALID, SAME_UPPER or SAME_LOWER", "auto_pad")
    begin, end = [], []
    for axis in range(dimensions):
        total = (kernel[axis] - 1) * dilation[axis] + 1 + extra[axis]
        # The full output is stride * (input - 1) + total; with SAME it is stride * input.
        total -= wanted[axis] - stride[axis] * (spatial[axis] - 1) if wanted else stride[axis]
        if total < 0:
            extra[axis] -= total
            total = 0
        small = total // 2
        begin.append(small if auto == "SAME_UPPER" else total - small)
        end.append(total - begin[-1])
    return begin, end


@onnx_operator("ConvTranspose")
def conv_transpose(call: Call) -> Value:
    x, bias = call.input(0), call.optional_stored_weight(2)
    if call.rank(call.stored_weight(1)) == 5:
        return _conv_transpose_volume(call, x)
    weight, shape = weight_of(call)
    kernel = kernel_of(call, shape)
    dimensions = len(kernel)
    group = group_of(call, shape[0])
    stride = sizes(call, "strides", dimensions, 1)
    dilation = sizes(call, "dilations", dimensions, 1)
    extra = list(sizes(call, "output_padding", dimensions, 0, 0))
    begin, end = _transpose_pads(call, x, kernel, stride, dilation, extra)
    pairs = [pad for axis in range(dimensions) for pad in (begin[axis], end[axis])]
    ones = (1,) * (2 - dimensions)
    zeros = (0,) * (2 - dimensions)
    op = Conv2dTransposeFusion(
        format=Format.NCHW,
        kernel_size=ones + kernel,
        stride=ones + stride,
        dilation=ones + dilation,
        pad_mode=PadMode.PAD,
        pad_list=(*zeros, *zeros, *pairs),
        mode=1,
        group=group,
        in_channel=shape[0],
        out_channel=shape[1] * group,
        output_paddings=(*zeros, *extra),
    )
    operands = [lift(call, x, dimensions), weight] + ([] if bias is None else [bias])
    return lower(call, call.emit(op, *operands), dimensions)


def _conv_transpose_volume(call: Call, x: Value) -> Value:
    shape = call.require_shape(call.input(1), "a convolution")
    kernel = kernel_of(call, shape)
    stride, dilation = sizes(call, "strides", 3, 1), sizes(call, "dilations", 3, 1)
    extra = list(sizes(call, "output_padding", 3, 0, 0))
    begin, end = _transpose_pads(call, x, kernel, stride, dilation, extra)
    window = Window3D(kernel, stride, dilation, tuple(begin), tuple(end))
    return conv_transpose_volume(call, x, call.input(1), call.optional(2), group_of(call, shape[0]), window, extra)

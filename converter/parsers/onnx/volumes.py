"""Three-dimensional windows by two-dimensional ones, for volumes [N, C, D, H, W] of known shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import Format, PaddingMode, PadMode
from mslite.converter.mindir.ops.rearrange import Reshape, Squeeze, Transpose

from .call import Call
from .spatial import Window, pads_attribute, sizes


@dataclass(frozen=True)
class VolumeWindow:
    """All lists have three entries, [depth, height, width]."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]

    def flat(self, *axes: int) -> Window:
        """The window over one axis (as [axis, 1]) or two."""
        one, zero = (1,) * (2 - len(axes)), (0,) * (2 - len(axes))

        def pick(values: tuple[int, ...], fill: tuple[int, ...]) -> tuple[int, int]:
            first, second = (*(values[axis] for axis in axes), *fill)
            return first, second

        begin, end = pick(self.begin, zero), pick(self.end, zero)
        pads = (begin[0], end[0], begin[1], end[1])
        return Window(2, pick(self.kernel, one), pick(self.stride, one), pick(self.dilation, one), PadMode.PAD, pads)


def read_volume_window(call: Call, shape: Sequence[int], kernel: tuple[int, ...]) -> VolumeWindow:
    """The attributes strides, dilations, pads and auto_pad, with the padding worked out."""
    stride, dilation = sizes(call, "strides", 3, 1), sizes(call, "dilations", 3, 1)
    pads, auto = pads_attribute(call, 3), call.text("auto_pad", "NOTSET")
    begin, end = list(pads[:3]), list(pads[3:])
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        for axis, size in enumerate(shape[2:]):
            reach = (kernel[axis] - 1) * dilation[axis] + 1
            total = max(0, (-(-size // stride[axis]) - 1) * stride[axis] + reach - size)
            begin[axis] = total - total // 2 if auto == "SAME_LOWER" else total // 2
            end[axis] = total - begin[axis]
    elif auto == "VALID":
        begin, end = [0, 0, 0], [0, 0, 0]
    elif auto not in ("NOTSET", ""):
        raise call.block(f"'{auto}' is not defined", "Use NOTSET, VALID, SAME_UPPER or SAME_LOWER", "auto_pad")
    return VolumeWindow(kernel, stride, dilation, tuple(begin), tuple(end))


def volume_shape(call: Call, x: Value) -> tuple[int, ...]:
    shape = call.require_shape(x, "a 3-D window")
    if len(shape) != 5:
        raise call.block(f"the input has {len(shape)} dimensions, not 5", "Export the model again")
    return shape


def result_shape(call: Call) -> tuple[int, ...]:
    shape = call.importer.known_shape(call.node.output[0])
    if shape is None or len(shape) != 5:
        raise call.block("the shape of the result is not known", "Give --inputShape")
    return shape


def pool_volume(call: Call, x: Value, window: VolumeWindow, pool: Callable[[Value, Window], Value]) -> Value:
    """Maxima, and averages over a box, separate: first over each image, then over the depth."""
    n, c, d, h, w = volume_shape(call, x)
    _, _, out_d, out_h, out_w = result_shape(call)
    images = call.emit(Reshape(), x, call.ints((n, c * d, h, w)))
    pooled = pool(images, window.flat(1, 2))
    columns = call.emit(Reshape(), pooled, call.ints((n, c, d, out_h * out_w)))
    return call.emit(Reshape(), pool(columns, window.flat(0)), call.ints((n, c, out_d, out_h, out_w)))


def conv_volume(call: Call, x: Value, weight: Value, bias: Value | None, group: int) -> Value:
    """One 2-D convolution per depth of the kernel, on the slices that it meets, summed up."""
    shape = volume_shape(call, x)
    sizes_of_weight = call.require_shape(weight, "a 3-D convolution")
    window = read_volume_window(call, shape, sizes_of_weight[2:])
    _, out_c, out_d, out_h, out_w = result_shape(call)
    n, c, _, h, w = shape
    if window.begin[0] or window.end[0]:
        rows = np.array([(0, 0), (0, 0), (window.begin[0], window.end[0]), (0, 0), (0, 0)], np.int32)
        x = call.emit(PadFusion(padding_mode=PaddingMode.CONSTANT), x, call.const(rows))
    flat = window.flat(1, 2)
    op = Conv2DFusion(
        format=Format.NCHW,
        kernel_size=flat.kernel,
        stride=flat.stride,
        dilation=flat.dilation,
        pad_mode=PadMode.PAD,
        pad_list=flat.pads,
        mode=1,
        group=group,
        in_channel=c,
        out_channel=out_c,
    )
    total: Value | None = None
    for depth in range(sizes_of_weight[2]):
        start = depth * window.dilation[0]
        stop = start + (out_d - 1) * window.stride[0] + 1
        bounds = [call.ints((value,)) for value in (start, stop, 2, window.stride[0])]
        part = call.emit(StridedSlice(), x, *bounds)
        turned = call.emit(Transpose(), part, call.ints((0, 2, 1, 3, 4)))
        images = call.emit(Reshape(), turned, call.ints((n * out_d, c, h, w)))
        layer = _layer(call, weight, depth)
        operands = (images, layer) if bias is None or total is not None else (images, layer, bias)
        result = call.emit(op, *operands)
        total = result if total is None else call.emit(AddFusion(), total, result)
    assert total is not None
    stacked = call.emit(Reshape(), total, call.ints((n, out_d, out_c, out_h, out_w)))
    return call.emit(Transpose(), stacked, call.ints((0, 2, 1, 3, 4)))


def conv_transpose_volume(
    call: Call,
    x: Value,
    weight: Value,
    bias: Value | None,
    group: int,
    window: VolumeWindow,
    extra: Sequence[int],
) -> Value:
    """One 2-D transposed convolution per depth of the kernel, spread over the depth by zeros, summed up.

    `extra` is the output padding; the kernel is [in, out / group, depth, height, width].
    """
    n, c, d, h, w = volume_shape(call, x)
    flat, stride, dilation = window.flat(1, 2), window.stride[0], window.dilation[0]
    sizes_of_weight = call.require_shape(weight, "a 3-D convolution")
    out_c = sizes_of_weight[1] * group
    sizes_out = [
        stride_ * (size - 1) + (kernel - 1) * dilation_ + 1 + more - begin - end
        for size, kernel, stride_, dilation_, begin, end, more in zip(
            (d, h, w), window.kernel, window.stride, window.dilation, window.begin, window.end, extra, strict=True
        )
    ]
    if min(sizes_out) < 1:
        raise call.block(f"the result would have the size {sizes_out}", "Export the model again", "pads")
    op = Conv2dTransposeFusion(
        format=Format.NCHW,
        kernel_size=flat.kernel,
        stride=flat.stride,
        dilation=flat.dilation,
        pad_mode=PadMode.PAD,
        pad_list=flat.pads,
        mode=1,
        group=group,
        in_channel=c,
        out_channel=out_c,
        output_paddings=tuple(extra[1:]),
    )
    turned = call.emit(Transpose(), x, call.ints((0, 2, 1, 3, 4)))
    images = call.emit(Reshape(), turned, call.ints((n * d, c, h, w)))
    plane = out_c * sizes_out[1] * sizes_out[2]
    spread = (d - 1) * stride + 1
    whole = sizes_out[0] + window.begin[0] + window.end[0]
    total: Value | None = None
    for depth in range(sizes_of_weight[2]):
        layer = _layer(call, weight, depth)
        rows = call.emit(Reshape(), call.emit(op, images, layer), call.ints((n, d, 1, plane)))
        rows = _padded(call, rows, 2, 0, stride - 1)
        rows = call.emit(Reshape(), rows, call.ints((n, d * stride, plane)))
        rows = _cut(call, rows, 1, 0, spread)
        rows = _padded(call, rows, 1, depth * dilation, whole - spread - depth * dilation)
        total = rows if total is None else call.emit(AddFusion(), total, rows)
    assert total is not None
    total = _cut(call, total, 1, window.begin[0], window.begin[0] + sizes_out[0])
    stacked = call.emit(Reshape(), total, call.ints((n, sizes_out[0], out_c, *sizes_out[1:])))
    result = call.emit(Transpose(), stacked, call.ints((0, 2, 1, 3, 4)))
    if bias is None:
        return result
    return call.emit(AddFusion(), result, call.emit(Reshape(), bias, call.ints((1, out_c, 1, 1, 1))))


def _layer(call: Call, weight: Value, depth: int) -> Value:
    """The 2-D kernel at one depth of a 3-D one, channels last."""
    if weight.data is not None:
        return call.const(np.ascontiguousarray(weight.data[:, :, depth].transpose(0, 2, 3, 1)))
    plane = call.emit(Squeeze(axis=(2,)), _cut(call, weight, 2, depth, depth + 1))
    return call.emit(Transpose(), plane, call.ints((0, 2, 3, 1)))


def _padded(call: Call, x: Value, axis: int, before: int, after: int) -> Value:
    """Zeros around one dimension of x, of which `axis` is the last but one."""
    if before == 0 and after == 0:
        return x
    rows = np.zeros((axis + 2, 2), np.int32)
    rows[axis] = (before, after)
    return call.emit(PadFusion(padding_mode=PaddingMode.CONSTANT), x, call.const(rows))


def _cut(call: Call, x: Value, axis: int, begin: int, end: int) -> Value:
    return call.emit(StridedSlice(), x, *(call.ints((value,)) for value in (begin, end, axis, 1)))

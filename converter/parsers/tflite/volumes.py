"""Three-dimensional convolutions of [N, D, H, W, C] by two-dimensional ones, one per depth of the kernel."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import Format, PadMode
from mslite.converter.mindir.ops.rearrange import Reshape

from .call import Call
from .registry import tflite_operator

_AXES = ("d", "h", "w")


def _triple(call: Call, name: str) -> tuple[int, ...]:
    values = tuple(call.options.integer(f"{name}_{axis}") for axis in _AXES)
    if min(values) < 1:
        raise call.block(f"{name} {values} is not positive", attribute=name)
    return values


def _kernel(call: Call, index: int) -> Array:
    value = call.weight(index)
    if value.data is None:
        raise call.block("the weight is computed at run time", "Export the model with a constant weight")
    if value.data.ndim != 5 or not value.data.size:
        raise call.block(f"the weight has the shape {value.data.shape}, not 5 dimensions")
    return value.data


def _sum(call: Call, parts: list[Value], bias: int) -> Value:
    if not parts:
        raise call.block("the result holds nothing of the input")
    total = parts[0]
    for part in parts[1:]:
        total = call.emit(AddFusion(), total, part)
    if call.has_input(bias):
        total = call.emit(AddFusion(), total, call.weight(bias))
    return call.activated(total)


def _depths_cut(call: Call, x: Value, begin: int, count: int, step: int) -> Value:
    """`count` slices along the depth."""
    limits = (0, begin, 0, 0, 0), (0, begin + (count - 1) * step + 1, 0, 0, 0), (1, step, 1, 1, 1)
    others = 0b11101
    op = StridedSlice(begin_mask=others, end_mask=others)
    return call.emit(op, x, *(call.ints(limit) for limit in limits))


def _depths_padded(call: Call, x: Value, before: int, after: int) -> Value:
    if before == 0 and after == 0:
        return x
    rows = np.array([(0, 0), (before, after), (0, 0), (0, 0), (0, 0)], np.int32)
    return call.emit(PadFusion(), x, call.const(rows))


@tflite_operator("CONV_3D")
def convolution(call: Call) -> Value:
    """The weight is [kd, kh, kw, in, out]."""
    kernel, stride, dilation = _kernel(call, 1), _triple(call, "stride"), _triple(call, "dilation")
    if call.rank(0) != 5 or call.shape(0)[4] != kernel.shape[3]:
        raise call.block(f"the input {call.shape(0)} does not fit a weight of {kernel.shape}")
    n, depth, height, width, channels = call.shape(0)
    reach = (kernel.shape[0] - 1) * dilation[0] + 1
    before = after = 0
    out_depth = -(-depth // stride[0]) if call.pad_mode() is PadMode.SAME else (depth - reach) // stride[0] + 1
    if call.pad_mode() is PadMode.SAME:
        total = max(0, (out_depth - 1) * stride[0] + reach - depth)
        before, after = total // 2, total - total // 2
    if out_depth < 1:
        raise call.block(f"a kernel of depth {reach} is larger than the input {call.shape(0)}")
    x = _depths_padded(call, call.input(0), before, after)
    out = kernel.shape[4]
    op = Conv2DFusion(
        format=Format.NHWC,
        kernel_size=kernel.shape[1:3],
        stride=stride[1:],
        dilation=dilation[1:],
        pad_mode=call.pad_mode(),
        pad_list=(0, 0, 0, 0),
        mode=1,
        group=1,
        in_channel=channels,
        out_channel=out,
    )
    parts = []
    for place in range(kernel.shape[0]):
        part = _depths_cut(call, x, place * dilation[0], out_depth, stride[0])
        images = call.emit(Reshape(), part, call.ints((n * out_depth, height, width, channels)))
        layer = call.const(np.ascontiguousarray(kernel[place].transpose(3, 0, 1, 2)))
        parts.append(call.emit(op, images, layer))
    result = _sum(call, parts, 2)
    sizes = [_window_count(call, size, axis, kernel, stride, dilation) for axis, size in ((1, height), (2, width))]
    return call.emit(Reshape(), result, call.ints((n, out_depth, *sizes, out)))


def _window_count(
    call: Call, size: int, axis: int, kernel: Array, stride: tuple[int, ...], dilation: tuple[int, ...]
) -> int:
    if call.pad_mode() is PadMode.SAME:
        return -(-size // stride[axis])
    reach = (kernel.shape[axis] - 1) * dilation[axis] + 1
    return int((size - reach) // stride[axis] + 1)


@tflite_operator("CONV_3D_TRANSPOSE")
def transposed(call: Call) -> Value:
    """Inputs output_shape, weight [kd, kh, kw, out, in], x, [bias]. The images of one depth of the kernel land on every
    `stride`-th depth of the result."""
    size, kernel, stride = call.integers(0, "the output size"), _kernel(call, 1), _triple(call, "stride")
    x_shape = call.shape(2)
    if _triple(call, "dilation") != (1, 1, 1):
        raise call.block("dilated kernels are not supported", "Use a dilation of 1", "dilation")
    if len(size) != 5 or len(x_shape) != 5 or x_shape[4] != kernel.shape[4] or size[4] != kernel.shape[3]:
        raise call.block(f"the output shape {size}, the weight {kernel.shape} and the input {x_shape} do not fit")
    n, depth, height, width, channels = x_shape
    pads, extra = [], []
    for axis in range(3):
        full = (x_shape[1 + axis] - 1) * stride[axis] + kernel.shape[axis]
        total = max(full - size[1 + axis], 0) if call.pad_mode() is PadMode.SAME else 0
        pads += [total // 2, total - total // 2]
        extra.append(size[1 + axis] - (full - total))
    if min(extra) < 0 or any(e >= s for e, s in zip(extra, stride, strict=True)):
        raise call.block(f"the output size {size[1:4]} does not follow from the input {x_shape[1:4]}")
    op = Conv2dTransposeFusion(
        format=Format.NHWC,
        kernel_size=kernel.shape[1:3],
        stride=stride[1:],
        dilation=(1, 1),
        pad_mode=PadMode.PAD,
        pad_list=tuple(pads[2:]),
        mode=1,
        group=1,
        in_channel=channels,
        out_channel=size[4],
        output_paddings=tuple(extra[1:]),
    )
    images = call.emit(Reshape(), call.input(2), call.ints((n * depth, height, width, channels)))
    length = depth * stride[0]
    parts = []
    for place in range(kernel.shape[0]):
        layer = call.const(np.ascontiguousarray(kernel[place].transpose(3, 0, 1, 2)))
        image = call.emit(op, images, layer)
        apart = call.emit(Reshape(), image, call.ints((n * depth, 1, *size[2:4], size[4])))
        apart = _depths_padded(call, apart, 0, stride[0] - 1)
        row = call.emit(Reshape(), apart, call.ints((n, length, *size[2:4], size[4])))
        # Depth j * stride + place of the full result stands at `pads[0]` less.
        shift = place - pads[0]
        cut = max(0, -shift)
        row = _depths_cut(call, row, cut, length - cut, 1) if cut else row
        used, before = length - cut, max(0, shift)
        if before + used > size[1]:
            used = size[1] - before
            row = _depths_cut(call, row, 0, used, 1) if used > 0 else row
        if used > 0:
            parts.append(_depths_padded(call, row, before, size[1] - before - used))
    return _sum(call, parts, 3)

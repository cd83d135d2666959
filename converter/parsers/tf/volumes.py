"""Convolution and pooling of volumes [N, D, H, W, C] of known shape, by two-dimensional ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import Format, PadMode, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion
from mslite.converter.mindir.ops.rearrange import Reshape

from .call import Call
from .registry import tf_operator


@dataclass(frozen=True)
class _Window:
    """All lists have three entries, [depth, height, width]."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    out: tuple[int, ...]


def _triple(call: Call, name: str, first: bool) -> tuple[int, ...]:
    values = call.integers(name, (1,) * 5) or (1,) * 5
    if len(values) != 5 or not all(1 <= value < 2**31 for value in values):
        raise call.block(f"{list(values)} is not five positive numbers", attribute=name)
    if values[0] != 1 or values[1 if first else 4] != 1:
        raise call.block(f"{list(values)} also strides over the batch or the channels", "Use 1 there", name)
    return values[2:] if first else values[1:4]


def _window(call: Call, shape: tuple[int, ...], kernel: tuple[int, ...], first: bool) -> _Window:
    """Stride, dilation and the padding that SAME or VALID means for an input [N, D, H, W, C]."""
    stride, dilation = _triple(call, "strides", first), _triple(call, "dilations", first)
    text = call.text("padding")
    if text not in ("SAME", "VALID"):
        raise call.block(f"the padding '{text}' is not supported", "Use SAME or VALID", "padding")
    before, after, out = [], [], []
    for size, extent, step, spread in zip(shape[1:4], kernel, stride, dilation, strict=True):
        reach = (extent - 1) * spread + 1
        length = -(-size // step) if text == "SAME" else (size - reach) // step + 1
        total = max(0, (length - 1) * step + reach - size) if text == "SAME" else 0
        if length < 1:
            raise call.block(f"a window of {list(kernel)} does not fit into {list(shape[1:4])}")
        before.append(total // 2)
        after.append(total - total // 2)
        out.append(length)
    return _Window(kernel, stride, dilation, tuple(before), tuple(after), tuple(out))


def _volume(call: Call, x: Value, first: bool) -> tuple[Value, tuple[int, ...]]:
    """x with its channels last, and its shape."""
    shape = call.require_shape(x, "a 3-D window")
    if len(shape) != 5:
        raise call.block(f"the input has {len(shape)} dimensions, not 5")
    if first:
        return call.transposed(x, (0, 2, 3, 4, 1)), tuple(shape[axis] for axis in (0, 2, 3, 4, 1))
    return x, shape


def _restored(call: Call, value: Value, first: bool) -> Value:
    return call.transposed(value, (0, 4, 1, 2, 3)) if first else value


def _flat(call: Call, op: Operator, x: Value, shape: tuple[int, ...], result: tuple[int, ...], *others: Value) -> Value:
    """An operator of images on x seen as `shape`; its result seen as `result`."""
    images = call.emit(Reshape(), x, call.ints(shape))
    return call.emit(Reshape(), call.spatial(op, images, *others), call.ints(result))


@tf_operator("Conv3D")
def conv_3d(call: Call) -> Value:
    """One 2-D convolution per depth of the kernel, on the slices that it meets, summed up."""
    first = call.channels_first()
    x, (n, d, h, w, c) = _volume(call, call.input(0), first)
    kernels = call.constant(1)
    if kernels is None or kernels.ndim != 5 or kernels.shape[3] < 1 or c != kernels.shape[3]:
        raise call.block(
            "the weight is not a constant that fits the input", "Groups and computed weights are not supported"
        )
    window = _window(call, (n, d, h, w, c), kernels.shape[:3], first)
    out_d, out_h, out_w = window.out
    if window.before[0] or window.after[0]:
        rows = ((0, 0), (window.before[0], window.after[0]), (0, 0), (0, 0), (0, 0))
        x = call.emit(PadFusion(), x, call.ints(rows))
    op = Conv2DFusion(
        format=Format.NHWC,
        kernel_size=window.kernel[1:],
        stride=window.stride[1:],
        dilation=window.dilation[1:],
        pad_mode=PadMode.PAD,
        pad_list=(window.before[1], window.after[1], window.before[2], window.after[2]),
        mode=1,
        group=1,
        in_channel=c,
        out_channel=kernels.shape[4],
    )
    total: Value | None = None
    for depth in range(window.kernel[0]):
        start = depth * window.dilation[0]
        stop = start + (out_d - 1) * window.stride[0] + 1
        bounds = [call.ints((value,)) for value in (start, stop, 1, window.stride[0])]
        part = call.emit(StridedSlice(), x, *bounds)
        layer = call.const(np.ascontiguousarray(kernels[depth].transpose(3, 0, 1, 2)))
        result = _flat(call, op, part, (n * out_d, h, w, c), (n, out_d, out_h, out_w, kernels.shape[4]), layer)
        total = result if total is None else call.emit(AddFusion(), total, result)
    assert total is not None
    return _restored(call, total, first)


@tf_operator("MaxPool3D", "AvgPool3D")
def pool_3d(call: Call) -> Value:
    """Maxima, and averages over a box, separate: first over each image, then over the depth."""
    first = call.channels_first()
    x, shape = _volume(call, call.input(0), first)
    n, d, h, w, c = shape
    window = _window(call, shape, _triple(call, "ksize", first), first)
    cls: Callable[..., Operator] = MaxPoolFusion if call.operator == "MaxPool3D" else AvgPoolFusion

    def pool(first_axis: int, second_axis: int | None) -> Operator:
        axes = [first_axis] if second_axis is None else [first_axis, second_axis]
        ones, zeros = (1,) * (2 - len(axes)), (0,) * 2 * (2 - len(axes))
        pads = [pad for axis in axes for pad in (window.before[axis], window.after[axis])]
        return cls(
            kernel_size=(*(window.kernel[axis] for axis in axes), *ones),
            strides=(*(window.stride[axis] for axis in axes), *ones),
            pad=(*pads, *zeros),
            pad_mode=PadMode.PAD,
            round_mode=RoundMode.FLOOR,
            format=Format.NHWC,
        )

    out_d, out_h, out_w = window.out
    flat = _flat(call, pool(1, 2), x, (n * d, h, w, c), (n, d, out_h * out_w, c))
    deep = _flat(call, pool(0, None), flat, (n, d, out_h * out_w, c), (n, out_d, out_h, out_w, c))
    return _restored(call, deep, first)

"""Gradients of pooling. Explicit padding is added to x, and removed from its gradient."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Shape, Value
from mslite.converter.mindir.ops import Operator, pooling, training
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.enums import Format, PaddingMode, PadMode
from mslite.converter.training.gradients.rule import Call, Gradients, NoGradientError, rule, shape_of

_LOWEST = float(np.finfo(np.float32).min)
_AVERAGES = pooling.AvgPoolFusion | pooling.AvgPoolExtended
_MAXIMA = pooling.MaxPoolFusion | pooling.MaxPoolExtended
_Pair = tuple[int, int]


@rule("AvgPoolFusion", "MaxPoolFusion", "AvgPoolExtended", "MaxPoolExtended")
def _pooling(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, _AVERAGES | _MAXIMA)
    average = isinstance(op, _AVERAGES)
    shape = call.shape(0)
    if isinstance(op, pooling.AvgPoolExtended | pooling.MaxPoolExtended) and max(op.dilation or (1,)) > 1:
        raise NoGradientError("the gradient of dilated pooling is not supported")
    kernel, strides = _pair(op.kernel_size), _pair(op.strides)
    mode, pads = op.pad_mode, (*(op.pad or (0, 0, 0, 0)),)
    if getattr(op, "global_", False):
        kernel, strides, mode = (shape[1], shape[2]), (1, 1), PadMode.VALID
    if mode is not PadMode.PAD:
        x, y = call.node.inputs[0], call.node.output
        return [_gradient(call, average, kernel, strides, mode, [x, y, dy], shape, "x")]
    begin = (pads[0], pads[2])
    end = tuple(
        max(0, (count - 1) * step + size - before - length)
        for count, step, size, before, length in zip(shape_of(dy)[1:3], strides, kernel, begin, shape[1:3], strict=True)
    )  # up to the end of the last window, which may exceed the padding (ceil mode)
    x = _padded(call, begin, (end[0], end[1]), 0.0 if average else _LOWEST)
    if average:
        counted = (pads[1], pads[3]) if getattr(op, "count_include_pad", False) else None
        share = _share(shape, shape_of(dy), kernel, strides, begin, counted)
        if (share != 1).any():
            dy = call.product("shared", dy, call.build.constant(call.name("share"), share))
    whole = _gradient(call, average, kernel, strides, PadMode.VALID, [x, call.node.output, dy], shape_of(x), "padded/x")
    if shape_of(x) == shape:
        return [whole]
    return [call.build.slice(whole, (0, *begin, 0), shape, call.name("x"))]


def _pair(sizes: tuple[int, ...] | None) -> _Pair:
    return (sizes[0], sizes[1]) if sizes else (1, 1)


def _gradient(
    call: Call,
    average: bool,
    kernel: _Pair,
    strides: _Pair,
    mode: PadMode,
    inputs: list[Value],
    shape: Shape,
    what: str,
) -> Value:
    kind = training.AvgPoolGrad if average else training.MaxPoolGrad
    op: Operator = kind(kernel_size=kernel, strides=strides, pad_mode=mode, format=Format.NHWC)
    return call.add(op, what, inputs, shape)


def _padded(call: Call, begin: _Pair, end: _Pair, value: float) -> Value:
    x, shape = call.node.inputs[0], call.shape(0)
    if begin == end == (0, 0):
        return x
    sizes = np.asarray([(0, 0), (begin[0], end[0]), (begin[1], end[1]), (0, 0)], np.int32)
    paddings = call.build.constant(call.name("paddings"), sizes)
    larger = (shape[0], *(begin[i] + shape[1 + i] + end[i] for i in range(2)), shape[3])
    op = PadFusion(padding_mode=PaddingMode.CONSTANT, constant_value=value)
    return call.add(op, "padded", [x, paddings], larger)


def _share(shape: Shape, result: Shape, kernel: _Pair, strides: _Pair, begin: _Pair, counted: _Pair | None) -> Array:
    """Returns [1, h, w, 1]: the ratio of the kernel size to the number of elements that each average is divided by.

    These are the elements within x, and in the padding up to `counted` after x if it is given."""
    ends = []
    for axis in range(2):
        first = np.arange(result[1 + axis]) * strides[axis] - begin[axis]
        low, high = (-begin[axis], shape[1 + axis] + counted[axis]) if counted else (0, shape[1 + axis])
        inside = np.minimum(first + kernel[axis], high) - np.maximum(first, low)
        ends.append(kernel[axis] / np.maximum(inside, 1))
    return np.asarray(ends[0][None, :, None, None] * ends[1][None, None, :, None], np.float32)

"""Decompositions of pooling with dilation, or with padding that is included in averages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import Maximum, MulFusion
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, Format, PadMode, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolExtended, AvgPoolFusion, MaxPoolExtended, MaxPoolFusion
from mslite.converter.passes.target.decompositions.dynamic_reshape import known_shape
from mslite.converter.passes.target.decompositions.float_arithmetic import REMEDY, activation, require_float
from mslite.converter.passes.target.writer import Writer, decomposes

_MAX_TAPS = 64
_MIN = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class _Windows:
    """The windows along one dimension."""

    size: int
    count: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def added(self) -> int:
        """Elements that must be added after the last element to complete the last window."""
        reach = (self.count - 1) * self.stride + (self.kernel - 1) * self.dilation + 1
        return max(reach - self.size - self.before, 0)

    def taps(self, with_padding: bool) -> npt.NDArray[np.float64]:
        """Returns the number of elements that are averaged in each window."""
        places = np.arange(self.count)[:, None] * self.stride + np.arange(self.kernel) * self.dilation - self.before
        first, last = (-self.before, self.size + self.after) if with_padding else (0, self.size)
        counted: npt.NDArray[np.float64] = np.sum((places >= first) & (places < last), 1, dtype=np.float64)
        return counted


def _windows(node: Node) -> list[_Windows]:
    """Returns the windows of height and width. Raises Blocked for dynamic dimensions."""
    op = node.op
    assert isinstance(op, AvgPoolExtended | MaxPoolExtended)
    x, y = known_shape(node.inputs[0]), known_shape(node.outputs[0])
    if any(size < 0 for size in (*x[1:], *y[1:])) or op.kernel_size is None:
        raise Blocked("the size of its images is unknown", "Fix the input shapes with --inputShape")
    result = []
    for i in range(2):
        stride, dilation = (op.strides or (1, 1))[i], (op.dilation or (1, 1))[i]
        before, after = (op.pad or (0, 0, 0, 0))[2 * i : 2 * i + 2]
        if op.pad_mode is not PadMode.PAD:
            reach = (y[1 + i] - 1) * stride + (op.kernel_size[i] - 1) * dilation + 1
            total = max(reach - x[1 + i], 0) if op.pad_mode is PadMode.SAME else 0
            before, after = total // 2, total - total // 2
        result.append(_Windows(x[1 + i], y[1 + i], op.kernel_size[i], stride, dilation, before, after))
    return result


def _padded(x: Value, windows: Sequence[_Windows], filling: float, writer: Writer) -> Value:
    borders = [[0, 0], *([one.before, one.added] for one in windows), [0, 0]]
    if not np.any(borders):
        return x
    return writer.emit(PadFusion(constant_value=filling), x, writer.const(borders, np.int32, name="borders"))


def _activated(y: Value, kind: ActivationType, writer: Writer) -> Value:
    return y if kind is ActivationType.NO_ACTIVATION else activation(kind, y, writer)


@decomposes("AvgPoolExtended")
def average(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers average pooling to a depthwise convolution with ones, divided by the number of elements."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, AvgPoolExtended)
    require_float(x)
    windows = _windows(node)
    channels = known_shape(x)[3]
    kernel = [one.kernel for one in windows]
    ones = writer.const(np.ones((channels, *kernel, 1)), name="ones")
    ones.format = Format.NHWC
    sums = Conv2DFusion(
        format=Format.NHWC,
        kernel_size=tuple(kernel),
        stride=tuple(one.stride for one in windows),
        dilation=tuple(one.dilation for one in windows),
        pad_list=(0, 0, 0, 0),
        mode=1,
        group=channels,
        in_channel=channels,
        out_channel=channels,
    )
    y = writer.emit(sums, _padded(x, windows, 0, writer), ones)
    rows, columns = (one.taps(op.count_include_pad) for one in windows)
    shares = 1 / np.maximum(np.outer(rows, columns), 1)
    y = writer.emit(MulFusion(), y, writer.const(shares[None, :, :, None], name="shares"))
    return [_activated(y, op.activation_type, writer)]


@decomposes("MaxPoolExtended")
def maximum(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers max pooling to the maximum of strided slices, one for each element of the window."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, MaxPoolExtended)
    require_float(x)
    windows = _windows(node)
    if math.prod(one.kernel for one in windows) > _MAX_TAPS:
        raise Blocked(f"its windows have more than {_MAX_TAPS} elements", REMEDY)
    padded = _padded(x, windows, _MIN, writer)
    batch, _, _, channels = known_shape(x)
    if batch < 0:
        raise Blocked("its batch size is unknown", "Fix the input shapes with --inputShape")
    strides = writer.ints(1, *(one.stride for one in windows), 1)
    y = None
    for tap in np.ndindex(*(one.kernel for one in windows)):
        first = [one.dilation * place for one, place in zip(windows, tap, strict=True)]
        last = [begin + (one.count - 1) * one.stride + 1 for one, begin in zip(windows, first, strict=True)]
        begin, end = writer.ints(0, *first, 0), writer.ints(batch, *last, channels)
        slice_of = writer.emit(StridedSlice(), padded, begin, end, strides)
        y = slice_of if y is None else writer.emit(Maximum(), y, slice_of)
    assert y is not None
    return [_activated(y, op.activation_type, writer)]


@decomposes("AvgPoolFusion MaxPoolFusion")
def counted_windows(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers pooling with another number of windows in the version: pads the input first."""
    op = node.op
    assert isinstance(op, AvgPoolFusion | MaxPoolFusion)
    if op.global_ or op.round_mode is not RoundMode.CEIL or node.inputs[0].quant:
        return None
    general: Operator = (AvgPoolExtended if isinstance(op, AvgPoolFusion) else MaxPoolExtended)(
        kernel_size=op.kernel_size,
        strides=op.strides,
        pad=op.pad,
        pad_mode=op.pad_mode,
        round_mode=op.round_mode,
        format=op.format,
        activation_type=op.activation_type,
    )
    return [writer.emit(general, *node.inputs)]

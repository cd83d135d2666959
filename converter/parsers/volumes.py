"""Builds 3-D convolutions and pooling of [N, D, H, W, C] from 2-D ones, for all parsers. Only N may be dynamic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import Format, PaddingMode, PadMode
from mslite.converter.mindir.ops.rearrange import Reshape, Squeeze, Transpose

TO_CHANNELS_LAST = (0, 2, 3, 4, 1)
"""[N, C, D, H, W] -> [N, D, H, W, C]"""
TO_CHANNELS_FIRST = (0, 4, 1, 2, 3)

_Triple = tuple[int, ...]
_MAX_SIZE = 2**31 - 1


class Emitter(Protocol):
    """The methods of a parser's calls that this module needs."""

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike = ..., /) -> Value: ...
    def ints(self, data: Sequence[int]) -> Value: ...
    def emit(self, op: Operator, *inputs: Value) -> Value: ...
    def block(self, reason: str, remedy: str) -> Exception: ...


@dataclass(frozen=True)
class Window2D:
    """A 2-D window [height, width]; `pads` is [top, bottom, left, right]."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pads: tuple[int, int, int, int]


@dataclass(frozen=True)
class Window3D:
    """A 3-D window. Lists are [depth, height, width]; `begin` and `end` are the padding."""

    kernel: _Triple
    stride: _Triple
    dilation: _Triple
    begin: _Triple
    end: _Triple

    def reach(self, axis: int) -> int:
        """Returns the extent of the dilated kernel."""
        return (self.kernel[axis] - 1) * self.dilation[axis] + 1

    def output(self, sizes: Sequence[int]) -> _Triple:
        """Returns the output sizes of a convolution."""
        padded = [size + begin + end for size, begin, end in zip(sizes, self.begin, self.end, strict=True)]
        return tuple((size - self.reach(axis)) // self.stride[axis] + 1 for axis, size in enumerate(padded))

    def output_of_parts(self, sizes: Sequence[int]) -> _Triple:
        """Returns the output sizes of pooling with windows that begin before the end padding and may extend past it."""
        counts = []
        for axis, size in enumerate(sizes):
            stride, before = self.stride[axis], size + self.begin[axis]
            count = -(-(before + self.end[axis] - self.reach(axis)) // stride) + 1
            counts.append(min(count, -(-before // stride)))
        return tuple(counts)

    def whole(self, sizes: Sequence[int]) -> Window3D:
        """Returns a window with more padding at the end, so that all windows of `output_of_parts` are complete."""
        counts = self.output_of_parts(sizes)
        end = (
            max(0, (count - 1) * self.stride[axis] + self.reach(axis) - sizes[axis] - self.begin[axis])
            for axis, count in enumerate(counts)
        )
        return replace(self, end=tuple(end))

    def transposed_output(self, sizes: Sequence[int], extra: Sequence[int]) -> _Triple:
        """Returns the output sizes of a transposed convolution; `extra` is the output padding."""
        return tuple(
            self.stride[axis] * (size - 1) + self.reach(axis) + extra[axis] - self.begin[axis] - self.end[axis]
            for axis, size in enumerate(sizes)
        )

    def image(self) -> Window2D:
        """Returns the window over height and width."""
        _, height, width = zip(self.begin, self.end, strict=True)
        return Window2D(
            (self.kernel[1], self.kernel[2]),
            (self.stride[1], self.stride[2]),
            (self.dilation[1], self.dilation[2]),
            (*height, *width),
        )

    def column(self) -> Window2D:
        """Returns the window over the depth, as [depth, 1]."""
        return Window2D(
            (self.kernel[0], 1), (self.stride[0], 1), (self.dilation[0], 1), (self.begin[0], self.end[0], 0, 0)
        )


def same_padding(
    sizes: Sequence[int], kernel: _Triple, stride: _Triple, dilation: _Triple, more_before: bool = False
) -> Window3D:
    """Returns a window with output sizes ceil(size / stride); an odd padding is larger at the end, or at the begin."""
    begin, end = [], []
    for size, extent, step, spread in zip(sizes, kernel, stride, dilation, strict=True):
        total = max(0, (-(-size // step) - 1) * step + (extent - 1) * spread + 1 - size)
        begin.append(total - total // 2 if more_before else total // 2)
        end.append(total - begin[-1])
    return Window3D(kernel, stride, dilation, tuple(begin), tuple(end))


@dataclass(frozen=True)
class Kernel:
    """The weights of a 3-D convolution."""

    layers: Sequence[Value]
    """2-D weights per depth of the kernel, in MindIR's layout (transposed convolution: [in, kh, kw, out / group])."""
    group: int
    inputs: int
    outputs: int


def kernel_layers(call: Emitter, weight: Value | Array, order: Sequence[int], depths: int) -> list[Value]:
    """Splits a weight into one 2-D weight per depth.

    `order`: the indices of these dimensions in the weight: depth, first (out; in for transposed), height, width,
    second.
    """
    data = weight.data if isinstance(weight, Value) else weight
    if data is not None:
        return [call.const(np.ascontiguousarray(layer), layer.dtype) for layer in data.transpose(tuple(order))]
    assert isinstance(weight, Value)
    ordered = call.emit(Transpose(), weight, call.ints(tuple(order)))
    cuts = [_cut(call, ordered, 0, depth, depth + 1) for depth in range(depths)]
    return [call.emit(Squeeze(axis=(0,)), cut) for cut in cuts]


@dataclass(frozen=True)
class Builder3D:
    """Builds 3-D operators in a graph whose 2-D operators have this layout."""

    call: Emitter
    layout: Format

    def channels_last(self, x: Value) -> Value:
        return self.call.emit(Transpose(), x, self.call.ints(TO_CHANNELS_LAST))

    def channels_first(self, x: Value) -> Value:
        return self.call.emit(Transpose(), x, self.call.ints(TO_CHANNELS_FIRST))

    def _check(self, window: Window3D, *sizes: int) -> None:
        """Raises the parser's exception if a size does not fit int32."""
        reaches = (window.reach(axis) for axis in range(3))
        if max(*window.begin, *window.end, *reaches, *sizes) > _MAX_SIZE:
            raise self.call.block("the window or its padding is larger than 2^31 - 1", "Export the model again")

    def _on_image(self, image: Value, function: Callable[[Value], Value]) -> Value:
        """Applies `function`, which uses the graph's layout, to an NHWC tensor."""
        if self.layout is not Format.NCHW:
            return function(image)
        call = self.call
        first = call.emit(Transpose(), image, call.ints((0, 3, 1, 2)))
        return call.emit(Transpose(), function(first), call.ints((0, 2, 3, 1)))

    def pool(
        self,
        x: Value,
        shape: Sequence[int],
        window: Window3D,
        out: Sequence[int],
        pool: Callable[[Value, Window2D], Value],
    ) -> Value:
        """Pools a volume: first over each image, then over the depth. Correct for maxima and for averages over a box.

        `shape` is [depth, height, width, channels], `out` the output sizes; `pool` uses the graph's layout.
        """
        call, (d, h, w, c) = self.call, shape
        self._check(window, h, w, c, out[1] * out[2])
        images = call.emit(Reshape(), x, call.ints((-1, h, w, c)))
        pooled = self._on_image(images, lambda image: pool(image, window.image()))
        columns = call.emit(Reshape(), pooled, call.ints((-1, d, out[1] * out[2], c)))
        pooled = self._on_image(columns, lambda image: pool(image, window.column()))
        return call.emit(Reshape(), pooled, call.ints((-1, *out, c)))

    def convolution(
        self, x: Value, sizes: Sequence[int], window: Window3D, kernel: Kernel, bias: Value | None = None
    ) -> Value:
        """Sums 2-D convolutions, one per depth of the kernel, of the input slices at this depth."""
        call, (_, h, w), flat, out = self.call, sizes, window.image(), window.output(sizes)
        self._check(window)
        x = _padded(call, x, 5, 1, window.begin[0], window.end[0])
        op = Conv2DFusion(
            format=self.layout,
            kernel_size=flat.kernel,
            stride=flat.stride,
            dilation=flat.dilation,
            pad_mode=PadMode.PAD,
            pad_list=flat.pads,
            mode=1,
            group=kernel.group,
            in_channel=kernel.inputs,
            out_channel=kernel.outputs,
        )
        total: Value | None = None
        for depth, layer in enumerate(kernel.layers):
            start = depth * window.dilation[0]
            part = _cut(call, x, 1, start, start + (out[0] - 1) * window.stride[0] + 1, window.stride[0])
            images = call.emit(Reshape(), part, call.ints((-1, h, w, kernel.inputs)))
            total = self._added(total, op, images, layer, bias)
        assert total is not None
        return call.emit(Reshape(), total, call.ints((-1, *out, kernel.outputs)))

    def _added(self, total: Value | None, op: Operator, images: Value, layer: Value, bias: Value | None) -> Value:
        """Adds one more convolution to the sum; the first one adds the bias."""
        operands = (layer,) if bias is None or total is not None else (layer, bias)
        result = self._on_image(images, lambda image: self.call.emit(op, image, *operands))
        return result if total is None else self.call.emit(AddFusion(), total, result)

    def transposed(
        self,
        x: Value,
        sizes: Sequence[int],
        window: Window3D,
        kernel: Kernel,
        extra: Sequence[int],
        bias: Value | None = None,
    ) -> Value:
        """Sums 2-D transposed convolutions, one per depth of the kernel, shifted along the depth by zero padding.

        `extra` is the output padding; the output sizes must be positive.
        """
        call, (d, h, w), flat = self.call, sizes, window.image()
        stride, dilation, out = window.stride[0], window.dilation[0], window.transposed_output(sizes, extra)
        plane = kernel.outputs * out[1] * out[2]
        self._check(window, *out, plane, d * stride)
        op = Conv2dTransposeFusion(
            format=self.layout,
            kernel_size=flat.kernel,
            stride=flat.stride,
            dilation=flat.dilation,
            pad_mode=PadMode.PAD,
            pad_list=flat.pads,
            mode=1,
            group=kernel.group,
            in_channel=kernel.inputs,
            out_channel=kernel.outputs,
            output_paddings=tuple(extra[1:]),
        )
        images = call.emit(Reshape(), x, call.ints((-1, h, w, kernel.inputs)))
        spread = (d - 1) * stride + 1
        whole = out[0] + window.begin[0] + window.end[0]
        total: Value | None = None
        for depth, layer in enumerate(kernel.layers):
            rows = self._added(None, op, images, layer, None)
            rows = call.emit(Reshape(), rows, call.ints((-1, d, 1, plane)))
            rows = _padded(call, rows, 4, 2, 0, stride - 1)
            rows = call.emit(Reshape(), rows, call.ints((-1, d * stride, plane)))
            rows = _cut(call, rows, 1, 0, spread)
            rows = _padded(call, rows, 3, 1, depth * dilation, whole - spread - depth * dilation)
            total = rows if total is None else call.emit(AddFusion(), total, rows)
        assert total is not None
        total = _cut(call, total, 1, window.begin[0], window.begin[0] + out[0])
        result = call.emit(Reshape(), total, call.ints((-1, *out, kernel.outputs)))
        return result if bias is None else call.emit(AddFusion(), result, bias)


def _padded(call: Emitter, x: Value, rank: int, axis: int, before: int, after: int) -> Value:
    """Pads one dimension with zeros."""
    if before == 0 and after == 0:
        return x
    rows = np.zeros((rank, 2), np.int32)
    rows[axis] = (before, after)
    return call.emit(PadFusion(padding_mode=PaddingMode.CONSTANT), x, call.const(rows, np.int32))


def _cut(call: Emitter, x: Value, axis: int, begin: int, end: int, step: int = 1) -> Value:
    return call.emit(StridedSlice(), x, *(call.ints((number,)) for number in (begin, end, axis, step)))

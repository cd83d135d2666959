"""Morphological dilation of images, lowered to maxima of shifted images."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.enums import DataType, PaddingMode

from .call import Call
from .registry import tf_operator

_LOWEST = float(np.finfo(np.float32).min)
_MAX_TAPS = 1024


def _pair(call: Call, name: str) -> tuple[int, int]:
    batch, height, width, depth = call.integers(name, (1, 1, 1, 1))
    if (batch, depth) != (1, 1) or not (1 <= height < 2**31 and 1 <= width < 2**31):
        raise call.block(f"{[batch, height, width, depth]} is not 1, height, width, 1", attribute=name)
    return height, width


def _same_pads(call: Call, x: Value, spans: tuple[int, ...], strides: tuple[int, int]) -> list[tuple[int, int]]:
    """Returns the padding for ceil(size / stride) windows; an odd one is added at the end."""
    pads = []
    for i in range(2):
        total = spans[i] - 1
        if strides[i] > 1:
            size = call.require_size(x, 1 + i, "SAME padding with strides")
            total = max(0, (-(-size // strides[i]) - 1) * strides[i] + spans[i] - size)
        pads.append((total // 2, total - total // 2))
    return pads


@tf_operator("Dilation2D")
def dilation(call: Call) -> Value:
    """Converts Dilation2D: max over taps of x[row * stride + tap * rate] + filter[tap], [batch, height, width, depth].

    Taps outside the image are ignored: the padding value is the lowest float32.
    """
    x, taps = call.inputs(0, 2)
    strides, rates = _pair(call, "strides"), _pair(call, "rates")
    shape = call.require_shape(taps, "a dilation")
    if x.dtype is not DataType.FLOAT32 or len(shape) != 3 or min(shape) < 1 or call.require_rank(x) != 4:
        raise call.block(
            "only float32 images [batch, height, width, depth] and filters with three dimensions are supported"
        )
    if shape[0] * shape[1] > _MAX_TAPS:
        raise call.block(
            f"the filter has {shape[0] * shape[1]} taps; {_MAX_TAPS} are supported", "Use a smaller filter"
        )
    spans = tuple((size - 1) * rate + 1 for size, rate in zip(shape[:2], rates, strict=True))
    padding = call.text("padding")
    if padding not in ("SAME", "VALID"):
        raise call.block(f"the padding '{padding}' is unknown", "Use SAME or VALID", "padding")
    if padding == "SAME" and spans != (1, 1):
        pads = _same_pads(call, x, spans, strides)
        op = PadFusion(padding_mode=PaddingMode.CONSTANT, constant_value=_LOWEST)
        x = call.emit(op, x, call.ints([(0, 0), *pads, (0, 0)]))
    result: Value | None = None
    for place in np.ndindex(shape[0], shape[1]):
        begin = [at * rate for at, rate in zip(place, rates, strict=True)]
        behind = [span - 1 - first for span, first in zip(spans, begin, strict=True)]
        open_ends = 0b1001 | sum(2 << i for i in range(2) if behind[i] == 0)
        part = call.emit(
            StridedSlice(begin_mask=0b1001, end_mask=open_ends),
            x,
            call.ints([0, *begin, 0]),
            call.ints([0, *(-count for count in behind), 0]),
            call.ints([1, *strides, 1]),
        )
        weights = call.emit(
            StridedSlice(shrink_axis_mask=0b011, end_mask=0b100),
            taps,
            call.ints([*place, 0]),
            call.ints([place[0] + 1, place[1] + 1, 0]),
            call.ints([1, 1, 1]),
        )
        moved = call.emit(AddFusion(), part, weights)
        result = moved if result is None else call.emit(Maximum(), result, moved)
    assert result is not None
    return result

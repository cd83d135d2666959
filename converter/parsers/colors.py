"""Hue and saturation of RGB images, with the channels in the last dimension, for all parsers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, FloorMod, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.comparison import Equal, Greater, Where
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Abs, Clip


class Emitter(Protocol):
    """The methods of a parser's calls that this module needs."""

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike = ..., /) -> Value: ...
    def ints(self, data: npt.ArrayLike, /) -> Value: ...
    def emit(self, op: Operator, *inputs: Value) -> Value: ...


def _channels(call: Emitter, x: Value, rank: int) -> list[Value]:
    """Returns the three channels, each with size 1 in the last dimension."""
    size = call.ints((*[-1] * (rank - 1), 1))
    op = SliceFusion(axes=tuple(range(rank)))
    return [call.emit(op, x, call.ints((*[0] * (rank - 1), place)), size) for place in range(3)]


def _each(call: Emitter, numbers: tuple[int, int, int]) -> Value:
    """Returns a constant with one value per channel."""
    return call.const(numbers, np.float32)


def _one(call: Emitter, number: float) -> Value:
    return call.const(number, np.float32)


def _hue(call: Emitter, x: Value, rank: int) -> tuple[Value, Value, Value]:
    """Returns the hue in [0, 1), the largest channel, and the difference of the largest and smallest channel."""
    red, green, _ = _channels(call, x, rank)
    axis = call.ints((rank - 1,))
    largest = call.emit(ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceMax, coeff=1.0), x, axis)
    smallest = call.emit(ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceMin, coeff=1.0), x, axis)
    spread = call.emit(SubFusion(), largest, smallest)
    following, preceding = (call.emit(Gather(), x, call.ints(order), axis) for order in ((1, 2, 0), (2, 0, 1)))
    slopes = call.emit(DivFusion(), call.emit(SubFusion(), following, preceding), spread)
    sixths = call.emit(AddFusion(), slopes, _each(call, (0, 2, 4)))
    of_red, of_green, of_blue = _channels(call, sixths, rank)
    others = call.emit(Where(), call.emit(Equal(), green, largest), of_green, of_blue)
    chosen = call.emit(Where(), call.emit(Equal(), red, largest), of_red, others)
    colored = call.emit(Greater(), spread, _one(call, 0))
    hue = call.emit(MulFusion(), call.emit(Where(), colored, chosen, _one(call, 0)), _one(call, 1 / 6))
    return _wrapped(call, hue), largest, spread


def _wrapped(call: Emitter, hue: Value) -> Value:
    return call.emit(FloorMod(), hue, _one(call, 1))


def _shares(call: Emitter, hue: Value) -> Value:
    """Returns red, green and blue of a hue, each in [0, 1]."""
    sixths = call.emit(MulFusion(), hue, _one(call, 6))
    distance = call.emit(Abs(), call.emit(SubFusion(), sixths, _each(call, (3, 2, 4))))
    signed = call.emit(MulFusion(), distance, _each(call, (1, -1, -1)))
    shares = call.emit(AddFusion(), signed, _each(call, (-1, 2, 2)))
    return _limited(call, shares)


def _limited(call: Emitter, x: Value) -> Value:
    """Clips to [0, 1]."""
    return call.emit(Clip(min=0.0, max=1.0), x)


def _saturation(call: Emitter, largest: Value, spread: Value) -> Value:
    positive = call.emit(Greater(), largest, _one(call, 0))
    return call.emit(Where(), positive, call.emit(DivFusion(), spread, largest), _one(call, 0))


def _from_hsv(call: Emitter, hue: Value, saturation: Value, value: Value) -> Value:
    """Returns (1 - saturation + saturation * share) * value."""
    missing = call.emit(SubFusion(), _shares(call, hue), _one(call, 1))
    mixed = call.emit(AddFusion(), call.emit(MulFusion(), missing, saturation), _one(call, 1))
    return call.emit(MulFusion(), mixed, value)


def rgb_to_hsv(call: Emitter, x: Value, rank: int) -> Value:
    hue, largest, spread = _hue(call, x, rank)
    return call.emit(Concat(axis=rank - 1), hue, _saturation(call, largest, spread), largest)


def hsv_to_rgb(call: Emitter, x: Value, rank: int) -> Value:
    return _from_hsv(call, *_channels(call, x, rank))


def adjust_hue(call: Emitter, x: Value, rank: int, turn: Value) -> Value:
    """Adds `turn` to the hue; keeps the largest and the smallest channel."""
    hue, largest, spread = _hue(call, x, rank)
    turned = _wrapped(call, call.emit(AddFusion(), hue, turn))
    missing = call.emit(SubFusion(), _shares(call, turned), _one(call, 1))
    return call.emit(AddFusion(), call.emit(MulFusion(), missing, spread), largest)


def adjust_saturation(call: Emitter, x: Value, rank: int, factor: Value) -> Value:
    hue, largest, spread = _hue(call, x, rank)
    saturation = call.emit(MulFusion(), _saturation(call, largest, spread), factor)
    return _from_hsv(call, hue, _limited(call, saturation), largest)

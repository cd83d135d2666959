"""Hue and saturation of images whose last dimension is red, green and blue."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, FloorMod, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.comparison import Equal, Greater, Where
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Abs, Clip

from .call import Call
from .registry import tf_operator


def _channels(call: Call, x: Value) -> list[Value]:
    """The three channels, each with one element in the last dimension."""
    rank = call.require_rank(x)
    if rank < 1 or call.require_size(x, rank - 1, "taking an image apart into colours") != 3:
        raise call.block(f"the last dimension of '{x.name}' is not red, green and blue")
    size = call.ints((*[-1] * (rank - 1), 1))
    op = SliceFusion(axes=tuple(range(rank)))
    return [call.emit(op, x, call.ints((*[0] * (rank - 1), place)), size) for place in range(3)]


def _each(call: Call, numbers: tuple[int, int, int], like: Value) -> Value:
    """One number for each channel."""
    return call.const(numbers, numpy_type(like.dtype))


def _hue(call: Call, x: Value) -> tuple[Value, Value, Value]:
    """The hue in [0, 1), the largest channel, and its distance from the smallest one."""
    red, green, _ = _channels(call, x)
    axis = call.ints((call.require_rank(x) - 1,))
    largest = call.emit(ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceMax, coeff=1.0), x, axis)
    smallest = call.emit(ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceMin, coeff=1.0), x, axis)
    spread = call.emit(SubFusion(), largest, smallest)
    following, preceding = (call.emit(Gather(), x, call.ints(order), axis) for order in ((1, 2, 0), (2, 0, 1)))
    slopes = call.emit(DivFusion(), call.emit(SubFusion(), following, preceding), spread)
    sixths = call.emit(AddFusion(), slopes, _each(call, (0, 2, 4), x))
    of_red, of_green, of_blue = _channels(call, sixths)
    others = call.emit(Where(), call.emit(Equal(), green, largest), of_green, of_blue)
    chosen = call.emit(Where(), call.emit(Equal(), red, largest), of_red, others)
    coloured = call.emit(Greater(), spread, call.like(0, spread))
    hue = call.emit(MulFusion(), call.emit(Where(), coloured, chosen, call.like(0, chosen)), call.like(1 / 6, chosen))
    return _wrapped(call, hue), largest, spread


def _wrapped(call: Call, hue: Value) -> Value:
    return call.emit(FloorMod(), hue, call.like(1, hue))


def _shares(call: Call, hue: Value) -> Value:
    """How much of red, green and blue a hue has, each in [0, 1]."""
    sixths = call.emit(MulFusion(), hue, call.like(6, hue))
    distance = call.emit(Abs(), call.emit(SubFusion(), sixths, _each(call, (3, 2, 4), hue)))
    signed = call.emit(MulFusion(), distance, _each(call, (1, -1, -1), hue))
    shares = call.emit(AddFusion(), signed, _each(call, (-1, 2, 2), hue))
    return _limited(call, shares)


def _limited(call: Call, x: Value) -> Value:
    """Limited to [0, 1]."""
    return call.emit(Clip(min=0.0, max=1.0), x)


def _saturation(call: Call, largest: Value, spread: Value) -> Value:
    positive = call.emit(Greater(), largest, call.like(0, largest))
    return call.emit(Where(), positive, call.emit(DivFusion(), spread, largest), call.like(0, spread))


def _from_hsv(call: Call, hue: Value, saturation: Value, value: Value) -> Value:
    """(1 - saturation + saturation * share) * value"""
    missing = call.emit(SubFusion(), _shares(call, hue), call.like(1, hue))
    mixed = call.emit(AddFusion(), call.emit(MulFusion(), missing, saturation), call.like(1, hue))
    return call.emit(MulFusion(), mixed, value)


@tf_operator("RGBToHSV")
def rgb_to_hsv(call: Call) -> Value:
    x = call.input(0)
    hue, largest, spread = _hue(call, x)
    return call.emit(Concat(axis=call.require_rank(x) - 1), hue, _saturation(call, largest, spread), largest)


@tf_operator("HSVToRGB")
def hsv_to_rgb(call: Call) -> Value:
    return _from_hsv(call, *_channels(call, call.input(0)))


@tf_operator("AdjustHue")
def adjust_hue(call: Call) -> Value:
    """Inputs images, what is added to the hue: the largest and the smallest channel stay."""
    hue, largest, spread = _hue(call, call.input(0))
    turned = _wrapped(call, call.emit(AddFusion(), hue, call.input(1)))
    missing = call.emit(SubFusion(), _shares(call, turned), call.like(1, hue))
    return call.emit(AddFusion(), call.emit(MulFusion(), missing, spread), largest)


@tf_operator("AdjustSaturation")
def adjust_saturation(call: Call) -> Value:
    """Inputs images, the factor of the saturation."""
    hue, largest, spread = _hue(call, call.input(0))
    saturation = call.emit(MulFusion(), _saturation(call, largest, spread), call.input(1))
    return _from_hsv(call, hue, _limited(call, saturation), largest)

"""Hue and saturation of images whose last dimension is red, green and blue."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.parsers import colors

from .call import Call
from .registry import tf_operator


def _image(call: Call) -> tuple[Value, int]:
    """The image and how many dimensions it has."""
    x = call.input(0)
    rank = call.require_rank(x)
    if rank < 1 or call.require_size(x, rank - 1, "taking an image apart into colors") != 3:
        raise call.block(f"the last dimension of '{x.name}' is not red, green and blue")
    return x, rank


@tf_operator("RGBToHSV")
def rgb_to_hsv(call: Call) -> Value:
    return colors.rgb_to_hsv(call, *_image(call))


@tf_operator("HSVToRGB")
def hsv_to_rgb(call: Call) -> Value:
    return colors.hsv_to_rgb(call, *_image(call))


@tf_operator("AdjustHue")
def adjust_hue(call: Call) -> Value:
    """Inputs images, what is added to the hue."""
    return colors.adjust_hue(call, *_image(call), call.input(1))


@tf_operator("AdjustSaturation")
def adjust_saturation(call: Call) -> Value:
    """Inputs images, the factor of the saturation."""
    return colors.adjust_saturation(call, *_image(call), call.input(1))

"""Hue and saturation of images; the last dimension is red, green, blue."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.parsers import colors

from .call import Call
from .registry import tf_operator


def _image(call: Call) -> tuple[Value, int]:
    """Returns the image and its rank. Raises Blocked if the last dimension is not 3."""
    x = call.input(0)
    rank = call.require_rank(x)
    if rank < 1 or call.require_size(x, rank - 1, "a conversion of colors") != 3:
        raise call.block(f"the last dimension of '{x.name}' is not 3 (red, green, blue)")
    return x, rank


@tf_operator("RGBToHSV")
def rgb_to_hsv(call: Call) -> Value:
    return colors.rgb_to_hsv(call, *_image(call))


@tf_operator("HSVToRGB")
def hsv_to_rgb(call: Call) -> Value:
    return colors.hsv_to_rgb(call, *_image(call))


@tf_operator("AdjustHue")
def adjust_hue(call: Call) -> Value:
    """Converts AdjustHue. Its inputs are the images and the offset of the hue."""
    return colors.adjust_hue(call, *_image(call), call.input(1))


@tf_operator("AdjustSaturation")
def adjust_saturation(call: Call) -> Value:
    """Converts AdjustSaturation. Its inputs are the images and the factor of the saturation."""
    return colors.adjust_saturation(call, *_image(call), call.input(1))

"""Colors and contrast of images; the last dimension is red, green, blue."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.parsers import colors

from .call import Call
from .registry import primitive
from .statistics import reduced


def _image(call: Call) -> tuple[Value, int]:
    """Returns the image as float32, and its rank. Raises Blocked if the last dimension is not 3."""
    x = call.input(0)
    rank = call.rank(x)
    if call.size(x, rank - 1, "a conversion of colors") != 3:
        raise call.block(f"the last dimension of '{x.name}' is not 3 (red, green, blue)")
    return call.cast(x, DataType.FLOAT32), rank


_COLORS = "SliceFusion ReduceFusion Gather Concat FloorMod Where"


@primitive("RGBToHSV", operators=_COLORS, arguments="images")
def rgb_to_hsv(call: Call) -> Value:
    return call.cast(colors.rgb_to_hsv(call, *_image(call)), call.declared_type)


@primitive("HSVToRGB", operators=_COLORS, arguments="images")
def hsv_to_rgb(call: Call) -> Value:
    return call.cast(colors.hsv_to_rgb(call, *_image(call)), call.declared_type)


@primitive("AdjustHue", operators=_COLORS, arguments="image delta")
def adjust_hue(call: Call) -> Value:
    turn = call.cast(call.input(1), DataType.FLOAT32)
    return call.cast(colors.adjust_hue(call, *_image(call), turn), call.declared_type)


@primitive("AdjustSaturation", operators=_COLORS, arguments="image scale")
def adjust_saturation(call: Call) -> Value:
    factor = call.cast(call.input(1), DataType.FLOAT32)
    return call.cast(colors.adjust_saturation(call, *_image(call), factor), call.declared_type)


@primitive(
    "AdjustContrastv2", operators="ReduceFusion SubFusion MulFusion AddFusion", arguments="images contrast_factor"
)
def contrast(call: Call) -> Value:
    """Converts AdjustContrast: (x - mean) * factor + mean, with the mean of each channel of each image."""
    x, factor = call.input(0), call.input(1)
    rank = call.rank(x)
    mean = reduced(call, ReduceMode.ReduceMean, x, (rank - 3, rank - 2), True)
    return call.emit(AddFusion(), call.emit(MulFusion(), call.emit(SubFusion(), x, mean), factor), mean)

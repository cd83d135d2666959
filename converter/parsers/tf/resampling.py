"""Images resized by weights that are known when converting: a matrix for the rows and one for the columns."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.resampling import FILTERS, MOST_WEIGHTS, Matrix, area_weights, filter_weights, resampled

from .call import Call
from .registry import tf_operator


def _resampled(call: Call, matrices: list[Matrix]) -> Value:
    x = call.as_type(call.input(0), DataType.FLOAT32)
    return resampled(call, x, call.require_size(x, 3, "resizing"), *matrices)


def _sizes(call: Call) -> list[tuple[int, int]]:
    """Height and width: the size, and the new one."""
    x, new = call.input(0), call.require_integers(1, "the new size")
    if call.require_rank(x) != 4 or len(new) != 2:
        raise call.block(f"the size {list(new)} does not belong to images")
    old = [call.require_size(x, axis, "resizing") for axis in (1, 2)]
    for size, length in zip(old, new, strict=True):
        if min(size, length) < 1 or size * length > MOST_WEIGHTS:
            raise call.block(f"resizing {old} to {list(new)} is not possible, or too large")
    return list(zip(old, new, strict=True))


# ---- ResizeArea ----


@tf_operator("ResizeArea")
def area(call: Call) -> Value:
    """A result is the mean of what it covers."""
    corners = call.flag("align_corners")
    return _resampled(call, [area_weights(size, new, corners) for size, new in _sizes(call)])


# ---- ScaleAndTranslate ----


@tf_operator("ScaleAndTranslate")
def scale_and_translate(call: Call) -> Value:
    """Inputs images, size, scale, translation; tf.image.resize writes it with antialias, and for its other filters."""
    scale, shift = call.constant(2), call.constant(3)
    if scale is None or shift is None:
        raise call.block("the scale and the translation are computed at run time", "Give --inputShape")
    numbers = [float(number) for number in (*scale.ravel(), *shift.ravel())]
    if scale.shape != (2,) or shift.shape != (2,) or min(numbers[:2]) <= 0 or not np.isfinite(numbers).all():
        raise call.block("scale and translation are not two positive numbers and two numbers")
    name = call.text("kernel_type", "lanczos3")
    if name not in FILTERS:
        raise call.block(f"the filter '{name}' is unknown", attribute="kernel_type")
    smooth = call.flag("antialias", True)
    return _resampled(
        call,
        [
            filter_weights(size, new, factor, offset, smooth, FILTERS[name])
            for (size, new), factor, offset in zip(_sizes(call), scale, shift, strict=True)
        ],
    )

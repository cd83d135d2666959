"""Resizes with constant weights: a matmul for the rows and one for the columns."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.resampling import FILTERS, MAX_WEIGHTS, Matrix, area_weights, filter_weights, resampled

from .call import Call
from .registry import tf_operator


def _resampled(call: Call, matrices: list[Matrix]) -> Value:
    x = call.as_type(call.input(0), DataType.FLOAT32)
    return resampled(call, x, call.require_size(x, 3, "a resize"), *matrices)


def _sizes(call: Call) -> list[tuple[int, int]]:
    """Returns (old size, new size) of the height and the width. Raises Blocked."""
    x, new = call.input(0), call.require_integers(1, "the new size")
    if call.require_rank(x) != 4 or len(new) != 2:
        raise call.block(
            f"the input is not [batch, height, width, channels], or the size {list(new)} not [height, width]"
        )
    old = [call.require_size(x, axis, "a resize") for axis in (1, 2)]
    for size, length in zip(old, new, strict=True):
        if min(size, length) < 1 or size * length > MAX_WEIGHTS:
            raise call.block(f"a resize of {old} to {list(new)} is not valid, or needs too many weights")
    return list(zip(old, new, strict=True))


# ---- ResizeArea ----


@tf_operator("ResizeArea")
def area(call: Call) -> Value:
    """Converts ResizeArea: each pixel of the result is the mean of the input area that it covers."""
    corners = call.flag("align_corners")
    return _resampled(call, [area_weights(size, new, corners) for size, new in _sizes(call)])


# ---- ScaleAndTranslate ----


@tf_operator("ScaleAndTranslate")
def scale_and_translate(call: Call) -> Value:
    """Converts ScaleAndTranslate, which tf.image.resize uses with antialias and for some filters. Its inputs are
    images, size, scale, translation."""
    scale, shift = call.constant(2), call.constant(3)
    if scale is None or shift is None:
        raise call.block("the scale and the translation are computed at run time", "Set --inputShape")
    numbers = [float(number) for number in (*scale.ravel(), *shift.ravel())]
    if scale.shape != (2,) or shift.shape != (2,) or min(numbers[:2]) <= 0 or not np.isfinite(numbers).all():
        raise call.block("scale must be two positive numbers, and translation two finite numbers")
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

"""Images resized by weights that are known when converting: a matrix for the rows and one for the columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape

from .call import Call
from .registry import tf_operator

_MOST_WEIGHTS = 1 << 24

Matrix = npt.NDArray[np.float32]
_Function = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]


def _resampled(call: Call, matrices: list[Matrix]) -> Value:
    """`matrices` [new size, size] of height and width, applied to input 0 in NHWC."""
    x = call.as_type(call.input(0), DataType.FLOAT32)
    rows, columns = matrices
    channels = call.require_size(x, 3, "resizing")
    flat = call.emit(Reshape(), x, call.ints((-1, rows.shape[1], columns.shape[1] * channels)))
    high = call.emit(MatMulFusion(), call.const(rows), flat)
    lines = call.emit(Reshape(), high, call.ints((-1, columns.shape[1], channels)))
    wide = call.emit(MatMulFusion(), call.const(columns), lines)
    return call.emit(Reshape(), wide, call.ints((-1, rows.shape[0], columns.shape[0], channels)))


def _sizes(call: Call) -> list[tuple[int, int]]:
    """Height and width: the size, and the new one."""
    x, new = call.input(0), call.require_integers(1, "the new size")
    if call.require_rank(x) != 4 or len(new) != 2:
        raise call.block(f"the size {list(new)} does not belong to images")
    old = [call.require_size(x, axis, "resizing") for axis in (1, 2)]
    for size, length in zip(old, new, strict=True):
        if min(size, length) < 1 or size * length > _MOST_WEIGHTS:
            raise call.block(f"resizing {old} to {list(new)} is not possible, or too large")
    return list(zip(old, new, strict=True))


# ---- ResizeArea ----


@tf_operator("ResizeArea")
def area(call: Call) -> Value:
    """A result is the mean of what it covers."""
    corners = call.flag("align_corners")
    matrices: list[Matrix] = []
    for size, new in _sizes(call):
        scale = np.float32((size - 1) / (new - 1) if corners and new > 1 else size / new)
        edges = np.arange(new + 1, dtype=np.float32)[:, None] * scale
        pixels = np.arange(size + 1, dtype=np.float32)
        pixels[-1] = np.inf  # what would be beyond the image is its last row
        covered = np.minimum(pixels[1:], edges[1:]) - np.maximum(pixels[:-1], edges[:-1])
        matrices.append(np.maximum(covered, 0) / scale)
    return _resampled(call, matrices)


# ---- ScaleAndTranslate ----


def _cubic(b: float, c: float) -> _Function:
    """The cubic filters of Mitchell and Netravali."""

    def weights(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        near = ((12 - 9 * b - 6 * c) * x + (-18 + 12 * b + 6 * c)) * x * x + (6 - 2 * b)
        far = (((-b - 6 * c) * x + (6 * b + 30 * c)) * x + (-12 * b - 48 * c)) * x + (8 * b + 24 * c)
        result: npt.NDArray[np.float64] = np.where(x < 1, near, np.where(x < 2, far, 0)) / 6
        return result

    return weights


def _lanczos(radius: int) -> _Function:
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


_FILTERS: dict[str, tuple[float, _Function]] = {
    "lanczos1": (1, _lanczos(1)),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-2 * x * x), 0)),
    "box": (0.5, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2, _cubic(0, 0.5)),
    "mitchellcubic": (2, _cubic(1 / 3, 1 / 3)),
}
"""Radius and function of the distance, both in pixels"""


def _matrix(size: int, new: int, scale: float, shift: float, smooth: bool, kernel: tuple[float, _Function]) -> Matrix:
    """Each result's weights; those of a place outside of the image are 0."""
    radius, function = kernel
    inverse = np.float32(1) / np.float32(scale)
    stretch = max(float(inverse), 1.0) if smooth else 1.0
    places = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * inverse - inverse * np.float32(shift)
    place = places.astype(np.float64)[:, None]
    index = np.arange(size)
    begin = np.clip(np.ceil(place - radius * stretch - 0.5), 0, size - 1)
    end = np.clip(np.floor(place + radius * stretch - 0.5), 0, size - 1)
    weights = function(np.abs(index + 0.5 - place) / stretch) * ((index >= begin) & (index <= end))
    total = weights.sum(axis=1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=np.abs(total) > 1e-35)
    return np.where((place >= 0) & (place <= size), weights, 0).astype(np.float32)


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
    if name not in _FILTERS:
        raise call.block(f"the filter '{name}' is unknown", attribute="kernel_type")
    smooth = call.flag("antialias", True)
    return _resampled(
        call,
        [
            _matrix(size, new, factor, offset, smooth, _FILTERS[name])
            for (size, new), factor, offset in zip(_sizes(call), scale, shift, strict=True)
        ],
    )

"""Resizes images with constant weights, one matrix for the rows and one for the columns, for all parsers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape

MAX_WEIGHTS = 1 << 24
"""Limit of elements in a matrix."""

Matrix = npt.NDArray[np.float32]
_Function = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]


class Emitter(Protocol):
    """The methods of a parser's calls that this module needs."""

    def const(self, data: npt.ArrayLike, /) -> Value: ...
    def ints(self, data: npt.ArrayLike, /) -> Value: ...
    def emit(self, op: Operator, *inputs: Value) -> Value: ...


def resampled(call: Emitter, x: Value, channels: int, rows: Matrix, columns: Matrix) -> Value:
    """Applies the weights [new size, size] of height and width to float32 images in NHWC."""
    flat = call.emit(Reshape(), x, call.ints((-1, rows.shape[1], columns.shape[1] * channels)))
    high = call.emit(MatMulFusion(), call.const(rows), flat)
    lines = call.emit(Reshape(), high, call.ints((-1, columns.shape[1], channels)))
    wide = call.emit(MatMulFusion(), call.const(columns), lines)
    return call.emit(Reshape(), wide, call.ints((-1, rows.shape[0], columns.shape[0], channels)))


def area_weights(size: int, new: int, corners: bool) -> Matrix:
    """Weights of area resizing: an output pixel is the mean of the area it covers. `corners`: align the corners."""
    scale = np.float32((size - 1) / (new - 1) if corners and new > 1 else size / new)
    edges = np.arange(new + 1, dtype=np.float32)[:, None] * scale
    pixels = np.arange(size + 1, dtype=np.float32)
    pixels[-1] = np.inf  # beyond the image, the last row is repeated
    covered = np.minimum(pixels[1:], edges[1:]) - np.maximum(pixels[:-1], edges[:-1])
    weights: Matrix = np.maximum(covered, 0) / scale
    return weights


def _cubic(b: float, c: float) -> _Function:
    """Returns a cubic filter of Mitchell and Netravali."""

    def weights(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        near = ((12 - 9 * b - 6 * c) * x + (-18 + 12 * b + 6 * c)) * x * x + (6 - 2 * b)
        far = (((-b - 6 * c) * x + (6 * b + 30 * c)) * x + (-12 * b - 48 * c)) * x + (8 * b + 24 * c)
        result: npt.NDArray[np.float64] = np.where(x < 1, near, np.where(x < 2, far, 0)) / 6
        return result

    return weights


def _lanczos(radius: int) -> _Function:
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


FILTERS: dict[str, tuple[float, _Function]] = {
    "lanczos1": (1, _lanczos(1)),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-2 * x * x), 0)),
    "box": (0.5, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2, _cubic(0, 0.5)),
    "mitchellcubic": (2, _cubic(1 / 3, 1 / 3)),
}
"""Radius, and function of the distance, both in pixels."""


def filter_weights(
    size: int, new: int, scale: float, shift: float, smooth: bool, kernel: tuple[float, _Function]
) -> Matrix:
    """Returns the weights of each output pixel; all 0 for positions outside of the image."""
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

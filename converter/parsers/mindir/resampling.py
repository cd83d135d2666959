"""Resizing to a size or by factors, with interpolation or filters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.resize import Resize, ResizeND
from mslite.converter.parsers.resampling import FILTERS, MAX_WEIGHTS, Matrix, area_weights, filter_weights, resampled

from .call import Call
from .layout import in_layout
from .registry import primitive

_METHODS = {"Nearest": ResizeMethod.NEAREST, "Bicubic": ResizeMethod.CUBIC}

_COORDINATES = {
    "asymmetric": CoordinateTransformMode.ASYMMETRIC,
    "align_corners": CoordinateTransformMode.ALIGN_CORNERS,
    "half_pixel": CoordinateTransformMode.HALF_PIXEL,
}


@primitive(
    *("UpsampleNearest1D", "UpsampleNearest2D", "UpsampleNearest3D"),
    operators="Resize ResizeND",
    arguments="x output_size scales",
)
@primitive(
    *("UpsampleLinear1D", "UpsampleBilinear2D", "UpsampleTrilinear3D", "UpsampleBicubic2D"),
    operators="Resize ResizeND",
    arguments="x output_size scales align_corners",
)
def upsample(call: Call) -> Value:
    """Converts Upsample, which resizes all dimensions after batch and channels. Nearest reads element floor(i * old /
    new)."""
    method = next((each for name, each in _METHODS.items() if name in call.operator), ResizeMethod.LINEAR)
    coordinates = "align_corners" if call.boolean("align_corners") else "half_pixel"
    coordinates = "asymmetric" if method is ResizeMethod.NEAREST else coordinates
    return _resized(call, method, coordinates, call.integers("output_size"), _factors(call))


def _factors(call: Call) -> tuple[float, ...]:
    given = call.attribute("scales")
    return tuple(float(number) for number in given) if isinstance(given, tuple) else ()


_LINEAR_COORDINATES = {0: "asymmetric", 1: "align_corners", 2: "half_pixel"}


@primitive("ResizeLinear1D", operators="ResizeND", arguments="x size coordinate_transformation_mode")
def resize_rows(call: Call) -> Value:
    given = call.attribute("coordinate_transformation_mode")
    coordinates = _LINEAR_COORDINATES.get(given, str(given))
    if coordinates not in _COORDINATES:
        raise call.block(f"{given!r} is not align_corners, half_pixel or asymmetric", attribute="coordinate_transformation_mode")  # fmt: skip
    return _resized(call, ResizeMethod.LINEAR, coordinates, call.integers("size"), ())


_TABLE = 1024
"""Offsets of cubic weights are rounded to 1 / 1024 pixel, as in TensorFlow."""


@primitive("ResizeBicubic", operators="MatMulFusion", arguments="image size align_corners half_pixel_centers")
def resize_cubic(call: Call) -> Value:
    """Converts ResizeBicubic to two matmuls, with the interpolation weights of the columns and of the rows."""
    x, sizes = call.input(0), call.integers("size")
    if sizes is None or len(sizes) != 2 or min(sizes) < 1:
        raise call.block("its size is computed at run time", "Use a constant size", "size")
    half, align = call.boolean("half_pixel_centers"), call.boolean("align_corners")
    rows, columns = (
        call.const(_cubic_weights(call.size(x, axis, "cubic interpolation"), new, align, half), np.float32)
        for axis, new in zip((2, 3), sizes, strict=True)
    )
    wide = call.emit(MatMulFusion(transpose_b=True), call.cast(x, DataType.FLOAT32), columns)
    return call.cast(call.emit(MatMulFusion(), rows, wide), call.declared_type)


def _cubic_weights(old: int, new: int, align: bool, half: bool) -> npt.NDArray[np.float64]:
    """Returns interpolation weights [new, old]. With half_pixel, the cubic coefficient is -0.5, and pixels outside the
    image are ignored; else it is -0.75, and they are clamped to the edge."""
    scale = (old - 1) / (new - 1) if align and new > 1 else old / new
    places = (np.arange(new) + 0.5) * np.float32(scale) - 0.5 if half else np.arange(new) * np.float32(scale)
    a = -0.5 if half else -0.75
    weights = np.zeros((new, old))
    for row, place in enumerate(places):
        first = int(np.floor(place))
        offset = np.rint((place - first) * _TABLE) / _TABLE
        taps = np.abs(np.arange(-1, 3) - offset)
        near = (a + 2) * taps**3 - (a + 3) * taps**2 + 1
        far = a * (taps**3 - 5 * taps**2 + 8 * taps - 4)
        values, columns = np.where(taps <= 1, near, far), first + np.arange(-1, 3)
        if half:
            values = np.where((columns >= 0) & (columns < old), values, 0)
            values = values / values.sum()
        np.add.at(weights[row], np.clip(columns, 0, old - 1), values)
    return weights


def _sizes(call: Call) -> list[tuple[int, int]]:
    """Returns (old size, new size) of the height and the width of NHWC images. Raises Blocked."""
    x, new = call.input(0), call.integers("size")
    if new is None or len(new) != 2 or min(new) < 1:
        raise call.block("its size is computed at run time", "Use a constant size", "size")
    sizes = [(call.size(x, axis, "a resize"), length) for axis, length in zip((1, 2), new, strict=True)]
    if max(size * length for size, length in sizes) > MAX_WEIGHTS:
        raise call.block(f"resizing to {list(new)} needs too many interpolation weights")
    return sizes


def _by_weights(call: Call, rows: Matrix, columns: Matrix) -> Value:
    x = call.cast(call.input(0), DataType.FLOAT32)
    return resampled(call, x, call.size(call.input(0), 3, "a resize"), rows, columns)


@primitive("ResizeArea", operators="MatMulFusion Reshape", arguments="images size align_corners")
def resize_area(call: Call) -> Value:
    """Converts ResizeArea: each pixel of the result is the mean of the input area that it covers."""
    corners = call.boolean("align_corners")
    rows, columns = (area_weights(size, new, corners) for size, new in _sizes(call))
    return _by_weights(call, rows, columns)


@primitive("ScaleAndTranslate", operators="MatMulFusion Reshape", arguments="images size scale translation")
def scale_and_translate(call: Call) -> Value:
    """Converts ScaleAndTranslate, with one of several filters; with antialias, they are wider for smaller scales."""
    scale = [float(number) for number in call.constant(2, "the scale").reshape(-1)]
    shift = [float(number) for number in call.constant(3, "the translation").reshape(-1)]
    if len(scale) != 2 or len(shift) != 2 or min(scale) <= 0 or not np.isfinite((*scale, *shift)).all():
        raise call.block("scale must be two positive numbers, and translation two finite numbers")
    name, smooth = call.text("kernel_type", "lanczos3"), call.boolean("antialias", True)
    if name not in FILTERS:
        raise call.block(f"the filter '{name}' is unknown", attribute="kernel_type")
    rows, columns = (
        filter_weights(*sizes, factor, offset, smooth, FILTERS[name])
        for sizes, factor, offset in zip(_sizes(call), scale, shift, strict=True)
    )
    return _by_weights(call, rows, columns)


def _resized(
    call: Call,
    method: ResizeMethod,
    coordinates: str,
    sizes: tuple[int, ...] | None,
    factors: tuple[float, ...],
) -> Value:
    x = call.input(0)
    rank = call.rank(x)
    if not sizes and factors:
        known = (call.shape(x) or ())[2:]
        exact = [size * factor for size, factor in zip(known, factors, strict=False)]
        if min(known, default=-1) > 0 and all(number == int(number) for number in exact):
            sizes = tuple(int(number) for number in exact)
    if not sizes and not factors:
        raise call.block("its size is computed at run time", "Use a constant size or factor")
    if len(sizes or factors) != rank - 2 or min(sizes or factors) <= 0:
        raise call.block(f"{list(sizes or factors)} must have one number for each of {rank - 2} dimensions")
    if rank == 4 and sizes:
        asymmetric = coordinates == "asymmetric"
        plain = Resize(
            method=method, new_height=sizes[0], new_width=sizes[1], coordinate_transform_mode=_COORDINATES[coordinates],
            nearest_mode=NearestMode.FLOOR if asymmetric else NearestMode.NORMAL,
            cubic_coeff=-0.75 if method is ResizeMethod.CUBIC else 0.0,
        )  # fmt: skip
        return in_layout(call, plain, [x], 1)[0]
    op = ResizeND(
        method=method, coordinate_transformation_mode=coordinates, nearest_mode="floor",
        cubic_coeff=-0.75, axes=tuple(range(2, rank)),
    )  # fmt: skip
    return call.emit(op, x, call.ints(sizes) if sizes else call.const(factors, "float32"))

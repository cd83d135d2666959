"""References of the resampling operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np

from ..ops import resize as ops
from ..ops.enums import CoordinateTransformMode, Format, NearestMode, ResizeMethod
from ._declare import Array, Inputs, case, integers, normal, reference

Coordinate = Callable[[int], float]


def _given(inputs: Inputs) -> list[Array]:
    return [array for array in inputs if array is not None]


def _coordinate(mode: str, size: int, out: int, scale: float, roi: tuple[float, float]) -> Coordinate:
    """The coordinate transformations of ONNX Resize."""
    begin, end = roi
    length = scale * size  # the length for a given scale; an integer, up to rounding, if sizes were given
    steps = length - 1 if length > 1 and abs(length - out) > 1e-4 * length else out - 1
    formulas: dict[str, Coordinate] = {
        "asymmetric": lambda x: x / scale,
        "align_corners": lambda x: 0 if out == 1 else x * (size - 1) / steps,
        "half_pixel": lambda x: (x + 0.5) / scale - 0.5,
        "pytorch_half_pixel": lambda x: (x + 0.5) / scale - 0.5 if out > 1 else 0,
        "half_pixel_symmetric": lambda x: size / 2 * (1 - out / (scale * size)) + (x + 0.5) / scale - 0.5,
        "tf_half_pixel_for_nn": lambda x: (x + 0.5) / scale,
        "tf_crop_and_resize": lambda x: (
            begin * (size - 1) + x * (end - begin) * (size - 1) / (out - 1)
            if out > 1
            else 0.5 * (begin + end) * (size - 1)
        ),
    }
    return formulas[mode]


_ROUND: dict[str, Callable[[float], int]] = {
    "round_prefer_floor": lambda x: math.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: math.floor(x + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}


def _cubic(x: float, a: float) -> float:
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0


def _weights(op: ops.ResizeND, size: int, out: int, scale: float, roi: tuple[float, float]) -> Array:
    """Returns the matrix [out, size] that resamples one dimension; rows of NaN are extrapolated."""
    coordinate = _coordinate(op.coordinate_transformation_mode or "half_pixel", size, out, scale, roi)
    matrix = np.zeros((out, size))
    squeeze = min(scale, 1.0) if op.antialias else 1.0
    for row in range(out):
        x = coordinate(row)
        if op.coordinate_transformation_mode == "tf_crop_and_resize" and not 0 <= x <= size - 1:
            matrix[row] = np.nan
            continue
        if op.method == ResizeMethod.NEAREST:
            matrix[row, min(max(_ROUND[op.nearest_mode or "round_prefer_floor"](x), 0), size - 1)] = 1
            continue
        reach = math.ceil((2 if op.method == ResizeMethod.CUBIC else 1) / squeeze) + 1
        taps = []
        for index in range(math.floor(x) - reach, math.floor(x) + reach + 1):
            distance = (index - x) * squeeze
            linear = max(0.0, 1 - abs(distance))
            weight = _cubic(distance, op.cubic_coeff) if op.method == ResizeMethod.CUBIC else linear
            taps.append((index, 0.0 if op.exclude_outside and not 0 <= index < size else weight))
        total = sum(weight for _, weight in taps)
        for index, weight in taps:
            matrix[row, min(max(index, 0), size - 1)] += weight / (total if squeeze < 1 or op.exclude_outside else 1)
    return matrix


def _resample(x: Array, axis: int, matrix: Array, outside: float) -> Array:
    y = np.moveaxis(np.tensordot(np.nan_to_num(matrix), x.astype(np.float64), (1, axis)), 0, axis)
    rows = np.isnan(matrix[:, :1]).reshape(-1, *[1] * (x.ndim - axis - 1))
    return np.where(rows, outside, y)


@reference("ResizeND")
def resize_nd(op: ops.ResizeND, inputs: Inputs) -> list[Array]:
    """ONNX Resize: one matrix per dimension, applied in order."""
    x, target, *roi = _given(inputs)
    axes = list(op.axes or range(x.ndim))
    policy = op.keep_aspect_ratio_policy or "stretch"
    regions = [(0.0, 1.0)] * len(axes)
    if roi and op.coordinate_transformation_mode == "tf_crop_and_resize":
        regions = list(zip(roi[0][: len(axes)].tolist(), roi[0][len(axes) :].tolist(), strict=True))
    if target.dtype.kind == "f":
        scales = [float(scale) for scale in target]
        sizes = [math.floor(x.shape[a] * s * (r[1] - r[0])) for a, s, r in zip(axes, scales, regions, strict=True)]
    else:
        sizes = [int(size) for size in target]
        scales = [size / x.shape[axis] for axis, size in zip(axes, sizes, strict=True)]
        if policy != "stretch":
            scales = [min(scales) if policy == "not_larger" else max(scales)] * len(axes)
            sizes = [math.floor(scales[0] * x.shape[axis] + 0.5) for axis in axes]
    y = x
    for axis, size, scale, region in zip(axes, sizes, scales, regions, strict=True):
        if size == x.shape[axis] and scale == 1 and region == (0, 1):
            continue
        y = _resample(y, axis, _weights(op, x.shape[axis], size, scale, region), op.extrapolation_value)
    return [y.astype(x.dtype)]


@reference("Resize")
def resize(op: ops.Resize, inputs: Inputs) -> list[Array]:
    """ResizeND on height and width of NHWC, with TensorFlow's rounding for NearestMode.NORMAL."""
    x, *target = _given(inputs)
    mode = op.coordinate_transform_mode
    coordinates = mode.name.lower()
    nearest = op.nearest_mode
    names = ["", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
    if nearest == NearestMode.NORMAL:
        corners = mode == CoordinateTransformMode.ALIGN_CORNERS
        nearest = NearestMode.ROUND_HALF_UP if corners else NearestMode.FLOOR
        if mode == CoordinateTransformMode.HALF_PIXEL and op.method == ResizeMethod.NEAREST:
            coordinates = "tf_half_pixel_for_nn"
    sizes = np.array([op.new_height, op.new_width])
    if target and target[0].dtype.kind == "f":
        scales = target[0] if len(target[0]) == 2 else target[0][1:3] if target[0][3] == 1 else target[0][2:4]
        sizes = np.floor(np.array(x.shape[1:3]) * scales).astype(np.int64)
    elif target:
        sizes = target[0]
    general = ops.ResizeND(
        method=op.method,
        coordinate_transformation_mode=coordinates,
        nearest_mode=names[nearest],
        cubic_coeff=op.cubic_coeff,
        exclude_outside=bool(op.exclude_outside),
        axes=(1, 2),
    )
    return resize_nd(general, [x, sizes])


@reference("CropAndResize")
def crop_and_resize(op: ops.CropAndResize, inputs: Inputs) -> list[Array]:
    """TensorFlow's CropAndResize: each box is ResizeND with tf_crop_and_resize of its image."""
    x, boxes, box_index, crop_size = _given(inputs)
    crops = []
    for (top, left, bottom, right), image in zip(boxes, box_index, strict=True):
        y = x[int(image)]
        for axis, begin, end in ((0, top, bottom), (1, left, right)):
            general = ops.ResizeND(
                method=op.method, coordinate_transformation_mode="tf_crop_and_resize", nearest_mode="round_prefer_ceil"
            )
            matrix = _weights(general, x.shape[1 + axis], int(crop_size[axis]), 1, (float(begin), float(end)))
            y = _resample(y, axis, matrix, op.extrapolation_value)
        crops.append(y)
    return [np.stack(crops).astype(np.float32)]


def _reflected(x: float, low: float, high: float) -> float:
    while not low <= x <= high:
        x = 2 * low - x if x < low else 2 * high - x
    return x


def _inside(op: ops.GridSampler, x: float, size: int) -> float:
    if op.padding_mode == 2:
        x = _reflected(x, 0, size - 1) if op.align_corners else _reflected(x, -0.5, size - 0.5)
    return x if op.padding_mode == 0 else min(max(x, 0), size - 1)


@reference("GridSampler")
def grid_sampler(op: ops.GridSampler, inputs: Inputs) -> list[Array]:
    """ONNX GridSample."""
    x, grid = _given(inputs)
    sizes = x.shape[2:]
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for place in np.ndindex(x.shape[0], *grid.shape[1:-1]):
        taps = []
        for size, coordinate in zip(sizes, grid[place][::-1].astype(np.float64), strict=True):
            at = (coordinate + 1) / 2 * (size - 1) if op.align_corners else ((coordinate + 1) * size - 1) / 2
            if op.interpolation_mode == 2:
                reach = [math.floor(at) + i for i in range(-1, 3)]
                taps.append([(_inside(op, i, size), _cubic(at - i, -0.75)) for i in reach])
                continue
            at = _inside(op, at, size)
            if op.interpolation_mode == 1:
                taps.append([(round(at), 1.0)])
            else:
                taps.append([(math.floor(at) + i, 1 - abs(at - math.floor(at) - i)) for i in (0, 1)])
        for combination in product(*taps):
            index = [int(i) for i, _ in combination]
            if all(0 <= i < size for i, size in zip(index, sizes, strict=True)):
                weight = math.prod(w for _, w in combination)
                y[(place[0], slice(None), *place[1:])] += weight * x[(place[0], slice(None), *index)]
    return [y.astype(np.float32)]


_NHWC = Format.NHWC
for _mode in CoordinateTransformMode:
    for _out in ((7, 10), (3, 2), (10, 1), (1, 13)):
        _text = f"{_mode.name.lower()}-{_out[0]}x{_out[1]}"
        for _method in ResizeMethod:
            if _method == ResizeMethod.UNKNOWN or (
                _method == ResizeMethod.NEAREST and _mode == CoordinateTransformMode.ALIGN_CORNERS
            ):
                continue
            _op = ops.Resize(
                format=_NHWC,
                method=_method,
                coordinate_transform_mode=_mode,
                new_height=_out[0],
                new_width=_out[1],
                cubic_coeff=-0.75,
            )
            case(f"{_method.name.lower()}-{_text}", _op, [normal(2, 5, 6, 3)], tolerance=1e-4)
for _nearest in NearestMode:
    _op = ops.Resize(
        format=_NHWC,
        method=ResizeMethod.NEAREST,
        coordinate_transform_mode=CoordinateTransformMode.HALF_PIXEL,
        nearest_mode=_nearest,
        new_height=8,
        new_width=3,
    )
    case(f"nearest-{_nearest.name.lower()}", _op, [integers(0, 99, 1, 4, 6, 2, dtype=np.int8)])
_CORNERS = ops.Resize(
    format=_NHWC, method=ResizeMethod.NEAREST, coordinate_transform_mode=CoordinateTransformMode.ALIGN_CORNERS
)
case("nearest-corners", _CORNERS, [normal(1, 4, 5, 2), np.array([9, 6], np.int32)], (1,))
_LINEAR = ops.Resize(format=_NHWC, coordinate_transform_mode=CoordinateTransformMode.HALF_PIXEL)
case("size-input", _LINEAR, [normal(1, 9, 7, 16), np.array([20, 30], np.int32)], (1,))
case("scales", _LINEAR, [normal(1, 5, 6, 2), np.array([1, 2, 1.5, 1], np.float32)], (1,))
case("scales-nchw", _LINEAR, [normal(1, 5, 6, 2), np.array([1, 1, 2, 1.5], np.float32)], (1,))
_EXCLUDE = ops.Resize(
    format=_NHWC,
    method=ResizeMethod.CUBIC,
    coordinate_transform_mode=CoordinateTransformMode.HALF_PIXEL,
    exclude_outside=1,
    cubic_coeff=-0.5,
    new_height=9,
    new_width=4,
)
case("cubic-exclude", _EXCLUDE, [normal(1, 5, 6, 3)])


def _nd(method: ResizeMethod, mode: str, **more: object) -> ops.ResizeND:
    return ops.ResizeND(method=method, coordinate_transformation_mode=mode, **more)  # type: ignore[arg-type]


for _text in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric"):
    for _method in (ResizeMethod.LINEAR, ResizeMethod.CUBIC):
        case(
            f"{_text}-{_method.name.lower()}-scales",
            _nd(_method, _text),
            [normal(2, 3, 7, 5), np.array([1, 1, 0.6, 2.3], np.float32)],
            (1,),
            1e-4,
        )
        case(f"{_text}-{_method.name.lower()}-sizes", _nd(_method, _text), [normal(6, 5), np.array([9, 1])], (1,), 1e-4)
    case(
        f"{_text}-volume",
        _nd(ResizeMethod.LINEAR, _text, axes=(4, 2)),
        [normal(1, 2, 3, 4, 5), np.array([7, 2])],
        (1,),
        1e-4,
    )
case("vector", _nd(ResizeMethod.LINEAR, "half_pixel"), [normal(1, 2, 9), np.array([1, 1, 2], np.float32)], (1,))
case(
    "nearest",
    _nd(ResizeMethod.NEAREST, "tf_half_pixel_for_nn", nearest_mode="floor"),
    [normal(1, 2, 4, 5), np.array([1, 2, 7, 9])],
    (1,),
)
case(
    "nearest-bytes",
    _nd(ResizeMethod.NEAREST, "asymmetric", nearest_mode="floor"),
    [integers(0, 9, 4, 4, dtype=np.uint8), np.array([8, 6])],
    (1,),
)
for _method in (ResizeMethod.LINEAR, ResizeMethod.CUBIC):
    for _exclude in (False, True):
        _general = _nd(_method, "half_pixel", antialias=True, exclude_outside=_exclude)
        case(
            f"antialias-{_method.name.lower()}-{_exclude}",
            _general,
            [normal(1, 2, 12, 9), np.array([1, 1, 0.3, 0.7], np.float32)],
            (1,),
            1e-4,
        )
for _text in ("not_larger", "not_smaller"):
    _general = _nd(ResizeMethod.LINEAR, "half_pixel", keep_aspect_ratio_policy=_text, axes=(2, 3))
    case(_text, _general, [normal(1, 2, 4, 6), np.array([7, 8])], (1,))
_general = _nd(ResizeMethod.LINEAR, "tf_crop_and_resize", axes=(2, 3), extrapolation_value=10.0)
case("crop", _general, [normal(1, 1, 6, 5), np.array([3, 4]), np.array([0.4, 0.6, 0.6, 1.3], np.float32)], (1, 2), 1e-4)
for _method in (ResizeMethod.LINEAR, ResizeMethod.NEAREST):
    _boxes = np.array([[0.1, 0.2, 0.8, 0.9], [0.9, 0.85, 0.2, 0.1], [-0.3, 0, 1.2, 1]], np.float32)
    _op2 = ops.CropAndResize(method=_method, extrapolation_value=-2.0)
    _rest = [_boxes, np.array([1, 0, 1], np.int32), np.array([4, 3], np.int32)]
    case(_method.name.lower(), _op2, [normal(2, 7, 8, 3), *_rest], (3,), 1e-4)
for _interpolation in range(3):
    for _padding in range(3):
        for _align in (False, True):
            _op3 = ops.GridSampler(interpolation_mode=_interpolation, padding_mode=_padding, align_corners=_align)
            _grid = (normal(2, 3, 4, 2) * 0.9).astype(np.float32)
            case(f"{_interpolation}-{_padding}-{_align}", _op3, [normal(2, 3, 5, 6), _grid], tolerance=1e-4)
case(
    "volume",
    ops.GridSampler(),
    [normal(1, 2, 3, 4, 5), (normal(1, 2, 3, 4, 3) * 0.7).astype(np.float32)],
    tolerance=1e-4,
)

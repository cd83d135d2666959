"""Resize and Upsample."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, Format, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.resize import Resize, ResizeND

from .call import Call
from .casting import as_type
from .registry import onnx_operator

_METHODS = {"nearest": ResizeMethod.NEAREST, "linear": ResizeMethod.LINEAR, "cubic": ResizeMethod.CUBIC}

_COORDINATES = {
    "half_pixel": CoordinateTransformMode.HALF_PIXEL,
    "align_corners": CoordinateTransformMode.ALIGN_CORNERS,
    "asymmetric": CoordinateTransformMode.ASYMMETRIC,
}

_NEAREST = {
    "round_prefer_floor": NearestMode.ROUND_HALF_DOWN,
    "round_prefer_ceil": NearestMode.ROUND_HALF_UP,
    "floor": NearestMode.FLOOR,
    "ceil": NearestMode.CEIL,
}

_LARGEST_SIZE = (1 << 31) - 1

_ALL_COORDINATES = (*_COORDINATES, "pytorch_half_pixel", "half_pixel_symmetric", "tf_half_pixel_for_nn")


@onnx_operator("Upsample")
def upsample(call: Call) -> Value:
    """Scales are two attributes in version 1, one list in 7, an input since 9. The coordinate mode is asymmetric."""
    x = call.input(0)
    method = call.choice("mode", call.text("mode", "nearest"), _METHODS | {"bilinear": ResizeMethod.LINEAR})
    if call.version < 9:
        listed: tuple[float, ...] | None
        if call.version < 7:
            listed = (1.0, 1.0, call.real("height_scale", 1.0), call.real("width_scale", 1.0))
        else:
            listed = call.reals("scales")
        if listed is None:
            raise call.block("are missing", "Export the model again", "scales")
        scales = call.const(np.array(listed, np.float32))
    else:
        scales = call.input(1)
    return _resize(call, x, scales, None, method, "asymmetric", "floor")


@onnx_operator("Resize", since=10)
def resize_10(call: Call) -> Value:
    """Version 10 does not have sizes or coordinate modes."""
    method = call.choice("mode", call.text("mode", "nearest"), _METHODS)
    return _resize(call, call.input(0), call.input(1), None, method, "asymmetric", "floor")


@onnx_operator("Resize", since=11)
def resize(call: Call) -> Value:
    x = call.input(0)
    method = call.choice("mode", call.text("mode", "nearest"), _METHODS)
    coordinates = call.text("coordinate_transformation_mode", "half_pixel")
    nearest = call.text("nearest_mode", "round_prefer_floor")
    call.choice("nearest_mode", nearest, _NEAREST)
    scales, sizes = call.optional(2), call.optional(3)
    if scales is not None and scales.data is not None and scales.data.size == 0:
        scales = None
    if sizes is not None:
        target = as_type(call, sizes, DataType.INT32)
    elif scales is not None:
        target = scales
    else:
        raise call.block("neither scales nor sizes are given", "Export the model again")
    roi = None
    if coordinates == "tf_crop_and_resize":
        roi = call.input(1)
    else:
        call.choice("coordinate_transformation_mode", coordinates, dict.fromkeys(_ALL_COORDINATES))
        call.ignore_inputs(1)  # the region of tf_crop_and_resize
    return _resize(call, x, target, roi, method, coordinates, nearest)


def _resize(
    call: Call,
    x: Value,
    target: Value,
    roi: Value | None,
    method: ResizeMethod,
    coordinates: str,
    nearest: str,
) -> Value:
    op = ResizeND(
        method=method,
        coordinate_transformation_mode=coordinates,
        nearest_mode=nearest,
        cubic_coeff=call.real("cubic_coeff_a", -0.75),
        exclude_outside=call.boolean("exclude_outside"),
        extrapolation_value=call.real("extrapolation_value", 0.0),
        antialias=call.boolean("antialias"),
        axes=call.integers("axes"),
        keep_aspect_ratio_policy=call.text("keep_aspect_ratio_policy", "stretch"),
    )
    size = _plain_size(call, x, target, op)
    if size is not None:
        if method is ResizeMethod.NEAREST and _repeats(call, x, size, coordinates, nearest):
            coordinates, nearest = "asymmetric", "floor"
        # In MindSpore Lite's kernel, NEAREST with ASYMMETRIC uses floor for every nearest_mode.
        if method is not ResizeMethod.NEAREST or coordinates != "asymmetric" or nearest == "floor":
            plain = Resize(
                format=Format.NCHW,
                method=method,
                new_height=size[0],
                new_width=size[1],
                coordinate_transform_mode=_COORDINATES[coordinates],
                cubic_coeff=op.cubic_coeff,
                exclude_outside=int(op.exclude_outside),
                nearest_mode=_NEAREST[nearest],
            )
            return call.emit(plain, x)
    return call.emit(op, x, target) if roi is None else call.emit(op, x, target, roi)


def _repeats(call: Call, x: Value, size: tuple[int, int], coordinates: str, nearest: str) -> bool:
    """Returns whether nearest resizing repeats pixels a whole number of times. Then floor selects the same pixels."""
    shape = call.shape(x)
    if coordinates != "half_pixel" or nearest not in ("round_prefer_floor", "round_prefer_ceil") or shape is None:
        return False
    return all(isinstance(old, int) and old > 0 and new % old == 0 for old, new in zip(shape[2:], size, strict=True))


def _plain_size(call: Call, x: Value, target: Value, op: ResizeND) -> tuple[int, int] | None:
    """Returns height and width if MindIR's Resize computes the same, else None.

    MindIR derives the scale from the sizes, so the scaled sizes must be whole numbers.
    """
    shape = call.shape(x)
    if shape is None or len(shape) != 4 or target.data is None:
        return None
    if op.coordinate_transformation_mode not in _COORDINATES or op.antialias or op.axes is not None:
        return None
    if op.keep_aspect_ratio_policy != "stretch":
        return None
    wanted = [float(number) for number in target.data.reshape(-1)]
    if len(wanted) != 4:
        return None
    if target.data.dtype.kind == "i":
        if not all(0 < size <= _LARGEST_SIZE for size in wanted[2:]):
            return None
        if shape[0] != wanted[0] or shape[1] != wanted[1]:
            return None
        height, width = int(wanted[2]), int(wanted[3])
    else:
        if wanted[:2] != [1.0, 1.0] or shape[2] is None or shape[3] is None:
            return None
        exact = shape[2] * wanted[2], shape[3] * wanted[3]
        if not all(0 < size <= _LARGEST_SIZE for size in exact):  # shape inference reports invalid sizes
            return None
        height, width = int(exact[0]), int(exact[1])
        if exact != (height, width):
            return None
    return (height, width) if height > 0 and width > 0 else None

"""The quantizers of QONNX, which Brevitas exports: floats rounded to integers of any width and scaled back.

Constants, and activations of up to 8 bits with rounding half to even, become QuantizeLinear and DequantizeLinear, and
so are stored and computed as integers. The others are computed in floats as QONNX defines them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mslite.converter.parsers.short_types import Floats

from .body import Body
from .quantized_parts import set_first_output
from .registry import expands

_QONNX, _BREVITAS = "qonnx.custom_op.general", "onnx.brevitas"
_MAX_BITS = 32
_EXPORT = "Export the model with it as a constant"
_HALF_EVEN = ("ROUND", "HALF_EVEN")
_MODES = (*_HALF_EVEN, "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN")


@dataclass(frozen=True)
class _Range:
    """The minimum and the maximum integer; `dtype` is their type for at most 8 bits, else None."""

    low: float
    high: float
    dtype: type[np.int8] | type[np.uint8] | None

    def is_whole(self) -> bool:
        """Returns whether the range is the whole range of `dtype`."""
        limits = np.iinfo(self.dtype or np.int32)
        return (self.low, self.high) == (limits.min, limits.max)


@dataclass(frozen=True)
class _Parameters:
    """Scale and zero point of DequantizeLinear: names, and the axis of vectors."""

    scale: str
    point: str
    attributes: dict[str, int]


def _numbers(body: Body, name: str) -> Floats | None:
    """Returns the contents of a constant in this file as float32, or None."""
    array = body.contents(name)
    return None if array is None else array.astype(np.float32)


def _bits(body: Body, index: int) -> float:
    array = _numbers(body, body.input(index))
    if array is None:
        raise body.block(f"the bit width (input {index}) is not a constant in this file", _EXPORT)
    if array.size != 1:
        raise body.block(
            f"input {index} has {array.size} bit widths; one is supported", "Use one width for all channels"
        )
    bits = float(array.reshape(-1)[0])
    if not 1 <= bits <= _MAX_BITS:
        raise body.block(f"a bit width of {bits:g} is not supported", f"Use 1 to {_MAX_BITS} bits")
    return bits


def _range(bits: float, signed: bool, narrow: bool) -> _Range:
    dtype = (np.int8 if signed else np.uint8) if bits <= 8 and bits == int(bits) else None
    if signed:
        half = 2.0 ** (bits - 1)
        return _Range(1 - half if narrow else -half, half - 1, dtype)
    return _Range(0, 2.0**bits - (2 if narrow else 1), dtype)


def _mode(body: Body, default: str) -> str:
    mode = body.text("rounding_mode", default).upper()
    if mode not in _MODES:
        raise body.block(f"'{mode}' is not supported", f"Use one of {', '.join(_MODES)}", "rounding_mode")
    if mode in _HALF_EVEN and body.version < 11:
        raise body.block("needs operator set 11 or newer", "Export the model for a newer operator set")
    return mode


def _rounded(body: Body, x: str, mode: str) -> str:
    if mode in _HALF_EVEN:
        return body.op("Round", x)
    if mode in ("CEIL", "FLOOR"):
        return body.op(mode.capitalize(), x)
    size = body.op("Abs", x)
    if mode.startswith("HALF"):
        size = body.op("Add", size, body.number(0.5 if mode == "HALF_UP" else -0.5, x))
    whole = body.op("Ceil" if mode in ("UP", "HALF_DOWN") else "Floor", size)
    return body.op("Mul", body.op("Sign", x), whole)


def _rounded_array(x: Floats, mode: str) -> Floats:
    if mode in _HALF_EVEN:
        return np.rint(x)
    if mode in ("CEIL", "FLOOR"):
        return np.ceil(x) if mode == "CEIL" else np.floor(x)
    size = np.abs(x)
    if mode.startswith("HALF"):
        size = size + np.float32(0.5 if mode == "HALF_UP" else -0.5)
    return np.sign(x) * (np.ceil(size) if mode in ("UP", "HALF_DOWN") else np.floor(size))


def _parameters(
    body: Body, dtype: type[np.int8] | type[np.uint8], scale: Floats | None, zero: Floats | None, *, even: bool
) -> _Parameters | None:
    """Returns parameters for DequantizeLinear, None if it does not support them.

    `even`: require even zero points, so that ties round to the same integer before and after the zero point is added.
    """
    dims = body.dims(body.input(0))
    if scale is None or zero is None or not (np.all(np.isfinite(scale)) and np.all(scale > 0)):
        return None
    limits = np.iinfo(dtype)
    if not np.all((zero == np.rint(zero)) & (zero >= limits.min) & (zero <= limits.max) & (not even or zero % 2 == 0)):
        return None
    scales, points = np.broadcast_arrays(scale.astype(np.float32), zero.astype(dtype))
    wide = [axis - scales.ndim for axis, size in enumerate(scales.shape) if size != 1]
    if not wide and scales.ndim == 0:
        return _Parameters(body.const(scales), body.const(points), {})
    if dims is None or len(dims) < scales.ndim or len(wide) > 1:
        return None
    if not wide:
        return _Parameters(body.const(scales.reshape(())), body.const(points.reshape(())), {})
    axis = wide[0] + len(dims)
    if dims[axis] != scales.size:
        return None
    return _Parameters(body.const(scales.reshape(-1)), body.const(points.reshape(-1)), {"axis": axis})


def _stored(body: Body, integers: Floats, dtype: type[np.int8] | type[np.uint8], scale: Floats, zero: Floats) -> None:
    """Stores the integers as the result, dequantized by DequantizeLinear if it supports the parameters."""
    found = _parameters(body, dtype, scale, zero, even=False) if integers.shape == _shape(body) else None
    if found is None:
        set_first_output(body, body.const(((integers - zero) * scale).astype(np.float32)))
        return
    set_first_output(
        body, body.const(integers.astype(dtype)), "DequantizeLinear", found.scale, found.point, **found.attributes
    )


def _shape(body: Body) -> tuple[int | None, ...]:
    return tuple(body.dims(body.input(0)) or ())


def _real(body: Body, integers: str, zero: str, scale: str) -> None:
    set_first_output(body, body.op("Sub", integers, zero), "Mul", scale)


def _signs(body: Body, x: str) -> str:
    """Returns -1 for negative elements, else 1."""
    return body.op("Where", body.op("Less", x, body.number(0, x)), body.number(-1, x), body.number(1, x))


@expands("Quant", "IntQuant", domain=_QONNX)
@expands("Quant", "IntQuant", domain=_BREVITAS)
def quant(body: Body) -> None:
    """Inputs: x, scale, zero point, bit width. Computes (round(clip(x / scale + zero point)) - zero point) * scale."""
    x, scale, zero = (body.input(index) for index in range(3))
    bits = _bits(body, 3)
    signed, narrow = body.boolean("signed", True), body.boolean("narrow", True)
    mode = _mode(body, "ROUND")
    limits = _range(bits, signed, narrow)
    values, scales, points = (_numbers(body, name) for name in (x, scale, zero))
    if values is not None and scales is not None and points is not None and limits.dtype is not None:
        with np.errstate(all="ignore"):
            steps = values / scales + points
        if bits == 1 and signed:
            integers = np.where(steps >= 0, 1, -1).astype(np.float32)
        else:
            integers = _rounded_array(np.clip(steps, limits.low, limits.high), mode)
        if np.all(np.isfinite(integers)):
            _stored(body, integers, limits.dtype, scales, points)
            return
    if bits == 1 and signed:
        _real(body, _signs(body, body.op("Add", body.op("Div", x, scale), zero)), zero, scale)
        return
    found = None
    if limits.dtype is not None and mode in _HALF_EVEN:
        found = _parameters(body, limits.dtype, scales, points, even=True)
    if found is None:
        steps_name = body.op("Add", body.op("Div", x, scale), zero)
        _real(body, _rounded(body, body.clip(steps_name, limits.low, limits.high), mode), zero, scale)
        return
    assert scales is not None
    assert points is not None
    if not limits.is_whole():
        # Clipped before QuantizeLinear: after it, readers would get plain integers.
        low, high = (((limit - points) * scales).astype(np.float32) for limit in (limits.low, limits.high))
        x = body.op("Min", body.op("Max", x, body.const(low)), body.const(high))
    stored = body.op("QuantizeLinear", x, found.scale, found.point, **found.attributes)
    set_first_output(body, stored, "DequantizeLinear", found.scale, found.point, **found.attributes)


@expands("BipolarQuant", domain=_QONNX)
@expands("BipolarQuant", domain=_BREVITAS)
def bipolar(body: Body) -> None:
    """Inputs: x, scale. Returns scale if x >= 0, else -scale."""
    x, scale = body.input(0), body.input(1)
    values, scales = _numbers(body, x), _numbers(body, scale)
    if values is not None and scales is not None:
        signs = np.where(values >= 0, 1, -1).astype(np.float32)
        _stored(body, signs, np.int8, scales, np.zeros_like(scales))
        return
    set_first_output(body, _signs(body, x), "Mul", scale)


@expands("Trunc", domain=_QONNX)
@expands("Trunc", domain=_BREVITAS)
def truncated(body: Body) -> None:
    """Drops the lowest bits of integers. Inputs: x, scale, zero point, bits, [new scale], new bits."""
    x, scale, zero = (body.input(index) for index in range(3))
    mode = _mode(body, "FLOOR")
    if body.version < 11:
        raise body.block("needs operator set 11 or newer", "Export the model for a newer operator set")
    integers = body.op("Round", body.op("Add", body.op("Div", x, scale), zero))
    if not body.has_input(5):
        step = np.float32(2.0 ** (_bits(body, 3) - _bits(body, 4)))
        shorter = body.op("Div", integers, body.const(step))
        _real(body, _rounded(body, shorter, mode), zero, scale)
        return
    limits = _range(_bits(body, 5), body.boolean("signed", True), body.boolean("narrow", False))
    body.ignore_inputs(3)  # the number of dropped bits follows from the scales
    scales, others, points = (_numbers(body, body.input(index)) for index in (1, 4, 2))
    if scales is None or others is None or points is None:
        raise body.block("a scale or the zero point (inputs 1, 2 and 4) is not a constant in this file", _EXPORT)
    if not (np.all(scales > 0) and np.all(others > 0)):
        raise body.block("a scale (input 1 or 4) is not positive", "Export the model again")
    steps = np.exp2(np.rint(np.log2(others / scales))).astype(np.float32)
    shorter = body.clip(body.op("Div", integers, body.const(steps)), limits.low, limits.high)
    _real(body, _rounded(body, shorter, mode), body.const((points / steps).astype(np.float32)), body.input(4))


@expands("FloatQuant", domain=_QONNX)
@expands("FloatQuant", domain=_BREVITAS)
def float_quant(body: Body) -> None:
    raise body.block("quantization to floats of few bits is not supported", "Quantize to integers (Quant)")

"""References of the binary operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ops import Operator
from ..ops import activation as activation_ops
from ..ops import arithmetic as ops
from ..ops.enums import ActivationType, EltwiseMode
from ._declare import Array, Inputs, case, float32, int32, integers, normal, reference
from .activation import apply_activation
from .unary import widened


def _truncated_divide(a: Array, b: Array) -> Array:
    """Divides a by b; integers are truncated, and division by zero gives 0."""
    if a.dtype.kind == "f":
        return a / b
    quotient = np.floor_divide(a, b)
    return np.where((b != 0) & (quotient < 0) & (quotient * b != a), quotient + 1, quotient)


def _shift_left(a: Array, b: Array) -> Array:
    width = 8 * a.dtype.itemsize
    return np.where((b >= 0) & (b < width), np.left_shift(a, np.clip(b, 0, width - 1)), 0).astype(a.dtype)


def _shift_right(a: Array, b: Array) -> Array:
    width = 8 * a.dtype.itemsize
    shifted = np.right_shift(a, np.where((b >= 0) & (b < width), b, width - 1).astype(b.dtype))
    return shifted if a.dtype.kind == "i" else np.where(b < width, shifted, 0).astype(a.dtype)


FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "AddFusion": np.add,
    "SubFusion": np.subtract,
    "MulFusion": np.multiply,
    "DivFusion": _truncated_divide,
    "RealDiv": _truncated_divide,
    "FloorDiv": lambda a, b: np.floor(a / b) if a.dtype.kind == "f" else np.floor_divide(a, b),
    "FloorMod": np.mod,
    "Mod": np.fmod,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "SquaredDifference": lambda a, b: np.square(a - b),
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "ShiftLeft": _shift_left,
    "ShiftRight": _shift_right,
    "Atan2": np.arctan2,
}


_SHIFTS = ("ShiftLeft", "ShiftRight")


@reference(*FUNCTIONS)
def binary(op: Operator, inputs: Inputs) -> list[Array]:
    """The NumPy function with broadcasting, then the fused activation. Integers wrap."""
    assert inputs[0] is not None
    assert inputs[1] is not None
    # The result of shifts depends on the width of the type.
    a, b = (inputs[0], inputs[1]) if op.name in _SHIFTS else (widened(inputs[0]), widened(inputs[1]))
    y = FUNCTIONS[op.name](a, b)
    activation = getattr(op, "activation_type", ActivationType.NO_ACTIVATION)
    y = apply_activation(activation_ops.Activation(activation_type=activation), y)
    return [np.asarray(y, inputs[0].dtype)]


@reference("Eltwise")
def eltwise(op: ops.Eltwise, inputs: Inputs) -> list[Array]:
    """Product, sum or maximum."""
    functions = {EltwiseMode.PROD: np.multiply, EltwiseMode.SUM: np.add, EltwiseMode.MAXIMUM: np.maximum}
    a, b = inputs
    assert a is not None
    assert b is not None
    return [np.asarray(functions[op.mode](a, b))]


@reference("BiasAdd")
def bias_add(op: ops.BiasAdd, inputs: Inputs) -> list[Array]:
    """x + bias along the last dimension."""
    x, bias = (widened(array) for array in inputs)
    return [np.asarray(x + bias, np.float32)]


@reference("AddN")
def add_n(op: ops.AddN, inputs: Inputs) -> list[Array]:
    """The sum of all inputs."""
    assert inputs[0] is not None
    return [np.asarray(sum(widened(x) for x in inputs), inputs[0].dtype)]


@reference("PowFusion")
def power(op: ops.PowFusion, inputs: Inputs) -> list[Array]:
    """(scale x + shift)^exponent; integer results are truncated."""
    x, exponent = inputs
    assert x is not None
    assert exponent is not None
    if x.dtype.kind == "f":
        return [np.asarray(np.power(op.scale * x.astype(np.float64) + op.shift, exponent.astype(np.float64)), x.dtype)]
    return [np.trunc(np.power(x.astype(np.float64), exponent.astype(np.float64))).astype(x.dtype)]


@reference("ScaleFusion")
def scale(op: ops.ScaleFusion, inputs: Inputs) -> list[Array]:
    """x * scale + offset; scale and offset cover the dimensions of x from `axis` on."""
    x, *operands = (widened(array) for array in inputs)
    axis = op.axis % x.ndim
    shaped = [array.reshape(array.shape + (1,) * (x.ndim - axis - array.ndim)) for array in operands]
    y = x * shaped[0] + (shaped[1] if len(shaped) > 1 else 0)
    return [apply_activation(activation_ops.Activation(activation_type=op.activation_type), y).astype(np.float32)]


_SHAPES = (
    ("same", (3, 7, 11), (3, 7, 11)),
    ("scalar-right", (5, 37), ()),
    ("scalar-left", (1,), (5, 37)),
    ("last", (2, 5, 7, 19), (19,)),
    ("outer", (6, 1), (1, 21)),
    ("middle", (3, 1, 5, 7), (4, 1, 7)),
    ("empty", (0, 3), (1, 3)),
    ("several-parts", (3, 20011), (3, 1)),
    ("two-scalars", (), ()),
)
_FLOATS = ("AddFusion", "SubFusion", "MulFusion", "DivFusion", "RealDiv", "FloorDiv", "FloorMod", "Mod", "Maximum",
           "Minimum", "SquaredDifference", "Atan2")  # fmt: skip
for _name in FUNCTIONS:
    _op = getattr(ops, _name)()
    _divides = "Div" in _name or "Mod" in _name
    if _name in _FLOATS:
        for _label, _a, _b in _SHAPES:
            _right = normal(*_b)
            case(_label, _op, [normal(*_a) * 9, np.where(np.abs(_right) < 0.1, float32(0.5), _right)])
        case("float64", _op, [normal(4, 9).astype(np.float64), normal(4, 1).astype(np.float64)], tolerance=1e-12)
    if _name == "Atan2":
        continue
    for _dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        _signed = np.dtype(_dtype).kind == "i"
        _left = integers(-100 if _signed else 0, 100, 4, 1, 23, dtype=_dtype)
        if _name in _SHIFTS:
            _right = integers(0, 7, 3, 1, dtype=_dtype)
        else:
            _right = integers(1 if _divides else 0, 9, 3, 1, dtype=_dtype) * np.where(_signed, -1, 1).astype(_dtype)
        case(_dtype, _op, [_left, _right])
        case(f"{_dtype}-left", _op, [_left[:1, :1, :1], np.abs(_right)])

for _name in _SHIFTS:
    for _dtype in ("int8", "int32", "int64", "uint8", "uint32"):
        _least, _width = int(np.iinfo(_dtype).min), 8 * np.dtype(_dtype).itemsize
        _amounts = [0, 1, _width - 1, _width, _width + 1, 100] + ([-1, -40] if _least else [])
        _numbers = np.array([[_least], [np.iinfo(_dtype).max], [5]], _dtype)
        case(f"{_dtype}-amounts", getattr(ops, _name)(), [_numbers, np.array(_amounts, _dtype)])

_LIMITS = np.array([-(2**31), -7, 7, 2**31 - 1], np.int32)
for _name in ("DivFusion", "FloorDiv", "FloorMod", "Mod"):
    case("limits", getattr(ops, _name)(), [_LIMITS, np.array([-2, 2, -2, -3], np.int32)])
case("wrap", ops.AddFusion(), [_LIMITS, int32(1)])
case("wrap", ops.MulFusion(), [_LIMITS, int32(3)])
case("bool", ops.MulFusion(), [integers(0, 2, 9, dtype=np.bool_), integers(0, 2, 9, dtype=np.bool_)])
for _name in ("Maximum", "Minimum"):
    _nan = float32([np.nan, 1, np.nan, -1, np.inf] * 5)
    case("nan", getattr(ops, _name)(), [_nan, float32([1, np.nan, np.nan, 2, 3] * 5)])
for _type in (ActivationType.RELU, ActivationType.RELU6, ActivationType.TANH, ActivationType.SIGMOID):
    for _name in ("AddFusion", "SubFusion", "MulFusion", "DivFusion"):
        case(_type.name.lower(), getattr(ops, _name)(activation_type=_type), [normal(7, 5003) * 4, float32([2.5])])
for _mode in (EltwiseMode.PROD, EltwiseMode.SUM, EltwiseMode.MAXIMUM):
    case(_mode.name, ops.Eltwise(mode=_mode), [normal(3, 17), normal(3, 17)])
    case(f"{_mode.name}-int32", ops.Eltwise(mode=_mode), [integers(-9, 9, 3, 17), integers(-9, 9, 3, 17)])
case("channels", ops.BiasAdd(), [normal(2, 3, 5, 13), normal(13)])
case("three", ops.AddN(), [normal(3, 5), normal(3, 5), normal(3, 5)])
case("one", ops.AddN(), [normal(20011)])
for _dtype in ("int32", "int64"):
    case(_dtype, ops.AddN(), [integers(-9, 9, 3, 5, dtype=_dtype) for _ in range(4)])
case("float64", ops.AddN(), [normal(7).astype(np.float64), normal(7).astype(np.float64)])
for _exponent in (1.0, 2.0, 3.0, -1.0, 0.5, 2.4, 0.0, -2.0):
    case(f"to-{_exponent}", ops.PowFusion(), [np.abs(normal(3, 111)) + float32(0.1), float32(_exponent)])
case("scaled", ops.PowFusion(scale=0.5, shift=2.0), [np.abs(normal(3, 111)), float32([1.7])])
case("negative-base", ops.PowFusion(), [normal(5, 1), float32([[2, 3, -1, 0, 5]])])
case("tensor", ops.PowFusion(), [np.abs(normal(4, 9)), normal(4, 9)])
case("int-exponent", ops.PowFusion(), [normal(4, 9), integers(0, 5, 4, 9, dtype=np.int64)])
case("int32", ops.PowFusion(), [integers(-5, 6, 4, 9), integers(0, 5, 4, 9)])
case("int64", ops.PowFusion(), [integers(-5, 6, 4, 9, dtype=np.int64), integers(0, 9, 9, dtype=np.int64)])
case("float64", ops.PowFusion(), [np.abs(normal(9)).astype(np.float64), np.asarray(1.5)], tolerance=1e-12)
case("channels", ops.ScaleFusion(axis=-1), [normal(2, 3, 5, 13), normal(13), normal(13)])
case("no-offset", ops.ScaleFusion(axis=1), [normal(2, 3, 5, 700), normal(3)])
case(
    "relu",
    ops.ScaleFusion(axis=1, activation_type=ActivationType.RELU),
    [normal(2, 3, 5, 7), normal(3, 5), normal(3, 5)],
)

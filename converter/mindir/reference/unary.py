"""References of element-wise functions of one input."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..graph import data_type_of, numpy_type
from ..ops import Operator
from ..ops import unary as ops
from ..ops.enums import DataType
from ._declare import Array, Inputs, case, float32, integers, normal, reference

_erf = np.vectorize(math.erf, otypes=[np.float64])

FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "Abs": np.abs,
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "BitwiseNot": np.invert,
    "Ceil": np.ceil,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Erf": _erf,
    "Floor": np.floor,
    "IsFinite": np.isfinite,
    "IsNaN": np.isnan,
    "Log": np.log,
    "Log1p": np.log1p,
    "LogicalNot": np.logical_not,
    "Neg": np.negative,
    "Reciprocal": lambda x: 1 / x,
    "Round": np.rint,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Square": np.square,
    "Tan": np.tan,
}


def widened(x: Array | None) -> Array:
    """Converts float32 to float64; returns other types unchanged."""
    assert x is not None
    return x.astype(np.float64) if x.dtype == np.float32 else x


@reference(*FUNCTIONS)
def unary(op: Operator, inputs: Inputs) -> list[Array]:
    """The NumPy function; predicates return bool, others the type of x."""
    assert inputs[0] is not None
    y = FUNCTIONS[op.name](widened(inputs[0]))
    return [np.asarray(y, np.bool_ if op.name.startswith("Is") else inputs[0].dtype)]


@reference("IsInf")
def is_infinite(op: ops.IsInf, inputs: Inputs) -> list[Array]:
    """Whether elements are infinite, with the requested signs."""
    assert inputs[0] is not None
    positive, negative = np.isposinf(inputs[0]), np.isneginf(inputs[0])
    return [(positive & op.detect_positive) | (negative & op.detect_negative)]


@reference("ExpFusion")
def exponential(op: ops.ExpFusion, inputs: Inputs) -> list[Array]:
    """base^(scale x + shift); base -1 is e."""
    base = math.e if op.base == -1 else op.base
    x = widened(inputs[0])
    result = np.float64 if inputs[0] is not None and inputs[0].dtype == np.float64 else np.float32
    return [np.asarray(base ** (op.scale * x + op.shift), result)]


@reference("Clip")
def clip(op: ops.Clip, inputs: Inputs) -> list[Array]:
    """Clips to bounds from inputs, or both from attributes; max if min > max."""
    x, *bounds = inputs
    assert x is not None
    low, high = (op.min, op.max) if not bounds else (bounds[0], bounds[1] if len(bounds) > 1 else None)
    y = x if low is None else np.maximum(x, np.asarray(low, x.dtype))
    return [y if high is None else np.minimum(y, np.asarray(high, x.dtype))]


@reference("Cast")
def cast(op: ops.Cast, inputs: Inputs) -> list[Array]:
    """NumPy's astype; the second input is the type number."""
    x, number = inputs
    assert x is not None
    assert number is not None
    return [x.astype(numpy_type(DataType(int(number.item()))))]


_SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -3e38, 0.5, -1.5, 2.5], np.float32)
_WIDE = np.concatenate([normal(4003) * 20, normal(997) * 0.01, 10 ** (normal(500) * 8)]).astype(np.float32)

_DOMAINS: dict[str, Array] = {
    "Acos": np.linspace(-1, 1, 1001).astype(np.float32),
    "Acosh": 1 + np.abs(_WIDE),
    "Asin": np.linspace(-1, 1, 1001).astype(np.float32),
    "Atanh": np.linspace(-0.999, 0.999, 1001).astype(np.float32),
    "Cosh": np.linspace(-20, 20, 999).astype(np.float32),
    "Log": np.abs(_WIDE) + float32(1e-30),
    "Log1p": np.abs(_WIDE) - float32(1e-3),
    "Reciprocal": np.where(np.abs(_WIDE) < 0.1, float32(3), _WIDE),
    "Rsqrt": np.abs(_WIDE) + float32(0.1),
    "Sinh": np.linspace(-20, 20, 999).astype(np.float32),
    "Sqrt": np.abs(_WIDE),
    "Square": np.clip(_WIDE, -1e10, 1e10),
    "Tan": np.linspace(-1.5, 7, 1001).astype(np.float32),
}
_INTEGER_ONLY = ("BitwiseNot", "LogicalNot")
_INTEGERS = ("Abs", "BitwiseNot", "Neg", "Sign", "Square")

for _name in FUNCTIONS:
    _op = getattr(ops, _name)()
    _domain = _DOMAINS.get(_name, _WIDE)
    if _name not in _INTEGER_ONLY:
        case("float32", _op, [_domain])
        case("float64", _op, [_domain.astype(np.float64)], tolerance=1e-12)
        case("special", _op, [_SPECIAL])
        case("scalar", _op, [np.asarray(_domain[7])])
    if _name in _INTEGERS:
        for _dtype in ("int8", "int16", "int32", "int64"):
            case(_dtype, _op, [integers(-100, 100, 3, 17, dtype=_dtype)])
    if _name in ("Abs", "BitwiseNot", "Sign", "Square"):
        for _dtype in ("uint8", "uint16", "uint32", "uint64"):
            case(_dtype, _op, [integers(0, 15, 3, 17, dtype=_dtype)])

case("several-parts", ops.Abs(), [normal(5, 7919)])
case("empty", ops.Abs(), [normal(0, 4)])
case("bool", ops.LogicalNot(), [integers(0, 2, 5, 7, dtype=np.bool_)])
case("int32", ops.LogicalNot(), [integers(0, 2, 5, 7)])
case("huge-angles", ops.Sin(), [float32([1e6, 1e8, 3e20, -1e38, 16384.25])])
case("huge-angles", ops.Cos(), [float32([1e6, 1e8, 3e20, -1e38, 16384.25])])

for _positive, _negative in ((True, True), (True, False), (False, True), (False, False)):
    _op = ops.IsInf(detect_positive=_positive, detect_negative=_negative)
    case(f"{_positive}-{_negative}", _op, [_SPECIAL])
    case(f"{_positive}-{_negative}-float64", _op, [_SPECIAL.astype(np.float64)])

case("e", ops.ExpFusion(), [np.linspace(-104, 88, 3001).astype(np.float32)])
case("e-float64", ops.ExpFusion(), [np.linspace(-700, 700, 999)], tolerance=1e-12)
case("base-2", ops.ExpFusion(base=2.0, scale=0.5, shift=1.0), [normal(3, 333)])
case("special", ops.ExpFusion(), [_SPECIAL[:5]])

case("attributes", ops.Clip(min=-0.5, max=0.75), [normal(7, 33)])
case("inputs", ops.Clip(), [normal(7, 33), float32(-0.25), float32(0.5)], constants=(1, 2))
case("min-only", ops.Clip(), [normal(7, 33), float32(-0.25)])
case("crossed", ops.Clip(), [normal(7, 33), float32(1), float32(-1)])
for _dtype in ("int8", "int32", "int64", "float64"):
    _low, _high = np.asarray(-3, _dtype), np.asarray(40, _dtype)
    case(_dtype, ops.Clip(), [integers(-100, 100, 300, dtype=_dtype), _low, _high])
case("uint8", ops.Clip(), [integers(0, 250, 300, dtype=np.uint8), np.asarray(7, np.uint8), np.asarray(90, np.uint8)])

_CAST_TYPES = (
    np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
    np.float16, np.float32, np.float64,
)  # fmt: skip
for _from in _CAST_TYPES:
    for _to in _CAST_TYPES:
        _values = integers(0, 2 if _from is np.bool_ else 120, 2, 301).astype(_from)
        _number = np.asarray(int(data_type_of(np.dtype(_to))), np.int32)
        case(f"{np.dtype(_from).name}-{np.dtype(_to).name}", ops.Cast(), [_values, _number], constants=(1,))
for _label, _values, _type in (
    ("wrap", np.array([300, -1, 70000, -(2**40), 2**62 + 1], np.int64), DataType.INT8),
    ("truncate", np.array([1.9, -1.9, 0.5, -0.5, 1e6], np.float32), DataType.INT32),
    ("round-once", np.array([2**53 + 1, 2**60 + 2**36 + 1, -(2**62) - 1], np.int64), DataType.FLOAT32),
    ("half", np.array([65504, 65519, 65520, 6e-8, 2.9e-8, 1e-5, 0.1, 1 + 2**-11, np.inf, np.nan], np.float32),
     DataType.FLOAT16),
    ("from-half", np.array([0, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0x7E00, 0x8001], np.uint16).view(np.float16),
     DataType.FLOAT32),
    ("nan-is-true", np.array([0, np.nan, 1, -0.0], np.float32), DataType.BOOL),
):  # fmt: skip
    case(_label, ops.Cast(), [_values, np.asarray(int(_type), np.int32)], constants=(1,), tolerance=0.0)

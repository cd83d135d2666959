"""Element-wise operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from .registry import IMAGE, case, normal, raw, weight

for name in [
    "Abs",
    "Acos",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Cos",
    "Cosh",
    "Erf",
    "Erfc",
    "Exp",
    "Expm1",
    "Floor",
    "Neg",
    "Reciprocal",
    "Rint",
    "Round",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Square",
    "Tan",
    "Tanh",
    "Relu",
    "Relu6",
    "Elu",
    "Selu",
    "Softplus",
    "Softsign",
    "OnesLike",
    "ZerosLike",
]:
    x = np.clip(normal(name, 2, 9), -0.95, 0.95) if name in ("Acos", "Asin", "Atanh") else normal(name, 2, 9) * 3

    def unary(x: Any, name: str = name) -> Any:
        operator = getattr(raw, name)
        return (
            operator(features=x) if name in ("Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign") else operator(x=x)
        )

    case(f"unary_{name.lower()}", x)(unary)

for name in ["Acosh", "Log", "Log1p", "Rsqrt", "Sqrt", "Inv"]:
    case(f"unary_{name.lower()}", np.abs(normal(name, 2, 9)) + 1.0)(lambda x, name=name: getattr(raw, name)(x=x))

for name in ["IsFinite", "IsInf", "IsNan"]:
    case(f"unary_{name.lower()}", np.array([[1, np.inf, np.nan], [-np.inf, 0, -2]], np.float32))(
        lambda x, name=name: getattr(raw, name)(x=x)
    )

for name in [
    "Add",
    "AddV2",
    "Sub",
    "Mul",
    "Div",
    "RealDiv",
    "FloorDiv",
    "FloorMod",
    "Maximum",
    "Minimum",
    "SquaredDifference",
    "Atan2",
    "DivNoNan",
    "MulNoNan",
    "Xdivy",
    "Xlogy",
    "Xlog1py",
    "Equal",
    "NotEqual",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
]:
    b = np.abs(normal(name + "b", 3, 1, 4)) + 0.5
    b[0, 0, 0] = 0 if name in ("DivNoNan", "MulNoNan") else b[0, 0, 0]

    def binary(a: Any, b: Any, name: str = name) -> Any:
        operator = getattr(raw, name)
        return operator(y=a, x=b) if name == "Atan2" else operator(x=a, y=b)

    case(f"binary_{name.lower()}", (2, 4), b)(binary)

for name in [
    "FloorDiv",
    "FloorMod",
    "TruncateDiv",
    "TruncateMod",
    "Maximum",
    "Mul",
    "Sub",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "LeftShift",
    "RightShift",
]:
    case(
        f"integers_{name.lower()}",
        np.array([[7, -7, 100], [-3, 5, 9]], np.int32),
        np.array([2, 3, 4], np.int32),
    )(lambda x, y, name=name: getattr(raw, name)(x=x, y=y))

case("power", np.abs(normal("power", 2, 5)), np.float32(1.7))(lambda x, y: tf.pow(x, y))
case("logic", np.array([True, False, True]), np.array([True, True, False]))(
    lambda a, b: (tf.logical_and(a, b), tf.logical_or(a, tf.logical_not(b)))
)
case("select_v2", np.array([[True], [False]]), (2, 3), (1, 3))(lambda c, a, b: tf.where(c, a, b))
case("select_rows", np.array([True, False]), (2, 3), (2, 3))(lambda c, a, b: raw.Select(condition=c, x=a, y=b))
case("where_indices", np.array([[1, 0, 2], [0, 0, 3]], np.float32))(lambda x: tf.where(x))
case("clip", (2, 6))(lambda x: tf.clip_by_value(x, -0.5, 0.7))
case("casts", (2, 3))(lambda x: (tf.cast(x * 3, tf.int32), tf.cast(x > 0, tf.float32), tf.cast(x, tf.bool)))
case("add_n", (2, 3), (2, 3), (2, 3))(lambda *x: tf.add_n(x))
case("leaky_relu", (2, 7))(lambda x: tf.nn.leaky_relu(x, 0.3))
case("softmax", (2, 3, 5))(lambda x: (tf.nn.softmax(x), tf.nn.log_softmax(x)))
case("bias_add", IMAGE)(lambda x: tf.nn.bias_add(x, weight(3)))

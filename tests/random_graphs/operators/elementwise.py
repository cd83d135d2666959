"""Element-wise operators: functions, arithmetic, comparisons, logic, casts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..builder import Builder
from ..evaluate import Rejected
from ..values import FLOATS, INTEGERS, NUMBERS, SIGNED, TYPES, UNSIGNED, Value
from .registry import operator


@operator("Relu", "Abs", "Neg", "Sign")
def signed(g: Builder, name: str) -> None:
    g.node(name, g.pick((*FLOATS, *SIGNED)))


@operator("Sigmoid", "Tanh", "Erf", "Softplus", "Softsign", "Exp", "Sin", "Cos", "Tan", "Sinh", "Cosh")
def function(g: Builder, name: str) -> None:
    g.node(name, g.pick(FLOATS))


@operator("Atan", "Asinh", "Ceil", "Floor", "Round", "Reciprocal")
def another_function(g: Builder, name: str) -> None:
    g.node(name, g.pick(FLOATS))


@operator("HardSwish", since=14)
def hard_swish(g: Builder, name: str) -> None:
    g.node(name, g.pick(FLOATS))


@operator("Mish", since=18)
def mish(g: Builder, name: str) -> None:
    g.node(name, g.pick(FLOATS))


@operator("Gelu", since=20)
def gelu(g: Builder, name: str) -> None:
    g.node(name, g.pick(FLOATS), approximate=g.choose((None, "none", "tanh")))


@operator("Identity")
def identity(g: Builder, name: str) -> None:
    g.node(name, g.pick(TYPES))


@operator("Sqrt", "Log")
def of_positive(g: Builder, name: str) -> None:
    x = g.pick(FLOATS)
    if not x.always(lambda array: np.all(array > 0)):
        x = g.node("Abs", x)
        if name == "Log":
            x = g.node("Add", x, g.constant(0.5, x.dtype))
    g.node(name, x)


@operator("Asin", "Acos", "Atanh", "Acosh")
def of_an_interval(g: Builder, name: str) -> None:
    x = g.pick(FLOATS)
    low, high = (1.125, 4.0) if name == "Acosh" else (-0.875, 0.875)
    g.node(name, clipped(g, x, low, high))


def clipped(g: Builder, x: Value, low: float, high: float) -> Value:
    """Clips x to bounds, which are attributes in old opsets."""
    if g.opset < 11:
        return g.node("Clip", x, min=low, max=high)
    return g.node("Clip", x, g.constant(low, x.dtype), g.constant(high, x.dtype))


@operator("Elu", "LeakyRelu", "Celu", "ThresholdedRelu")
def with_alpha(g: Builder, name: str) -> None:
    g.node(
        name,
        g.pick(FLOATS[:1] if name == "Celu" else FLOATS),
        alpha=g.choose((None, 0.25, 1.0, 1.5, 0.0 if name == "LeakyRelu" else 2.0)),
    )


@operator("Selu", "HardSigmoid", "Shrink")
def with_two(g: Builder, name: str) -> None:
    first, second = {"Selu": ("alpha", "gamma"), "HardSigmoid": ("alpha", "beta"), "Shrink": ("lambd", "bias")}[name]
    attributes: dict[str, Any] = {first: g.choose((None, 0.25, 1.5)), second: g.choose((None, 0.5, 0.125))}
    g.node(name, g.pick(NUMBERS if name == "Shrink" else FLOATS), **attributes)


@operator("PRelu")
def prelu(g: Builder, name: str) -> None:
    x = g.pick((*FLOATS, "int32"))
    slope = g.partner(x)
    if np.broadcast_shapes(x.shape, slope.shape) != x.shape:
        raise Rejected("the slope must broadcast to the input")
    g.node(name, x, slope)


@operator("Add", "Sub", "Mul")
def arithmetic(g: Builder, name: str) -> None:
    x = g.pick(NUMBERS)
    y = g.partner(x)
    g.node(name, *((y, x) if g.maybe() else (x, y)))


@operator("Div")
def division(g: Builder, name: str) -> None:
    x = g.pick(NUMBERS)
    y = g.partner(x, 1, 5) if g.maybe() else g.partner(x)
    if g.maybe(4):
        x, y = y, x
    if not y.always(np.all):
        raise Rejected("division by 0")
    g.node(name, x, y)


@operator("Pow")
def power(g: Builder, name: str) -> None:
    x = g.pick((*FLOATS, "int32", "int64"))
    if g.maybe():
        exponent = g.constant(
            g.choose((2.0, 3.0, 0.5, 1.0, 0.0, -1.0)), g.choose((x.dtype, "float32", "int64", "int32"))
        )
    else:
        exponent = g.partner(x, 0, 3)
    g.node(name, x, exponent)


@operator("Mod")
def modulo(g: Builder, name: str) -> None:
    x = g.pick(NUMBERS)
    y = g.partner(x, 1, 5)
    if not y.always(np.all):
        raise Rejected("division by 0")
    g.node(name, x, y, fmod=1 if x.dtype in FLOATS or g.maybe() else None)


@operator("Min", "Max", "Sum", "Mean")
def several(g: Builder, name: str) -> None:
    x = g.pick(FLOATS if name in ("Sum", "Mean") else NUMBERS)
    others = [g.partner(x) for _ in range(g.integer(0, 3))]
    g.node(name, x, *others)


@operator("Clip")
def clip(g: Builder, name: str) -> None:
    x = g.pick(NUMBERS)
    bounds = (
        {"u": (2, 6)}.get(x.array.dtype.kind, (-1, 1))
        if x.dtype in INTEGERS
        else g.choose(((0, 6), (-1, 1), (-0.5, 0.25), (0, 1), (1, -1)))
    )
    if g.opset < 11:
        least, most = (float(bound) if g.maybe() else None for bound in bounds)
        g.node(name, x, min=least, max=most)
        return
    low, high = (g.operand(x.dtype, (), bound, bound) if g.maybe() else None for bound in bounds)
    g.node(name, x, low, high)


@operator("LessOrEqual", "GreaterOrEqual", since=12)
def weak_comparison(g: Builder, name: str) -> None:
    comparison(g, name)


@operator("Equal", "Less", "Greater")
def comparison(g: Builder, name: str) -> None:
    x = g.pick((*NUMBERS, "bool") if name == "Equal" else NUMBERS)
    g.node(name, x, g.partner(x))


@operator("And", "Or", "Xor")
def logic(g: Builder, name: str) -> None:
    x = g.pick(("bool",))
    g.node(name, x, g.partner(x))


@operator("Not")
def negation(g: Builder, name: str) -> None:
    g.node(name, g.pick(("bool",)))


@operator("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", since=18)
def bitwise(g: Builder, name: str) -> None:
    x = g.pick(INTEGERS)
    g.node(name, *((x,) if name == "BitwiseNot" else (x, g.partner(x))))


@operator("BitShift")
def shift(g: Builder, name: str) -> None:
    x = g.pick(UNSIGNED)
    g.node(name, x, g.partner(x, 0, 7), direction=g.choose(("LEFT", "RIGHT")))


@operator("Where")
def where(g: Builder, name: str) -> None:
    condition = g.pick(("bool",))
    x = (
        g.pick(("float32", "float64", "int64", "int32", "uint8"), where=lambda v: v.shape == condition.shape)
        if g.maybe()
        else g.operand(
            g.choose(("float32", "int32", "int64", "bool", "uint8")), condition.shape if condition.fixed_shape else ()
        )
    )
    g.node(name, condition, x, g.partner(x))


@operator("Cast")
def cast(g: Builder, name: str) -> None:
    x = g.pick(TYPES)
    target = g.choose(TYPES)
    if x.dtype in FLOATS and np.dtype(target).kind in "iu":
        info = np.iinfo(target)
        if not x.always(lambda array: array.size == 0 or (np.all(array > info.min) and np.all(array < info.max))):
            raise Rejected("what does not fit is not defined")
    g.node(name, x, to=np_element(target))


@operator("IsNaN", "IsInf")
def tests(g: Builder, name: str) -> None:
    special = np.array([np.nan, np.inf, -np.inf, 0, 1], np.float32)
    x = g.pick(FLOATS[:1], low=1)
    picked = g.data("int64", x.shape, 0, 4) if x.fixed_shape else np.zeros((1,), np.int64)
    g.node(name, g.constant(special[picked]))


@operator("Dropout")
def dropout(g: Builder, name: str) -> None:
    x = g.pick(FLOATS)
    g.nodes_results(
        name,
        x,
        g.constant(0.5, x.dtype) if g.opset >= 12 and g.maybe() else None,
        outputs=g.choose((1, 2)) if g.opset >= 12 else 1,
    )


def np_element(dtype: str) -> int:
    """Returns ONNX's code of a NumPy data type."""
    from onnx import helper

    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

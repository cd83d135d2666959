"""Gradients of trigonometric and hyperbolic functions, and their inverses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, SubFusion
from mslite.converter.mindir.ops.unary import Cos, Cosh, Neg, Rsqrt, Sin, Sinh
from mslite.converter.training.gradients.rule import Call, Gradients, rule


@rule("Sin", "Cos")
def _wave(call: Call, dy: Value) -> Gradients:
    """d sin = cos, d cos = -sin."""
    x, shape = call.node.inputs[0], call.shape(0)
    if call.op.name == "Sin":
        return [call.product("x", dy, call.add(Cos(), "slope", [x], shape))]
    fall = call.product("fall", dy, call.add(Sin(), "slope", [x], shape))
    return [call.add(Neg(), "x", [fall], shape)]


@rule("Sinh", "Cosh")
def _hyperbolic(call: Call, dy: Value) -> Gradients:
    """d sinh = cosh, d cosh = sinh."""
    op = Cosh() if call.op.name == "Sinh" else Sinh()
    return [call.product("x", dy, call.add(op, "slope", [call.node.inputs[0]], call.shape(0)))]


@rule("Tan")
def _tangent(call: Call, dy: Value) -> Gradients:
    """d tan = 1 + tan^2."""
    return [call.product("x", dy, _more(call, _square(call, call.node.output)))]


def _square(call: Call, value: Value) -> Value:
    return call.product("square", value, value)


def _one(call: Call) -> Value:
    return call.build.constant(call.name("one"), np.float32(1))


def _more(call: Call, value: Value) -> Value:
    """Adds value + 1."""
    return call.add(AddFusion(), "more", [value, _one(call)], call.shape(0))


def _less(call: Call, value: Value) -> Value:
    """Adds value - 1."""
    return call.difference("less", value, _one(call))


def _rest(call: Call, value: Value) -> Value:
    """Adds 1 - value."""
    return call.add(SubFusion(), "rest", [_one(call), value], call.shape(0))


_OF_SQUARE: dict[str, tuple[Callable[[Call, Value], Value], bool]] = {
    "Atan": (_more, False),
    "Atanh": (_rest, False),
    "Asin": (_rest, True),
    "Acos": (_rest, True),
    "Asinh": (_more, True),
    "Acosh": (_less, True),
}
"""Operator -> the divisor of dy as a function of x^2, and whether its square root is used. The gradient of Acos is
negated."""


@rule(*_OF_SQUARE)
def _inverse(call: Call, dy: Value) -> Gradients:
    made, is_root = _OF_SQUARE[call.op.name]
    divisor = made(call, _square(call, call.node.inputs[0]))
    if not is_root:
        return [call.add(DivFusion(), "x", [dy, divisor], call.shape(0))]
    dx = call.product("rise", dy, call.add(Rsqrt(), "slope", [divisor], call.shape(0)))
    return [call.add(Neg(), "x", [dx], call.shape(0)) if call.op.name == "Acos" else dx]

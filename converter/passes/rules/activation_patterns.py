"""Fuses the arithmetic that exporters write for activations into one Activation node.

GELU: x/2 * (1 + erf(x / sqrt 2)); its approximation x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)));
SWISH: x * sigmoid(x); HSIGMOID: min(max(x + 3, 0), 6) / 6; HSWISH: x * HSIGMOID(x).
log(sigmoid(x)), which PyTorch's exporter writes for LogSigmoid, becomes -softplus(-x), which is also accurate if
sigmoid(x) is 0 or rounded to 1.
"""

from __future__ import annotations

import math

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.unary import Neg
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Call, Match, Pattern, number, one_of, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import activation_of, is_float, is_plain, relu_type, replace_operator

X = value("x")


def _add(a: Pattern, b: Pattern) -> Call:
    return op("AddFusion", a, b, commutative=True, where=is_plain)


def _mul(a: Pattern, b: Pattern) -> Call:
    return op("MulFusion", a, b, commutative=True, where=is_plain)


def _div(a: Pattern, b: Pattern) -> Call:
    return op("DivFusion", a, b, where=is_plain)


def _activation(kind: ActivationType, x: Pattern) -> Call:
    return op("Activation", x, where=lambda node: getattr(node.op, "activation_type", None) is kind)


def _halved_product(factor: Pattern) -> tuple[Call, ...]:
    """Returns patterns of x * factor / 2 in all orders that exporters use."""
    half = number(0.5)
    return (
        _mul(_mul(X, factor), half),
        _mul(_mul(X, half), factor),
        _mul(X, _mul(factor, half)),
        _div(_mul(X, factor), number(2.0)),
    )


_ERF = op("Erf", one_of(_div(X, number(math.sqrt(2))), _mul(X, number(math.sqrt(0.5)))))
_CUBE = one_of(
    op("PowFusion", X, number(3.0), where=lambda node: _is_plain_power(node)),
    _mul(X, _mul(X, X)),
    _mul(X, op("Square", X)),
)
_SCALED_CUBE = one_of(_mul(_CUBE, number(0.044715)), _mul(X, _mul(_mul(X, X), number(0.044715))))
_INNER = one_of(
    _mul(_add(X, _SCALED_CUBE), number(math.sqrt(2 / math.pi))),
    _mul(X, _mul(_add(_mul(_mul(X, X), number(0.044715)), number(1.0)), number(math.sqrt(2 / math.pi)))),
)
_TANH = _activation(ActivationType.TANH, _INNER)
_RELU6 = one_of(
    op("Activation Clip", _add(X, number(3.0)), where=lambda node: relu_type(node) is ActivationType.RELU6),
    op("AddFusion", X, number(3.0), commutative=True, where=lambda node: activation_of(node) is ActivationType.RELU6),
)
_HARD_SIGMOID = one_of(_div(_RELU6, number(6.0)), _mul(_RELU6, number(1 / 6)))


def _is_plain_power(node: Node) -> bool:
    return getattr(node.op, "scale", 1) == 1 and getattr(node.op, "shift", 0) == 0


def _check(match: Match, context: Context) -> str | None:
    if not is_float(match.value("x")):
        return "the activation supports float32 only"
    if match.value("x").shape != match.root.output.shape:
        return "a factor changes the shape"
    return None


def _rule(name: str, kind: ActivationType, patterns: tuple[Call, ...], approximate: bool = False) -> Rule:
    def rewrite(match: Match, graph: Graph) -> None:
        replace_operator(match.root, Activation(activation_type=kind, approximate=approximate), [match.value("x")])

    return Rule(name, patterns, rewrite, _check)


GELU = _rule("OnnxGeLUFusion", ActivationType.GELU, _halved_product(_add(_ERF, number(1.0))))
GELU_TANH = _rule("TfGeLUFusion", ActivationType.GELU, _halved_product(_add(_TANH, number(1.0))), approximate=True)
SWISH = _rule("SigmoidMulFusion", ActivationType.SWISH, (_mul(X, _activation(ActivationType.SIGMOID, X)),))
HARD_SIGMOID = _rule(
    "HardSigmoidFusion", ActivationType.HSIGMOID, (_div(_RELU6, number(6.0)), _mul(_RELU6, number(1 / 6)))
)
HARD_SWISH = _rule(
    "HardSwishFusion",
    ActivationType.HSWISH,
    (
        _mul(X, _HARD_SIGMOID),
        _mul(X, _activation(ActivationType.HSIGMOID, X)),
        _div(_mul(X, _RELU6), number(6.0)),
        _mul(_mul(X, _RELU6), number(1 / 6)),
    ),
)


def _negated_softplus(match: Match, graph: Graph) -> None:
    root, x = match.root, match.value("x")
    result = root.output
    value = x
    for op_, what in ((Neg(), "negated"), (Activation(activation_type=ActivationType.SOFTPLUS), "softplus")):
        made = Value(f"{result.name}/{what}", result.dtype, result.shape, format=result.format)
        graph.insert_before(root, Node(op_, made.name, (value,), (made,), source=root.source))
        value = made
    replace_operator(root, Neg(), [value])


LOG_SIGMOID = Rule(
    "LogSigmoidFusion", (op("Log", _activation(ActivationType.SIGMOID, X)),), _negated_softplus, _check, shared=True
)

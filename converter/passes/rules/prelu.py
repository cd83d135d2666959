"""Fuses the arithmetic that exporters write for rectifiers.

max(x, 0) → RELU, min(RELU(x), 6) → RELU6;
RELU(x) - slope * RELU(-x), RELU(x) + slope * min(x, 0), RELU(x) + slope * (x - |x|) / 2 and max(x, slope * x) → LEAKY_RELU
for one slope, PReLUFusion for per-channel slopes.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Node
from mslite.converter.mindir.ops.activation import Activation, PReLUFusion
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.unary import Clip
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, Pattern, const, number, one_of, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import (
    Float,
    is_float,
    is_plain,
    last_dimension,
    per_channel,
    relu_type,
    replace_operator,
)
from mslite.converter.passes.rules._shared_constants import REFUSAL, shared_replacement, would_split

_X = value("x")
_SLOPE = const("slope")


def _is_relu(node: Node) -> bool:
    return relu_type(node) is ActivationType.RELU


def _keeps_negative(node: Node) -> bool:
    clip = node.op
    return isinstance(clip, Clip) and clip.max == 0 and clip.min <= float(np.finfo(np.float32).min)


def _relu(x: Pattern) -> Pattern:
    return one_of(op("Activation Clip", x, where=_is_relu), op("Maximum", x, number(0.0), commutative=True))


def _scaled(x: Pattern) -> Pattern:
    return op("MulFusion", x, _SLOPE, commutative=True, where=is_plain)


_NEGATIVE = one_of(op("Minimum", _X, number(0.0), commutative=True), op("Clip", _X, where=_keeps_negative))
_TWICE_NEGATIVE = op("SubFusion", _X, op("Abs", _X), where=is_plain)
_HALVED = op("MulFusion", _scaled(_TWICE_NEGATIVE), number(0.5), commutative=True, where=is_plain)
_BELOW = one_of(
    _scaled(_NEGATIVE),
    _HALVED,
    op("MulFusion", _SLOPE, op("MulFusion", _TWICE_NEGATIVE, number(0.5), commutative=True), commutative=True),
)
_OF_NEGATED = _scaled(_relu(op("Neg", _X)))
_PATTERNS = (
    op("SubFusion", _relu(_X), _OF_NEGATED, where=is_plain),
    op("AddFusion", _relu(_X), _OF_NEGATED, name="negated", commutative=True, where=is_plain),
    op("AddFusion", _relu(_X), _BELOW, commutative=True, where=is_plain),
    op("Maximum", _X, _scaled(_X), name="maximum", commutative=True),
)


def _slope(match: Match) -> Float | None:
    """Returns one slope or per-channel slopes, or None."""
    channels = last_dimension(match.value("x"))
    data = match.array("slope")
    if data.size == 1:
        channels = 1
    if channels is None:
        return None
    slope = per_channel(data, channels)
    return slope if slope is None or "negated" not in match.nodes else -slope


def _check(match: Match, context: Context) -> str | None:
    x = match.value("x")
    if not is_float(x) or x.shape is None or x.shape != match.root.output.shape:
        return "the input is not float32, or the slope changes the shape"
    slope = _slope(match)
    if slope is None:
        return "the slope is not one float32 number per channel"
    if "maximum" in match.nodes and not bool(((slope >= 0) & (slope <= 1)).all()):
        return "max(x, slope * x) needs slopes between 0 and 1"
    if would_split(match.value("slope"), context, lambda user: user.op.name == "MulFusion"):
        return REFUSAL
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    slope, root = _slope(match), match.root
    assert slope is not None
    if slope.size == 1:
        leaky = Activation(activation_type=ActivationType.LEAKY_RELU, alpha=float(slope[0]))
        replace_operator(root, leaky, [match.value("x")])
    else:
        what = ("slope", "negated" in match.nodes)
        stored = shared_replacement(match.value("slope"), what, f"{root.name}_slope", slope, match)
        replace_operator(root, PReLUFusion(), [match.value("x"), stored])


PRELU = Rule("PReluFusion", _PATTERNS, _rewrite, _check)


def _limit_check(match: Match, context: Context) -> str | None:
    x = match.value("x")
    if not is_float(x):
        return "the activation supports float32 only"
    return None if x.shape == match.root.output.shape else "the limit changes the shape"


def _limit_rewrite(match: Match, graph: Graph) -> None:
    if "relu" in match.nodes:
        six = Activation(activation_type=ActivationType.RELU6, min_val=0.0, max_val=6.0)
        replace_operator(match.root, six, [match.value("x")])
    else:
        replace_operator(match.root, Activation(activation_type=ActivationType.RELU), [match.value("x")])


LIMITS = Rule(
    "MinMaxActivationFusion",
    (
        op("Minimum", op("Activation Clip", _X, name="relu", where=_is_relu), number(6.0), commutative=True),
        op("Maximum", _X, number(0.0), commutative=True),
    ),
    _limit_rewrite,
    _limit_check,
)

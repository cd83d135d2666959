"""Patterns of the arithmetic that exporters write for (x - mean) / sqrt(variance + epsilon).

Names in a match: `x`, `mean_axes`, `variance_axes`, `epsilon`, and in some forms `gamma` and `beta`.
"""

from __future__ import annotations

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.passes.pattern import Call, Pattern, const, number, one_of, op, value
from mslite.converter.passes.rules._common import is_plain

X = value("x")


def _is_mean(node: Node) -> bool:
    reduce = node.op
    return (
        isinstance(reduce, ReduceFusion)
        and reduce.mode is ReduceMode.ReduceMean
        and reduce.keep_dims
        and not reduce.reduce_to_end
        and reduce.coeff in (0, 1)
    )


def mean(x: Pattern, name: str) -> Call:
    """Returns a pattern of the mean of `x` over the constant axes `<name>_axes` with keep_dims."""
    return op("ReduceFusion", x, const(f"{name}_axes"), name=name, where=_is_mean)


def square(x: Pattern) -> Pattern:
    """Returns a pattern of x^2 in its three forms."""
    return one_of(
        op("PowFusion", x, number(2.0), where=lambda node: node.op.scale == 1 and node.op.shift == 0),  # type: ignore[attr-defined]
        op("Square", x),
        op("MulFusion", x, x, where=is_plain),
    )


def with_epsilon(x: Pattern) -> Call:
    """Returns a pattern of x + epsilon."""
    return op("AddFusion", x, const("epsilon", lambda data: data.size == 1), commutative=True, where=is_plain)


def inverse_root(x: Pattern) -> Pattern:
    """Returns a pattern of 1 / sqrt(x)."""
    root = op("Sqrt", x)
    return one_of(op("Rsqrt", x), op("Reciprocal", root), op("DivFusion", number(1.0), root, where=is_plain))


def product(a: Pattern, b: Pattern) -> Call:
    return op("MulFusion", a, b, commutative=True, where=is_plain)


_CENTERED = op("SubFusion", X, mean(X, "mean"), name="centered", where=is_plain)
_SQUARED = one_of(square(_CENTERED), op("SquaredDifference", X, mean(X, "mean"), name="difference"))
_VARIANCE = with_epsilon(mean(_SQUARED, "variance"))
_INVERSE = inverse_root(_VARIANCE)
_PLAIN = (
    op("DivFusion", _CENTERED, op("Sqrt", _VARIANCE), where=is_plain),
    product(_CENTERED, _INVERSE),
)
# x * (gamma * r) + (beta - mean * (gamma * r)), as TensorFlow writes it; with beta = 0 the last term is -mean * (...)
_FACTOR = one_of(op("MulFusion", _INVERSE, const("gamma"), name="factor", commutative=True, where=is_plain), _INVERSE)
_SCALED = product(X, _FACTOR)
_SHIFT = product(mean(X, "mean"), _FACTOR)
_NEGATED_SHIFT = product(op("Neg", mean(X, "mean")), _FACTOR)
_TENSORFLOW = (
    op("AddFusion", _SCALED, op("SubFusion", const("beta"), _SHIFT, where=is_plain), commutative=True, where=is_plain),
    op("AddFusion", _SCALED, _NEGATED_SHIFT, commutative=True, where=is_plain),
    op("SubFusion", _SCALED, _SHIFT, where=is_plain),
)
FORMS: tuple[Call, ...] = (*_TENSORFLOW, *_PLAIN)
"""(x - mean) / sqrt(variance + epsilon), the longest form first."""


def normalized_axes(axes: Value, rank: int) -> list[int]:
    """Returns the elements of an axes input, sorted and non-negative."""
    return sorted(int(axis) % rank for axis in axes.array().reshape(-1))

"""Fuses the arithmetic x / sqrt(mean(x^2) + epsilon) over the last dimensions into RmsNorm."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph
from mslite.converter.mindir.ops.normalization import RmsNorm
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, op
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import is_float, is_plain, replace_operator, single
from mslite.converter.passes.rules.norm_patterns import (
    X,
    inverse_root,
    mean,
    normalized_axes,
    product,
    square,
    with_epsilon,
)

_MEAN_SQUARE = with_epsilon(mean(square(X), "mean"))
_PATTERNS = (
    product(X, inverse_root(_MEAN_SQUARE)),
    op("DivFusion", X, op("Sqrt", _MEAN_SQUARE), where=is_plain),
)


def _check(match: Match, context: Context) -> str | None:
    x = match.value("x")
    if not is_float(x) or x.rank is None:
        return "the input is not float32 of known rank"
    axes = normalized_axes(match.value("mean_axes"), x.rank)
    if axes != list(range(x.rank - len(axes), x.rank)) or not axes:
        return "the normalized dimensions are not the last ones"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    count = match.array("mean_axes").size
    replace_operator(match.root, RmsNorm(axis=-count, epsilon=single(match.array("epsilon"))), [match.value("x")])


RULE = Rule("RmsNormFusion", _PATTERNS, _rewrite, _check)

"""Fuses the nodes that exporters write for GroupNorm into GroupNormFusion.

Reshape [N, C, ...] → [N, G, -1], InstanceNorm over each row, Reshape back. The channels must be dimension 1, so the
rule runs before the layout pass.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph
from mslite.converter.mindir.ops.normalization import GroupNormFusion, InstanceNorm
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, Pattern, const, one_of, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import as_float, float_value, is_float, replace_operator


def _reshaped(x: Pattern) -> Pattern:
    """Returns a pattern of one or two Reshapes: InstanceNorm of a 3-D tensor is converted with a Reshape to 4-D."""
    once = op("Reshape", x)
    return one_of(op("Reshape", once), once)


_NORM = op("InstanceNorm", _reshaped(value("x")), const("gamma"), const("beta"), name="norm")
_PATTERNS = (op("Reshape", op("Reshape", _NORM)), op("Reshape", _NORM))


def _groups(match: Match) -> int | None:
    """Returns the number of groups if each normalized row is a group of channels of `x`, else None."""
    x, rows = match.value("x").shape, match.node("norm").inputs[0].shape
    if x is None or rows is None or len(x) < 3 or len(rows) < 3 or match.root.output.shape != x:
        return None
    if rows[0] != x[0] or rows[1] < 1 or x[1] < rows[1] or x[1] % rows[1] != 0:
        return None
    return rows[1]


def _check(match: Match, context: Context) -> str | None:
    if not is_float(match.value("x")):
        return "the normalization supports float32 only"
    groups, x = _groups(match), match.value("x").shape
    # If the result is trained, groups of one channel are also fused, so that the scale and offset after them replace_operator
    # gamma and beta.
    # 3-D inputs are the reshaped groups of other normalizations.
    if groups is None or x is None or (groups == x[1] and (len(x) == 3 or not context.settings.training)):
        return "the normalized rows are not groups of several channels"
    if any(match.array(name).dtype != np.float32 for name in ("gamma", "beta")):
        return "gamma or beta is not float32"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    x, root, norm = match.value("x"), match.root, match.node("norm").op
    groups = _groups(match)
    assert groups is not None
    assert x.shape is not None
    assert isinstance(norm, InstanceNorm)
    repeats = x.shape[1] // groups
    parameters = [
        float_value(f"{root.name}_{name}", np.repeat(as_float(match.value(name)).reshape(-1), repeats))
        for name in ("gamma", "beta")
    ]
    for parameter, name in zip(parameters, ("gamma", "beta"), strict=True):
        parameter.is_parameter = match.value(name).is_parameter
    replace_operator(root, GroupNormFusion(num_groups=groups, epsilon=norm.epsilon, affine=True), [x, *parameters])


RULE = Rule("GroupNormFusion", _PATTERNS, _rewrite, _check)

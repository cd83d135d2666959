"""Fuses the arithmetic of a normalization over the pixels of each image and channel into ChannelsLastInstanceNorm.

(x - mean) / sqrt(mean((x - mean)^2) + epsilon) over all dimensions between batch and channels.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph
from mslite.converter.mindir.ops.normalization import ChannelsLastInstanceNorm
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import (
    Float,
    float_value,
    is_float,
    last_dimension,
    per_channel,
    replace_operator,
    single,
)
from mslite.converter.passes.rules._shared_constants import REFUSAL, shared_replacement, would_split
from mslite.converter.passes.rules.norm_patterns import FORMS, normalized_axes

_AFFINE = frozenset({"AddFusion", "MulFusion", "SubFusion"})
"""Operators that read gamma and beta in the arithmetic of a normalization."""

_NEUTRAL = {"gamma": 1.0, "beta": 0.0}


def _parameter(match: Match, name: str, channels: int) -> Float | None:
    if name not in match.values:
        return np.full(channels, _NEUTRAL[name], np.float32)
    return per_channel(match.array(name), channels)


def _check(match: Match, context: Context) -> str | None:
    x = match.value("x")
    channels = last_dimension(x)
    if not is_float(x) or x.rank is None or channels is None:
        return "the input is not float32 with a known number of channels"
    pixels = list(range(1, x.rank - 1))
    if x.rank < 3 or any(
        normalized_axes(match.value(f"{name}_axes"), x.rank) != pixels for name in ("mean", "variance")
    ):
        return "the normalized dimensions are not those between batch and channels"
    for name in _NEUTRAL:
        if _parameter(match, name, channels) is None:
            return f"{name} is not one float32 number per channel"
        if name in match.values and would_split(match.value(name), context, lambda user: user.op.name in _AFFINE):
            return REFUSAL
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    x, root = match.value("x"), match.root
    channels = last_dimension(x)
    assert channels is not None
    inputs = [x]
    for name in _NEUTRAL:
        vector = _parameter(match, name, channels)
        assert vector is not None
        if name in match.values:
            inputs.append(shared_replacement(match.value(name), (name, channels), f"{root.name}_{name}", vector, match))
        else:
            inputs.append(float_value(f"{root.name}_{name}", vector))
    replace_operator(root, ChannelsLastInstanceNorm(epsilon=single(match.array("epsilon"))), inputs)


RULE = Rule("InstanceNormFusion", FORMS, _rewrite, _check)

"""Folds a per-channel scale and offset after a convolution into its weight and bias.

Covers batch normalization (y = (x - mean) / sqrt(variance + epsilon) * scale + offset), ScaleFusion and a multiplication
by a constant.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Node
from mslite.converter.mindir.ops.arithmetic import ScaleFusion
from mslite.converter.mindir.ops.convolution import Conv2dTransposeFusion
from mslite.converter.mindir.ops.normalization import FusedBatchNorm
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.pattern import Call, Match, const, op
from mslite.converter.passes.rule import Check, Rewrite, Rule
from mslite.converter.passes.rules._common import (
    Float,
    activation_of,
    as_float,
    broadcast_keeps_rank,
    float_value,
    is_plain,
    last_dimension,
    per_channel,
    replace_operator,
)
from mslite.converter.passes.rules._shared_constants import REFUSAL, are_shared

_CONV = op("Conv2DFusion Conv2dTransposeFusion", name="conv", where=is_plain)


def batch_norm_as_scale(node: Node) -> tuple[Float, Float] | None:
    """Returns the scale and offset that are equivalent to a FusedBatchNorm with constant statistics.

    Returns None if the statistics are not constant, or the variance is not finite and positive."""
    assert isinstance(node.op, FusedBatchNorm)
    arrays = [value.data for value in node.inputs[1:5]]
    if any(data is None or data.dtype != np.float32 for data in arrays) or len(arrays) != 4:
        return None
    gamma, beta, mean, variance = (np.asarray(data, np.float64) for data in arrays)
    if variance.ndim != 1 or any(data.shape != variance.shape for data in (gamma, beta, mean)):
        return None
    if not np.all(np.isfinite(variance)) or not np.all(variance + node.op.epsilon > 0):
        return None
    scale = gamma * np.array([1.0 / float(np.sqrt(item + node.op.epsilon)) for item in variance])
    return scale.astype(np.float32), (beta - mean * scale).astype(np.float32)


def _factors(match: Match) -> tuple[Float, Float | None] | None:
    """Returns the per-channel scale and offset of the matched root, or None."""
    root, channels = match.root, last_dimension(match.node("conv").output)
    if channels is None:
        return None
    if isinstance(root.op, FusedBatchNorm):
        return batch_norm_as_scale(root)
    if isinstance(root.op, ScaleFusion):
        rank = root.output.rank
        if rank is None or root.op.axis % rank != rank - 1:
            return None
    scale = per_channel(match.array("scale"), channels)
    if scale is None or not broadcast_keeps_rank(root, match.value("scale")):
        return None
    if not isinstance(root.op, ScaleFusion) or len(root.inputs) < 3:
        return scale, None
    if root.inputs[2].data is None:
        return None
    offset = per_channel(root.inputs[2].data, channels)
    return None if offset is None else (scale, offset)


def _check(match: Match, context: Context) -> str | None:
    conv = match.node("conv")
    if any(value.data is None or value.data.dtype != np.float32 for value in conv.inputs[1:]):
        return "weight and bias are not float32 constants"
    if context.settings.training and len(conv.inputs[1].users) > 1:
        return "the weight is shared with another layer and trained"
    constants = match.root.inputs[1:3] if isinstance(match.root.op, FusedBatchNorm) else match.root.inputs
    if are_shared((*conv.inputs[2:], *constants), context):
        return REFUSAL
    if _factors(match) is None:
        return "the factors are not one float32 constant per channel"
    if isinstance(conv.op, Conv2dTransposeFusion) and conv.op.group not in (0, 1):
        return "the channels of a grouped transposed convolution are in two dimensions of the weight"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    conv, root = match.node("conv"), match.root
    factors = _factors(match)
    assert factors is not None
    scale, offset = factors
    weight = as_float(conv.inputs[1])
    if isinstance(conv.op, Conv2dTransposeFusion):
        scaled = weight * scale
    else:
        scaled = weight * scale.reshape(-1, *([1] * (weight.ndim - 1)))
    inputs = [conv.inputs[0], float_value(f"{conv.inputs[1].name}_scaled", scaled)]
    if len(conv.inputs) > 2 or offset is not None:
        bias = as_float(conv.inputs[2]) * scale if len(conv.inputs) > 2 else np.zeros_like(scale)
        inputs.append(float_value(f"{conv.name}_bias", bias + offset if offset is not None else bias))
    replace_operator(root, changed(conv.op, activation_type=activation_of(root)), inputs, conv.name)


def _rule(name: str, pattern: Call, check: Check = _check, rewrite: Rewrite = _rewrite) -> Rule:
    return Rule(name, (pattern,), rewrite, check)


BATCH_NORM = _rule(
    "ConvBatchNormFusion",
    op(
        "FusedBatchNorm",
        _CONV,
        name="norm",
        where=lambda n: len(n.outputs) == 1 or not any(v.users for v in n.outputs[1:]),
    ),
)
SCALE = Rule(
    "ConvScaleFusion",
    (
        op("ScaleFusion", _CONV, const("scale"), name="scale_node"),
        op("MulFusion", _CONV, const("scale"), name="mul", commutative=True),
    ),
    _rewrite,
    _check,
)

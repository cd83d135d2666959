"""Folds the addition of a per-channel constant into the bias of a convolution."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.pattern import Match, const, op
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import (
    activation_of,
    as_float,
    bias_value,
    broadcast_keeps_rank,
    has_no_activation,
    last_dimension,
    per_channel,
    replace_operator,
)
from mslite.converter.passes.rules._shared_constants import REFUSAL, are_shared

CONVOLUTIONS = "Conv2DFusion Conv2dTransposeFusion"
_PATTERN = op(
    "AddFusion BiasAdd",
    op(CONVOLUTIONS, name="conv", where=has_no_activation),
    const("bias"),
    name="add",
    commutative=True,
)


def _check(match: Match, context: Context) -> str | None:
    add, channels = match.root, last_dimension(match.node("conv").output)
    if channels is None:
        return "the number of channels is unknown"
    if not broadcast_keeps_rank(add, match.value("bias")) or per_channel(match.array("bias"), channels) is None:
        return "the addend is not one float32 number per channel"
    conv = match.node("conv")
    if len(conv.inputs) > 2 and conv.inputs[2].data is None:
        return "the bias of the convolution is not constant"
    if match.value("bias").quant or any(value.quant for value in conv.inputs[2:]):
        return "a bias is quantized"
    is_whole = len(conv.inputs) < 3 and match.value("bias").shape == (channels,)  # the constant itself is the bias
    if not is_whole and are_shared((match.value("bias"), *conv.inputs[2:]), context):
        return REFUSAL
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    conv, add = match.node("conv"), match.root
    channels = last_dimension(conv.output)
    assert channels is not None
    own = as_float(conv.inputs[2]) if len(conv.inputs) > 2 else None
    bias = bias_value(match.value("bias"), channels, own, f"{conv.name}_bias")
    replace_operator(add, changed(conv.op, activation_type=activation_of(add)), [*conv.inputs[:2], bias], conv.name)


RULE = Rule("ConvBiasaddFusion", (_PATTERN,), _rewrite, _check, quantized=True)

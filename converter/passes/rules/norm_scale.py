"""Fuses batch normalization with constant statistics, or x * constant + constant, into ScaleFusion over the last
dimension."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph
from mslite.converter.mindir.ops.arithmetic import ScaleFusion
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, const, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import (
    activation_of,
    is_float,
    is_plain,
    last_dimension,
    per_channel,
    replace_operator,
)
from mslite.converter.passes.rules._shared_constants import REFUSAL, shared_replacement, would_split
from mslite.converter.passes.rules.conv_scale import batch_norm_as_scale


def _norm_check(match: Match, context: Context) -> str | None:
    if batch_norm_as_scale(match.root) is None:
        return "the statistics are not float32 constants"
    operands, norm = match.root.inputs[1:], match.root.op
    if any(
        would_split(value, context, lambda user: (user.op, user.inputs[1:]) == (norm, operands))
        for value in operands[:2]
    ):
        return REFUSAL
    return None


def _norm_rewrite(match: Match, graph: Graph) -> None:
    root = match.root
    factors = batch_norm_as_scale(root)
    rank = root.outputs[0].rank
    assert factors is not None
    assert rank is not None
    scale, offset = factors
    operands = tuple(map(id, root.inputs[1:]))
    inputs = [
        root.inputs[0],
        shared_replacement(root.inputs[1], ("scale", root.op, operands), f"{root.name}_scale", scale, match),
        shared_replacement(root.inputs[2], ("offset", root.op, operands), f"{root.name}_offset", offset, match),
    ]
    root.outputs = root.outputs[:1]
    replace_operator(root, ScaleFusion(axis=rank - 1), inputs)


BATCH_NORM = Rule("BatchNormToScaleFusion", (op("FusedBatchNorm", value("x")),), _norm_rewrite, _norm_check)


def _mul_add_check(match: Match, context: Context) -> str | None:
    x = match.value("x")
    channels = last_dimension(x)
    if x.is_constant or not is_float(x) or channels is None or channels < 2 or x.shape != match.root.output.shape:
        return "the result does not have the shape of a float32 input"
    for name in ("scale", "offset"):
        if match.array(name).size != channels or per_channel(match.array(name), channels) is None:
            return f"the {name} is not one float32 number per channel"
    for name, reader in (("scale", "MulFusion"), ("offset", "AddFusion")):
        if would_split(match.value(name), context, lambda user, reader=reader: user.op.name == reader):  # type: ignore[misc]
            return REFUSAL
    return None


def _mul_add_rewrite(match: Match, graph: Graph) -> None:
    x, root = match.value("x"), match.root
    channels, rank = last_dimension(x), x.rank
    assert channels is not None
    assert rank is not None
    inputs = [x]
    for name in ("scale", "offset"):
        vector = per_channel(match.array(name), channels)
        assert vector is not None
        inputs.append(shared_replacement(match.value(name), (name, channels), f"{root.name}_{name}", vector, match))
    replace_operator(root, ScaleFusion(axis=rank - 1, activation_type=activation_of(root)), inputs)


MUL_ADD = Rule(
    "MulAddFusion",
    (
        op(
            "AddFusion",
            op("MulFusion", value("x"), const("scale"), commutative=True, where=is_plain),
            const("offset"),
            commutative=True,
        ),
    ),
    _mul_add_rewrite,
    _mul_add_check,
)

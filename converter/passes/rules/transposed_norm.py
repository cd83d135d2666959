"""Fuses Transpose → InstanceNorm → Transpose, as in `.ms` files, into ChannelsLastInstanceNorm.

An activation between the normalization and the second Transpose stays after the normalization.
"""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.normalization import ChannelsLastInstanceNorm, InstanceNorm
from mslite.converter.passes.context import Context
from mslite.converter.passes.layout.permutation import channels_last, inverse
from mslite.converter.passes.pattern import Match, const, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import replace_operator

_NORM = op("InstanceNorm", op("Transpose", value("x"), const("before")), value("gamma"), value("beta"), name="norm")
_PATTERNS = (
    op("Transpose", _NORM, const("after")),
    op("Transpose", op("Activation", _NORM, name="activation"), const("after")),
)


def _check(match: Match, context: Context) -> str | None:
    before, after = (tuple(int(axis) for axis in match.array(name).reshape(-1)) for name in ("before", "after"))
    if len(before) < 3 or after != channels_last(len(before)) or before != inverse(after):
        return "the Transposes do not move channels to dimension 1 and back"
    inner = [match.nodes[name] for name in ("norm", "activation") if name in match.nodes]
    if any(node.output in context.graph_outputs or len(node.output.users) > 1 for node in inner):
        return "the result in NCHW is used elsewhere"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    root, norm = match.root, match.node("norm")
    assert isinstance(norm.op, InstanceNorm)
    op = ChannelsLastInstanceNorm(epsilon=norm.op.epsilon)
    operands = [match.value("x"), *norm.inputs[1:]]
    activation = match.nodes.get("activation")
    if activation is None:
        replace_operator(root, op, operands, norm.name)
        return
    result = root.output
    value = Value(f"{norm.output.name}_nhwc", norm.output.dtype, result.shape, format=Format.NHWC)
    graph.insert_before(root, Node(op, norm.name, tuple(operands), (value,), source=norm.source))
    replace_operator(root, activation.op, [value], activation.name)


RULE = Rule("TransposedNormFusion", _PATTERNS, _rewrite, _check, shared=True)

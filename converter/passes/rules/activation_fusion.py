"""Operator + RELU or RELU6 → the operator's built-in activation."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.pattern import Match, op
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import become, clamp_of, has_no_activation, is_float


def _check(match: Match, context: Context) -> str | None:
    if clamp_of(match.root) is None:
        return "only RELU and RELU6 can be built in"
    if not is_float(match.node("producer").outputs[0]):
        return "the operator does not compute in float32"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    producer, root = match.node("producer"), match.root
    become(root, changed(producer.op, activation_type=clamp_of(root)), producer.inputs, producer.name)


def _rule(name: str, operators: str) -> Rule:
    pattern = op("Activation Clip", op(operators, name="producer", where=has_no_activation))
    return Rule(name, (pattern,), _rewrite, _check, quantised=True)


CONVOLUTION = _rule("ConvActivationFusion", "Conv2DFusion Conv2dTransposeFusion")
CONVOLUTION_ADD = _rule("ConvAddActivationFusion", "Conv2DAddFusion")
MATMUL = _rule("MatMulActivationFusion", "MatMulFusion FullConnection")
ADD = _rule("AddActivationFusion", "AddFusion SubFusion")
MULTIPLY = _rule("MulActivationFusion", "MulFusion DivFusion")
SCALE = _rule("ScaleActivationFusion", "ScaleFusion")

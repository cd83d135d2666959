"""Fuses RELU or RELU6 into the operator before it."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.pattern import Match, const, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import has_no_activation, is_float, relu_type, replace_operator


def _check(match: Match, context: Context) -> str | None:
    if relu_type(match.root) is None:
        return "only RELU and RELU6 can be fused"
    if not is_float(match.node("producer").outputs[0]):
        return "the operator does not compute in float32"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    producer, root = match.node("producer"), match.root
    replace_operator(root, changed(producer.op, activation_type=relu_type(root)), producer.inputs, producer.name)


def _rule(name: str, operators: str) -> Rule:
    pattern = op("Activation Clip", op(operators, name="producer", where=has_no_activation))
    return Rule(name, (pattern,), _rewrite, _check, quantized=True)


_CONVOLUTIONS = "Conv2DFusion Conv2dTransposeFusion"


def _behind_transpose(match: Match, context: Context) -> str | None:
    if relu_type(match.root) is None:
        return "only RELU and RELU6 can be fused"
    x = match.value("x")
    producer = x.producer
    if producer is None or producer.op.name not in _CONVOLUTIONS.split() or not has_no_activation(producer):
        return "the transposed value is not the output of a convolution without an activation"
    if x.users != [match.node("transpose")]:
        return "the convolution's result is used elsewhere"
    return None


def _activate_first(match: Match, graph: Graph) -> None:
    root, transpose, x = match.root, match.node("transpose"), match.value("x")
    active = Value(f"{x.name}_active", x.dtype, x.shape, format=x.format)
    graph.insert_before(root, Node(root.op, root.name, (x, *root.inputs[1:]), (active,)))
    replace_operator(root, transpose.op, [active, *transpose.inputs[1:]], transpose.name)


TRANSPOSED = Rule(
    "ActivationTransposeSwap",
    (op("Activation Clip", op("Transpose", value("x"), const("perm"), name="transpose")),),
    _activate_first,
    _behind_transpose,
)
"""Moves an activation from after a Transpose to before it, so that it can be fused into the convolution."""

CONVOLUTION = _rule("ConvActivationFusion", _CONVOLUTIONS)
MATMUL = _rule("MatMulActivationFusion", "MatMulFusion FullConnection")
# MindSpore Lite ignores the activations of SubFusion and DivFusion.
ADD = _rule("AddActivationFusion", "AddFusion")
MULTIPLY = _rule("MulActivationFusion", "MulFusion")
SCALE = _rule("ScaleActivationFusion", "ScaleFusion")

"""Matrix product with a constant operand * constant → folded into the constant operand (and the bias).

The factor may stand behind reshapes and transposes when it is one number: that is how the scale of attention scores
reaches the projection of the queries.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import bypass, scalar
from mslite.converter.passes.pattern import Match, const, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import as_float, float_value, is_plain
from mslite.converter.passes.rules._shared import REFUSAL, shares

_MOVES = frozenset({"Reshape", "Transpose", "Squeeze", "Unsqueeze", "ExpandDims", "Flatten"})
_PATTERN = op("MulFusion", value("x"), const("factor"), name="mul", commutative=True, where=is_plain)
_DIVISION = op("DivFusion", value("x"), const("factor"), name="mul", where=is_plain)


def _way(x: Value, kept: Collection[Value]) -> list[Node]:
    """The nodes from the producer of `x` back to a product with a constant that scales `x` when it is scaled: through
    operators that only move elements, and through the operands of a product of two activations. All results on the way
    are read once, and none of them is in `kept`. Empty when there is none."""
    node = x.producer
    if node is None or len(node.outputs[0].users) != 1 or x in kept:
        return []
    if isinstance(node.op, MatMulFusion | FullConnection):
        if node.inputs[1].is_constant:
            return [node]
        if len(node.inputs) > 2 or not is_plain(node):
            return []
        before = _way(node.inputs[0], kept) or _way(node.inputs[1], kept)
    else:
        before = _way(node.inputs[0], kept) if node.op.name in _MOVES else []
    return [node, *before] if before else []


def _check(match: Match, context: Context) -> str | None:
    if match.value("x").is_constant or scalar(match.value("factor")) is None:
        return "the factor is not one number"
    if match.array("factor").dtype != np.float32 or match.value("x").shape != match.root.output.shape:
        return "the factor is not float32, or changes the shape"
    way = _way(match.value("x"), context.graph_outputs)
    if not way or match.value("x") in way[-1].inputs:
        return "it does not scale a matrix product whose result is used once"
    product = way[-1]
    if not is_plain(product) or any(v.data is None or v.data.dtype != np.float32 for v in product.inputs[1:]):
        return "the product has an activation, or no constant float32 operand"
    if shares(product.inputs[1:], context):
        return REFUSAL
    if match.root.op.name == "DivFusion" and scalar(match.value("factor")) == 0:
        return "it divides by zero"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    way = _way(match.value("x"), graph.outputs)
    product = way[-1]
    number = np.float32(scalar(match.value("factor")))
    factor = number if match.root.op.name == "MulFusion" else np.float32(1.0) / number
    scaled = [float_value(f"{value.name}_scaled", as_float(value) * factor) for value in product.inputs[1:]]
    product.set_inputs([product.inputs[0], *scaled])
    for node in way:  # these values are others than the source's of the same names
        node.output.name = f"{node.output.name}_scaled"
    match.value("x").name = match.root.output.name
    if not bypass(graph, match.root, match.value("x")):
        raise AssertionError("the result of a node can always take over the name of an output")


RULE = Rule("MatMulMulFusion", (_PATTERN, _DIVISION), _rewrite, _check, shared=True)

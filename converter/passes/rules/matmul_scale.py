"""Folds the multiplication of a matmul by a scalar into its constant input and its bias.

Reshapes, transposes and a matmul of two activations may be between them. In this way the scale of attention scores is
folded into the projection of the queries.
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
from mslite.converter.passes.rules._shared_constants import REFUSAL, are_shared

_MOVES = frozenset({"Reshape", "Transpose", "Squeeze", "Unsqueeze", "ExpandDims", "Flatten"})
_PATTERN = op("MulFusion", value("x"), const("factor"), name="mul", commutative=True, where=is_plain)
_DIVISION = op("DivFusion", value("x"), const("factor"), name="mul", where=is_plain)


def _way(x: Value, kept: Collection[Value]) -> list[Node]:
    """Returns the nodes from the producer of `x` back to a matmul with a constant, through which a factor can be moved.

    These are operators that only move elements, and matmuls of two activations. Each of their outputs has one reader
    and is not in `kept`. Empty if there is no such path."""
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
        return "the factor is not a scalar"
    if match.array("factor").dtype != np.float32 or match.value("x").shape != match.root.output.shape:
        return "the factor is not float32, or changes the shape"
    way = _way(match.value("x"), context.graph_outputs)
    if not way or match.value("x") in way[-1].inputs:
        return "it does not scale a matmul with one reader"
    product = way[-1]
    if not is_plain(product) or any(v.data is None or v.data.dtype != np.float32 for v in product.inputs[1:]):
        return "the matmul has an activation, or no constant float32 input"
    if are_shared(product.inputs[1:], context):
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
    for node in way:  # these values differ from those of the source, so they get other names
        node.output.name = f"{node.output.name}_scaled"
    match.value("x").name = match.root.output.name
    if not bypass(graph, match.root, match.value("x")):
        raise AssertionError("the output of a node can always take over the name of a graph output")


RULE = Rule("MatMulMulFusion", (_PATTERN, _DIVISION), _rewrite, _check, shared=True)

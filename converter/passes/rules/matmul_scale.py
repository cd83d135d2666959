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

_MOVES = frozenset({"Reshape", "Transpose", "Squeeze", "Unsqueeze", "ExpandDims", "Flatten"})
_PATTERN = op("MulFusion", value("x"), const("factor"), name="mul", commutative=True, where=is_plain)
_DIVISION = op("DivFusion", value("x"), const("factor"), name="mul", where=is_plain)


def _product(x: Value, kept: Collection[Value]) -> Node | None:
    """The product with a constant that scales `x` when it is scaled: through operators that only move elements, and
    through the operands of a product of two activations. All on the way are read once, and none of them is in `kept`."""
    node = x.producer
    if node is None or len(node.outputs[0].users) != 1 or x in kept:
        return None
    if isinstance(node.op, MatMulFusion | FullConnection):
        if node.inputs[1].is_constant:
            return node
        if len(node.inputs) > 2 or not is_plain(node):
            return None
        return _product(node.inputs[0], kept) or _product(node.inputs[1], kept)
    return _product(node.inputs[0], kept) if node.op.name in _MOVES else None


def _check(match: Match, context: Context) -> str | None:
    if match.value("x").is_constant or scalar(match.value("factor")) is None:
        return "the factor is not one number"
    if match.array("factor").dtype != np.float32 or match.value("x").shape != match.root.output.shape:
        return "the factor is not float32, or changes the shape"
    product = _product(match.value("x"), context.graph_outputs)
    if product is None or match.value("x") in product.inputs:
        return "it does not scale a matrix product whose result is used once"
    if not is_plain(product) or any(v.data is None or v.data.dtype != np.float32 for v in product.inputs[1:]):
        return "the product has an activation, or no constant float32 operand"
    if match.root.op.name == "DivFusion" and scalar(match.value("factor")) == 0:
        return "it divides by zero"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    product = _product(match.value("x"), graph.outputs)
    assert product is not None
    number = np.float32(scalar(match.value("factor")))
    factor = number if match.root.op.name == "MulFusion" else np.float32(1.0) / number
    scaled = [float_value(f"{value.name}_scaled", as_float(value) * factor) for value in product.inputs[1:]]
    product.set_inputs([product.inputs[0], *scaled])
    if not bypass(graph, match.root, match.value("x")):
        raise AssertionError("the result of a node can always take over the name of an output")


RULE = Rule("MatMulMulFusion", (_PATTERN, _DIVISION), _rewrite, _check, shared=True)

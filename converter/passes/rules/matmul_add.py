"""Folds the addition of a constant vector into the bias of a matmul."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph
from mslite.converter.mindir.ops.matmul import FullConnection
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

_PATTERN = op(
    "AddFusion BiasAdd",
    op("MatMulFusion FullConnection", name="matmul", where=has_no_activation),
    const("bias"),
    commutative=True,
)


def _check(match: Match, context: Context) -> str | None:
    matmul = match.node("matmul")
    columns = last_dimension(matmul.output)
    if columns is None or matmul.output.rank is None or matmul.output.rank < 2:
        return "the number of columns is unknown"
    if any((value.rank or 0) < 2 for value in matmul.inputs[:2]):
        return "a matmul with a vector has no columns"
    if not broadcast_keeps_rank(match.root, match.value("bias")) or per_channel(match.array("bias"), columns) is None:
        return "the addend is not one float32 number per column"
    if len(matmul.inputs) > 2 and (matmul.inputs[2].data is None or matmul.inputs[2].data.size not in (1, columns)):
        return "the matmul has a bias that is not constant"
    if match.value("bias").quant or any(value.quant for value in matmul.inputs[2:]):
        return "a bias is quantized"
    is_whole = len(matmul.inputs) < 3 and match.value("bias").shape == (columns,)  # the constant itself is the bias
    if not is_whole and are_shared((match.value("bias"), *matmul.inputs[2:]), context):
        return REFUSAL
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    matmul, root = match.node("matmul"), match.root
    columns = last_dimension(matmul.output)
    assert columns is not None
    own = np.broadcast_to(as_float(matmul.inputs[2]), (columns,)) if len(matmul.inputs) > 2 else None
    product = changed(matmul.op, activation_type=activation_of(root))
    if isinstance(product, FullConnection):
        product = changed(product, has_bias=True)
    operands = [*matmul.inputs[:2], bias_value(match.value("bias"), columns, own, f"{matmul.name}_bias")]
    replace_operator(root, product, operands, matmul.name)


RULE = Rule("MatMulAddFusion", (_PATTERN,), _rewrite, _check, quantized=True)

"""Removes a Transpose to NCHW before flatten and matmul by reordering the rows of the constant matrix."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value, constant
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, const, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import replace_operator

_FLATTEN = op("Reshape Flatten", op("Transpose", value("x"), const("perm"), name="transpose"), name="flatten")
_PATTERN = op("MatMulFusion FullConnection", _FLATTEN, const("weight"), name="product")


def _check(match: Match, context: Context) -> str | None:
    x, flat, product = match.value("x"), match.node("flatten").output, match.root
    perm = [int(axis) for axis in match.array("perm").reshape(-1)]
    if x.shape is None or flat.rank != 2 or product.quant_type != 0:
        return "the flattened tensor is not a matrix"
    if perm[0] != 0 or any(size < 0 for size in x.shape[1:]):
        return "the batch moves, or a dimension is unknown"
    if flat.shape is None or flat.shape[1] != int(np.prod(x.shape[1:])):
        return "the batch is flattened"
    if isinstance(product.op, MatMulFusion) and (product.op.transpose_a or match.array("weight").ndim != 2):
        return "the matmul does not multiply rows by one matrix"
    if isinstance(product.op, FullConnection) and product.op.use_axis and product.op.axis != 1:
        return "the layer flattens from another axis"
    if context.settings.training and len(set(match.value("weight").users)) > 1:
        return "the matrix is shared with another layer and trained"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    x, flatten, product = match.value("x"), match.node("flatten"), match.root
    assert x.shape is not None
    perm = [int(axis) for axis in match.array("perm").reshape(-1)]
    stored = np.arange(int(np.prod(x.shape[1:]))).reshape(x.shape[1:])
    order = stored.transpose([axis - 1 for axis in perm[1:]]).reshape(-1)  # source position -> stored position
    inverse = np.argsort(order, kind="stable")
    weight = match.array("weight")
    transposed = isinstance(product.op, FullConnection) or getattr(product.op, "transpose_b", False)
    reordered = weight[:, inverse] if transposed else weight[inverse, :]
    shape = constant(f"{flatten.name}_shape", np.array([-1, stored.size], np.int32))
    flat = Value(f"{flatten.output.name}_nhwc", x.dtype, flatten.output.shape)
    node = Node(Reshape(), f"{flatten.name}_nhwc", (x, shape), (flat,), source=flatten.source)
    graph.insert_before(product, node)
    matrix = constant(f"{match.value('weight').name}_nhwc", np.ascontiguousarray(reordered))
    replace_operator(product, product.op, [flat, matrix, *product.inputs[2:]])


RULE = Rule("FlattenMatMulFusion", (_PATTERN,), _rewrite, _check, shared=True)

"""Merges sums of matmuls with few rows: the gradients of a weight that many nodes read, such as the steps of a
recurrent layer."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.training.builder import Builder
from mslite.converter.training.gradients import shape_of

MIN_PRODUCTS = 3
"""Least number of matmuls that are merged."""
MAX_ROWS = 256
"""Number of rows after which a larger matmul is not faster; their inputs are kept until then."""


def is_small_matmul(value: Value) -> bool:
    """Returns whether a value is a^T b of two matrices with few rows."""
    node = value.producer
    if node is None or not isinstance(node.op, MatMulFusion) or len(node.inputs) != 2 or value.users:
        return False
    flags = (node.op.transpose_a, node.op.transpose_b)
    is_outer = flags == (True, False) and all(len(shape_of(operand)) == 2 for operand in node.inputs)
    return is_outer and rows_of(value) * MIN_PRODUCTS <= MAX_ROWS


def rows_of(product: Value) -> int:
    """Returns the number of rows that a matmul with a transposed first input sums over."""
    assert product.producer is not None
    return shape_of(product.producer.inputs[0])[0]


def merged_matmul(build: Builder, products: Sequence[Value], name: str) -> Value:
    """Returns the sum of small matmuls as one matmul of their concatenated inputs, which needs no memory for the
    single results.

    The outputs of the single matmuls are not used any more."""
    nodes = [value.producer for value in products if value.producer is not None]
    joined = []
    for place in (0, 1):
        operands = [node.inputs[place] for node in nodes]
        rows = sum(shape_of(operand)[0] for operand in operands)
        shape = (rows, shape_of(operands[0])[1])
        joined.append(build.node(Concat(axis=0), f"{name}/{'ab'[place]}", operands, shape))
    return build.node(MatMulFusion(transpose_a=True), name, joined, shape_of(products[0]))

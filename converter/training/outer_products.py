"""Sums of products that add up few rows each: the gradient of a weight that many nodes read, as in the steps of a recurrent layer."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.training.builder import Builder
from mslite.converter.training.gradients import shape_of

FEWEST_PRODUCTS = 3
"""Of which one product of joined operands is made."""
MOST_ROWS = 256
"""So many rows make a product as fast as it gets; their operands are kept until then."""


def is_small_product(value: Value) -> bool:
    """Whether it is the transposed a times b, matrices that have few rows, in common."""
    node = value.producer
    if node is None or not isinstance(node.op, MatMulFusion) or len(node.inputs) != 2 or value.users:
        return False
    flags = (node.op.transpose_a, node.op.transpose_b)
    is_outer = flags == (True, False) and all(len(shape_of(operand)) == 2 for operand in node.inputs)
    return is_outer and rows_of(value) * FEWEST_PRODUCTS <= MOST_ROWS


def rows_of(product: Value) -> int:
    """Those that are added up in a product whose first operand is transposed."""
    assert product.producer is not None
    return shape_of(product.producer.inputs[0])[0]


def sum_of_products(build: Builder, products: Sequence[Value], name: str) -> Value:
    """The sum of small products as one: of their operands below each other. Each number of it is added up in one go, and no
    product has memory of its own. Nobody reads the products themselves any more."""
    nodes = [value.producer for value in products if value.producer is not None]
    joined = []
    for place in (0, 1):
        operands = [node.inputs[place] for node in nodes]
        rows = sum(shape_of(operand)[0] for operand in operands)
        shape = (rows, shape_of(operands[0])[1])
        joined.append(build.node(Concat(axis=0), f"{name}/{'ab'[place]}", operands, shape))
    return build.node(MatMulFusion(transpose_a=True), name, joined, shape_of(products[0]))

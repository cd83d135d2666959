"""Matmul and einsum."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.parsers.einsum import einsum

from .call import Call
from .registry import tf_operator


def product_operator(call: Call) -> MatMulFusion:
    """Returns the operator of a node with the attributes of MatMul."""
    return MatMulFusion(transpose_a=call.flag("transpose_a"), transpose_b=call.flag("transpose_b"))


@tf_operator("MatMul", "SparseMatMul")
def matmul(call: Call) -> Value:
    return call.emit(product_operator(call), call.input(0), call.input(1))


@tf_operator("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(call: Call) -> Value:
    """Converts batch matmuls. The adjoint of real matrices is their transpose; version 3 has the accumulation type."""
    op = MatMulFusion(transpose_a=call.flag("adj_x"), transpose_b=call.flag("adj_y"))
    operands = [call.input(0), call.input(1)]
    if call.operator == "BatchMatMulV3":
        target = call.type("Tout", operands[0].dtype)
        operands = [call.as_type(value, target) for value in operands]
    return call.emit(op, *operands)


@tf_operator("Einsum")
def einstein_sum(call: Call) -> Value:
    return einsum(call, call.text("equation"), call.inputs())

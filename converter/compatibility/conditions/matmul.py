"""Conditions of matmuls and fully connected layers."""

from __future__ import annotations

from mslite.converter.compatibility.conditions._declare import FUSED, condition, fused_activation
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.matmul import FullConnection


@condition("MatMulFusion")
def product_activation(node: Node, kind: DataType, version: Version) -> str | None:
    fused = fused_activation(node)
    known = frozenset({ActivationType.NO_ACTIVATION}) if version < Version.V2_0 else FUSED
    return None if fused in known else f"ignores its activation {fused.name}"


@condition("MatMulFusion", until=Version.V1_5)
def equal_batches(node: Node, kind: DataType, version: Version) -> str | None:
    a, b = node.inputs[:2]
    if a.rank is None or b.rank is None or a.rank < 2 or b.rank < 2:
        return None  # `matrices` reports it
    if a.rank < b.rank:
        return "needs at least as many dimensions in the first input as in the second"
    assert a.shape is not None
    assert b.shape is not None
    if b.rank > 2 and (a.rank != b.rank or a.shape[:-2] != b.shape[:-2]):
        return "does not broadcast batch dimensions"
    if b.rank == 2 and any(size != 1 for size in a.shape[:-2]):
        return "multiplies only the first matrix of a batch by a second input of two dimensions"
    return None


@condition("MatMulFusion", until=Version.V2_0)
def matrices(node: Node, kind: DataType, version: Version) -> str | None:
    is_vector = any(value.rank is None or value.rank < 2 for value in node.inputs[:2])
    return "needs inputs of two dimensions or more" if is_vector else None


@condition("FullConnection")
def connected_axis(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, FullConnection)
    if node.op.use_axis and node.op.axis < 0:
        return "does not support a negative axis"
    return None


@condition("MatMulFusion", until=Version.V1_5)
def known_bias(node: Node, kind: DataType, version: Version) -> str | None:
    late = len(node.inputs) > 2 and not node.inputs[2].is_constant
    return "needs a constant bias, which it reads when the model is built" if late else None

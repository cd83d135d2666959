"""Sparse tensors in COO form, and ragged ranges."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import sparse as ops
from mslite.converter.mindir.ops.creation import RaggedRange
from mslite.converter.mindir.ops.enums import DataType

from .call import Call
from .registry import tf_operator


@tf_operator("SparseToDense")
def sparse_to_dense(call: Call) -> Value:
    """Converts SparseToDense. Its inputs are indices, shape, values, default value."""
    return call.emit(ops.SparseToDense(), call.int32(0), call.int32(1), call.input(2), call.input(3))


@tf_operator("SparseFillEmptyRows")
def fill_empty_rows(call: Call) -> tuple[Value, ...]:
    """Converts SparseFillEmptyRows. Its inputs are indices, values, shape, default value."""
    return call.emit_many(ops.SparseFillEmptyRows(), call.inputs(0, 4), 4)


@tf_operator("SparseReshape")
def reshape(call: Call) -> tuple[Value, ...]:
    """Converts SparseReshape. Its inputs are indices, shape, new shape."""
    return call.emit_many(ops.SparseReshape(), call.inputs(0, 3), 2)


@tf_operator("SparseSegmentSum")
def segment_sum(call: Call) -> Value:
    """Converts SparseSegmentSum. Its inputs are data, indices, ascending segment ids."""
    return call.emit(ops.SparseSegmentSum(), *call.inputs(0, 3))


@tf_operator("RaggedRange")
def ragged_range(call: Call) -> tuple[Value, Value]:
    """Converts RaggedRange. Its inputs are starts, limits, deltas."""
    splits, values = call.emit_many(RaggedRange(), call.inputs(0, 3), 2)
    return call.as_type(splits, call.type("Tsplits", DataType.INT64)), values

"""Gathers and scatters by index, one-hot, hash table lookup."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import indexing as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, SubFusion
from mslite.converter.mindir.ops.enums import DataType, LshProjectionType
from mslite.converter.mindir.ops.sparse import SparseToDense
from mslite.converter.mindir.ops.text import HashtableLookup, LshProjection
from mslite.converter.mindir.quantized import SHIFTS

from .call import Call
from .quantization_parameters import quant_params
from .registry import tflite_operator


@tflite_operator("GATHER")
def gather(call: Call) -> Value:
    axis = call.axis(call.options.integer("axis"), call.rank(0))
    batch = call.options.integer("batch_dims")
    batch = batch + call.rank(1) if batch < 0 else batch
    if batch == 0:
        return call.emit(ops.Gather(), call.weight(0), call.int32(1), call.ints(axis))
    if not 0 < batch <= min(axis, call.rank(1)):
        raise call.block(f"{batch} batch dimensions do not match axis {axis}", attribute="batch_dims")
    return call.emit(ops.BatchGather(axis=axis, batch_dims=batch), call.weight(0), call.int32(1))


@tflite_operator("EMBEDDING_LOOKUP")
def embedding(call: Call) -> Value:
    """Converts EMBEDDING_LOOKUP. Its inputs are ids, table."""
    return call.emit(ops.Gather(), _rows(call, 1), call.int32(0), call.ints(0))


def _rows(call: Call, index: int) -> Value:
    """Returns a table of rows, dequantized unless the result has the type of the table."""
    return call.input(index) if call.source(index).dtype is call.output().dtype else call.weight(index)


@tflite_operator("GATHER_ND")
def gather_nd(call: Call) -> Value:
    return call.emit(ops.GatherNd(), call.input(0), call.int32(1))


@tflite_operator("SCATTER_ND")
def scatter_nd(call: Call) -> Value:
    indices, updates, shape = call.int32(0), call.input(1), call.int32(2)
    if not call.in_float:
        return call.emit(ops.ScatterNd(), indices, updates, shape)
    # Elements without an update are stored zeros, which are not 0.0 if the zero point is not 0.
    (record,) = quant_params(call.output())
    shift = SHIFTS.get(call.output().dtype, 0)
    zero = call.const(-record.scale * (record.zeroPoint + shift), np.float32)
    return call.emit(
        AddFusion(), call.emit(ops.ScatterNd(), indices, call.emit(SubFusion(), updates, zero), shape), zero
    )


@tflite_operator("ONE_HOT")
def one_hot(call: Call) -> Value:
    axis = call.axis(call.options.integer("axis"), call.rank(0) + 1)
    return call.emit(ops.OneHot(axis=axis), call.int32(0), call.int32(1), call.input(2), call.input(3))


@tflite_operator("UNIQUE")
def unique(call: Call) -> tuple[Value, ...]:
    values, index = call.emit_many(ops.Unique(), [call.input(0)], 2)
    return values, call.as_declared(index, 1)


@tflite_operator("SPARSE_TO_DENSE")
def sparse_to_dense(call: Call) -> Value:
    return call.emit(SparseToDense(), call.int32(0), call.int32(1), call.input(2), call.input(3))


@tflite_operator("HASHTABLE_LOOKUP")
def hashtable_lookup(call: Call) -> tuple[Value, ...]:
    if call.source(2).dtype is DataType.STRING:
        raise call.block("its values are strings", "Move text processing out of the model")
    return call.emit_many(HashtableLookup(), [call.input(0), call.input(1), _rows(call, 2)], 2)


@tflite_operator("LSH_PROJECTION")
def lsh_projection(call: Call) -> Value:
    number = call.options.integer("type")
    kinds = {1: LshProjectionType.SPARSE, 2: LshProjectionType.DENSE}
    if number not in kinds:
        raise call.block(f"type {number} is unsupported", "Use SPARSE or DENSE", "type")
    return call.emit(LshProjection(type=kinds[number]), *call.inputs())

"""Gathers and scatters by index, one-hot, unique elements."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import indexing as ops
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.unary import Neg

from .call import Call
from .registry import tf_operator

_LARGEST_INDICES = 1 << 16


def _indices(call: Call, index: int) -> Value:
    """Returns indices: constant ones as int32 if they are in range; others keep their type, which passes may narrow."""
    value = call.input(index)
    if value.data is not None and value.dtype is DataType.INT64 and value.data.size <= _LARGEST_INDICES:
        small = value.data.size == 0 or (value.data.min() >= -(2**31) and value.data.max() < 2**31)
        return call.as_type(value, DataType.INT32) if small else value
    if value.dtype not in (DataType.INT32, DataType.INT64):
        return call.as_type(value, DataType.INT32)
    return value


@tf_operator("Gather", "GatherV2", "ResourceGather")
def gather(call: Call) -> Value:
    """Converts Gather. Its inputs are params, indices, [axis]."""
    params = call.input(0)
    axis = 0
    if call.operator == "GatherV2":
        axis = call.axis(call.require_integer(2, "the axis"), call.require_rank(params))
    batch = call.integer("batch_dims")
    indices = _indices(call, 1)
    batch = batch + call.require_rank(indices) if batch < 0 else batch
    if batch == 0:
        return call.emit(ops.Gather(), params, indices, call.ints(axis))
    if not 0 < batch <= min(axis, call.require_rank(indices)):
        raise call.block(f"{batch} batch dimensions do not match axis {axis}", attribute="batch_dims")
    return call.emit(ops.BatchGather(axis=axis, batch_dims=batch), params, indices)


@tf_operator("GatherNd")
def gather_nd(call: Call) -> Value:
    return call.emit(ops.GatherNd(), call.input(0), _indices(call, 1))


@tf_operator("ScatterNd")
def scatter_nd(call: Call) -> Value:
    """Converts ScatterNd. Its inputs are indices, updates, shape."""
    return call.emit(ops.ScatterNd(), call.int32(0), call.input(1), call.int32(2))


@tf_operator("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin")
def scatter_into(call: Call) -> Value:
    x, indices, updates = call.input(0), _indices(call, 1), call.input(2)
    if call.operator == "TensorScatterUpdate":
        return call.emit(ops.ScatterNdUpdate(), x, indices, updates)
    if call.operator in ("TensorScatterAdd", "ScatterNdNonAliasingAdd"):
        return call.emit(ops.TensorScatterAdd(), x, indices, updates)
    if call.operator == "TensorScatterSub":
        return call.emit(ops.TensorScatterAdd(), x, indices, call.emit(Neg(), updates))
    reduction = "max" if call.operator == "TensorScatterMax" else "min"
    return call.emit(ops.ScatterReduceNd(reduction=reduction), x, indices, updates)


@tf_operator("OneHot")
def one_hot(call: Call) -> Value:
    """Converts OneHot. Its inputs are indices, depth, on, off. Axis -1 is the last dimension of the result."""
    axis = call.integer("axis", -1)
    if axis != -1:
        axis = call.axis(axis, call.require_rank(call.input(0)) + 1, "axis")
    return call.emit(ops.OneHot(axis=axis), call.int32(0), call.int32(1), call.input(2), call.input(3))


@tf_operator("Unique", "UniqueV2")
def unique(call: Call) -> tuple[Value, ...]:
    if call.operator == "UniqueV2" and call.constant(1) is None:
        raise call.block("the axis is computed at run time", "Export the model with fixed values")
    values, index = call.emit_many(ops.Unique(), [call.input(0)], 2)
    return values, call.as_type(index, call.type("out_idx", DataType.INT32))


@tf_operator("DynamicStitch", "ParallelDynamicStitch")
def stitch(call: Call) -> Value:
    """Converts DynamicStitch: writes rows of several tensors to given indices; the last row for an index is used."""
    count = call.input_count // 2
    if count < 1:
        raise call.block("it has no input")
    places = [call.require_integers(number, "the indices") for number in range(count)]
    flat = [place for part in places for place in part]
    size = max(flat, default=-1) + 1
    if min(flat, default=0) < 0 or len(set(flat)) != size:
        raise call.block("the indices have gaps")
    source = np.zeros(size, np.int32)
    source[np.array(flat, np.int64)] = np.arange(len(flat))
    parts = []
    for number in range(count):
        data = call.input(count + number)
        inner = call.require_shape(data, "DynamicStitch")[call.require_rank(call.input(number)) :]
        parts.append(call.emit(Reshape(), data, call.ints((len(places[number]), *inner))))
    rows = parts[0] if count == 1 else call.emit(Concat(axis=0), *parts)
    return call.emit(ops.Gather(), rows, call.ints(source), call.ints(0))


@tf_operator("ListDiff")
def difference(call: Call) -> tuple[Value, Value]:
    """Converts ListDiff of constants: the elements of the first list that are not in the second, and their indices."""
    x, y = call.constant(0), call.constant(1)
    if x is None or y is None:
        raise call.block("its lists are computed at run time", "Set --inputShape")
    places = np.flatnonzero(~np.isin(x, y))
    return call.const(x[places]), call.const(places, numpy_type(call.type("out_idx", DataType.INT32)))


@tf_operator("XlaDynamicUpdateSlice")
def dynamic_update_slice(call: Call) -> Value:
    """Converts XlaDynamicUpdateSlice (of keras.ops.slice_update). Its inputs are x, update, start indices."""
    return call.emit(ops.DynamicUpdateSlice(), call.input(0), call.input(1), call.int32(2))

"""Operators that gather and scatter elements by index."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import indexing as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, FloorMod
from mslite.converter.mindir.ops.assembly import BroadcastTo
from mslite.converter.mindir.ops.comparison import Less, NotEqual, Where
from mslite.converter.mindir.ops.creation import Range
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Squeeze, Transpose
from mslite.converter.mindir.quantized import NARROW

from .call import Call
from .casting import as_type, to_int64
from .registry import onnx_operator


def _indices(call: Call, index: int) -> Value:
    """Converts constant indices to int32 if they fit. Passes may do so later for computed ones."""
    value = call.input(index)
    if value.data is not None and value.data.dtype == np.int64:
        small = value.data.size == 0 or (value.data.min() >= -(2**31) and value.data.max() < 2**31)
        if small and value.data.size <= 65536:
            return as_type(call, value, DataType.INT32)
    return value


@onnx_operator("Gather")
def gather(call: Call) -> Value:
    """Gathers from a table with one scale as integers and dequantizes the gathered rows."""
    table = call.stored_weight(0)
    if len(table.quant) != 1 or table.dtype not in NARROW:
        table = call.input(0)
    rows = call.emit(ops.Gather(), table, _indices(call, 1), call.ints(call.integer("axis", 0)))
    if not table.quant:
        return rows
    rows.dtype, rows.quant = table.dtype, table.quant
    return call.emit(QuantDTypeCast(src_t=int(table.dtype), dst_t=int(DataType.FLOAT32)), rows)


@onnx_operator("GatherElements")
def gather_elements(call: Call) -> Value:
    return call.emit(ops.GatherD(), call.input(0), call.ints(call.integer("axis", 0)), _indices(call, 1))


@onnx_operator("GatherND")
def gather_nd(call: Call) -> Value:
    batch_dims = call.integer("batch_dims", 0)
    if batch_dims == 0:
        return call.emit(ops.GatherNd(), call.input(0), _indices(call, 1))
    return call.emit(ops.BatchGatherNd(batch_dims=batch_dims), call.input(0), _indices(call, 1))


_REDUCTIONS = {name: name for name in ("none", "add", "mul", "max", "min")}


@onnx_operator("Scatter", "ScatterElements")
def scatter_elements(call: Call) -> Value:
    axis = call.integer("axis", 0)
    reduction = call.choice("reduction", call.text("reduction", "none"), _REDUCTIONS)
    operands = (call.input(0), _indices(call, 1), call.input(2))
    if reduction == "none":
        return call.emit(ops.ScatterElements(axis=axis), *operands)
    return call.emit(ops.ScatterReduceElements(axis=axis, reduction=reduction), *operands)


@onnx_operator("ScatterND")
def scatter_nd(call: Call) -> Value:
    reduction = call.choice("reduction", call.text("reduction", "none"), _REDUCTIONS)
    operands = (call.input(0), _indices(call, 1), call.input(2))
    if reduction == "none":
        return call.emit(ops.ScatterNdUpdate(), *operands)
    if reduction == "add":
        return call.emit(ops.TensorScatterAdd(), *operands)
    return call.emit(ops.ScatterReduceNd(reduction=reduction), *operands)


@onnx_operator("OneHot")
def one_hot(call: Call) -> Value:
    """The third input is the pair [off, on]. Indices from -depth to -1 count from the end."""
    indices, depth = as_type(call, call.input(0), DataType.INT32), as_type(call, call.input(1), DataType.INT32)
    if indices.data is None or indices.data.min(initial=0) < 0:
        wrapped = call.emit(AddFusion(), indices, call.emit(Reshape(), depth, call.const([], np.int32)))
        indices = call.emit(Where(), call.emit(Less(), indices, call.ints(0)), wrapped, indices)
    return call.emit(ops.OneHot(axis=call.integer("axis", -1)), indices, depth, call.input(2))


@onnx_operator("Trilu")
def trilu(call: Call) -> Value:
    op = ops.Triu() if call.boolean("upper", True) else ops.Tril()
    diagonal = [as_type(call, call.input(1), DataType.INT32)] if call.has_input(1) else []
    return call.same_type(call.emit(op, call.input(0), *diagonal), call.input(0))


def _true_indices(call: Call, value: Value) -> Value:
    """Returns int32 [count, rank]: the indices of the nonzero elements."""
    if call.dtype(value) is not DataType.BOOL:
        value = call.emit(NotEqual(), value, call.like(0, value))
    return call.emit(Where(), value)


@onnx_operator("NonZero")
def non_zero(call: Call) -> Value:
    tuples = _true_indices(call, call.input(0))
    return to_int64(call, call.emit(Transpose(), tuples, call.ints((1, 0))))


@onnx_operator("Compress")
def compress(call: Call) -> Value:
    """Selects the slices along `axis` whose condition is true; elements of the flattened tensor without `axis`."""
    x, chosen = call.input(0), _true_indices(call, call.input(1))
    shape = call.shape(x)
    if not call.has_attribute("axis"):
        x, shape = call.emit(Reshape(), x, call.ints((-1,))), (None,)
    axis = call.integer("axis", 0)
    positions = call.emit(Squeeze(axis=(1,)), chosen)
    result = call.emit(ops.Gather(), x, positions, call.ints(axis))
    if shape:
        shape = tuple(None if at == axis % len(shape) else size for at, size in enumerate(shape))
    return call.told(result, call.input(0), shape)


@onnx_operator("Unique")
def unique(call: Call) -> tuple[Value, ...]:
    has_axis = call.has_attribute("axis")
    op = ops.UniqueSlices(has_axis=has_axis, axis=call.integer("axis", 0), sorted_=call.boolean("sorted", True))
    return call.emit_many(op, (call.input(0),), 4)


@onnx_operator("TensorScatter")
def tensor_scatter(call: Call) -> Value:
    """Writes `update` into a cache along the sequence axis, at an index per batch entry (default 0)."""
    cache, update = call.input(0), call.input(1)
    circular = call.choice("mode", call.text("mode", "linear"), {"linear": False, "circular": True})
    rank = call.require_rank(cache)
    axis = call.axis(call.integer("axis", -2), rank)
    if axis == 0:
        raise call.block("the batch dimension cannot be the sequence", "Export the model again", "axis")
    shape = call.emit(Shape(), update)
    length = call.emit(ops.Gather(), shape, call.ints(axis), call.ints(0))
    places = call.emit(Range(d_type=int(DataType.INT32)), call.ints(0), length, call.ints(1))
    places = call.emit(Reshape(), places, call.ints((-1, *(1,) * (rank - 1 - axis))))
    if call.has_input(2):
        begin = as_type(call, call.input(2), DataType.INT32)
        begin = call.emit(Reshape(), begin, call.ints((-1, *(1,) * (rank - 1))))
        places = call.emit(AddFusion(), begin, places)
    if circular:
        size = call.emit(ops.Gather(), call.emit(Shape(), cache), call.ints(axis), call.ints(0))
        places = call.emit(FloorMod(), places, size)
    return call.emit(ops.ScatterElements(axis=axis), cache, call.emit(BroadcastTo(), places, shape), update)

"""Reductions, ArgMax and ArgMin, cumulative sums and products, TopK."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import reduction as ops
from mslite.converter.mindir.ops.arithmetic import SubFusion
from mslite.converter.mindir.ops.comparison import Greater
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import ReverseV2, Shape
from mslite.converter.mindir.ops.unary import Abs, Log, Square

from .call import Call
from .casting import as_type, cast, to_int64
from .registry import onnx_operator

_MODES = {
    "ReduceL1": ReduceMode.ReduceASum,
    "ReduceL2": ReduceMode.ReduceL2,
    "ReduceLogSum": ReduceMode.ReduceSum,
    "ReduceMax": ReduceMode.ReduceMax,
    "ReduceMean": ReduceMode.ReduceMean,
    "ReduceMin": ReduceMode.ReduceMin,
    "ReduceProd": ReduceMode.ReduceProd,
    "ReduceSum": ReduceMode.ReduceSum,
    "ReduceSumSquare": ReduceMode.ReduceSumSquare,
}

# Element-wise parts of reductions that remain if no axis is reduced.
_ELEMENT: dict[str, Callable[[Call, Value], Value]] = {
    "ReduceL1": lambda call, x: call.emit(Abs(), x),
    "ReduceL2": lambda call, x: call.emit(Abs(), x),
    "ReduceLogSum": lambda call, x: call.emit(Log(), x),
    "ReduceSumSquare": lambda call, x: call.emit(Square(), x),
}


def _axes(call: Call) -> Value | None:
    """Returns the axes as an int32 input; None for all axes."""
    attribute = call.integers("axes")
    if attribute is not None:
        return call.ints(attribute) if attribute else None
    value = call.optional(1)
    if value is None or call.static_shape(value) == (0,):
        return None
    return as_type(call, value, DataType.INT32)


@onnx_operator(*_MODES, "ReduceLogSumExp")
def reduce(call: Call) -> Value:
    x, axes, name = call.input(0), _axes(call), call.node.op_type
    keep = call.boolean("keepdims", True)
    if call.boolean("noop_with_empty_axes") and axes is None:
        return _ELEMENT[name](call, x) if name in _ELEMENT else x
    operands = (x,) if axes is None else (x, axes)
    if name == "ReduceLogSumExp":
        return call.emit(ops.ReduceLogSumExp(keep_dims=keep), *operands)
    op = ops.ReduceFusion(keep_dims=keep, mode=_MODES[name], coeff=1.0)
    if call.dtype(x) is DataType.BOOL:
        number = call.emit(op, cast(call, x, DataType.INT32), *operands[1:])
        return call.emit(Greater(), number, call.ints(0))  # also correct for reductions of empty tensors
    result = call.emit(op, *operands)
    return call.emit(Log(), result) if name == "ReduceLogSum" else result


@onnx_operator("ArgMax", "ArgMin")
def arg(call: Call) -> Value:
    """Returns the first index of equal elements; the last with select_last_index, by reversing the tensor."""
    x, axis, keep = call.input(0), call.integer("axis", 0), call.boolean("keepdims", True)
    last = call.boolean("select_last_index")
    op = (
        ops.ArgMaxFusion(axis=axis, top_k=1, keep_dims=keep)
        if call.node.op_type == "ArgMax"
        else ops.ArgMinFusion(axis=axis, top_k=1, keep_dims=keep)
    )
    if not last:
        return to_int64(call, call.emit(op, x))
    index = call.emit(op, call.emit(ReverseV2(axis=(axis,)), x))
    rank = call.require_rank(x)
    size = call.emit(Gather(), call.emit(Shape(), x), call.ints(call.axis(axis, rank)), call.ints(0))
    greatest = call.emit(SubFusion(), size, call.ints(1))
    return to_int64(call, call.emit(SubFusion(), greatest, index))


@onnx_operator("CumSum")
def cum_sum(call: Call) -> Value:
    op = ops.CumSum(exclusive=call.boolean("exclusive"), reverse=call.boolean("reverse"))
    return call.emit(op, call.input(0), as_type(call, call.input(1), DataType.INT32))


@onnx_operator("CumProd")
def cum_prod(call: Call) -> Value:
    op = ops.CumProd(exclusive=call.boolean("exclusive"), reverse=call.boolean("reverse"))
    return call.emit(op, call.input(0), as_type(call, call.input(1), DataType.INT32))


@onnx_operator("TopK")
def top_k(call: Call) -> tuple[Value, Value | None]:
    """k is an attribute before version 10 and an input since then."""
    x = call.input(0)
    if call.version < 10:
        count = call.integer("k", -1)
        if count < 0:
            raise call.block("is missing or negative", "Export the model again", "k")
        k = call.const(np.array([count]), np.int32)
    else:
        k = as_type(call, call.input(1), DataType.INT32)
    op = ops.TopKFusion(
        axis=call.integer("axis", -1),
        largest=1 if call.boolean("largest", True) else -1,
        sorted=call.boolean("sorted", True),
    )
    values, indices = call.emit_many(op, (x, k), 2)
    return values, to_int64(call, indices) if call.has_output(1) else None

"""Reductions, argmax, cumulative sums, top k, segment sums."""

from __future__ import annotations

from collections.abc import Callable

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops import reduction as ops
from mslite.converter.mindir.ops.arithmetic import MulFusion
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.unary import LogicalNot, Sqrt
from mslite.converter.parsers.segments import segment_reduction

from .call import Call
from .registry import tf_operator

_MODES = {
    "Mean": ReduceMode.ReduceMean,
    "Sum": ReduceMode.ReduceSum,
    "Max": ReduceMode.ReduceMax,
    "Min": ReduceMode.ReduceMin,
    "Prod": ReduceMode.ReduceProd,
    "All": ReduceMode.ReduceAll,
    "Any": ReduceMode.ReduceAll,
    "EuclideanNorm": ReduceMode.ReduceSumSquare,
}


@tf_operator(*_MODES)
def reduce(call: Call) -> Value:
    """Converts reductions. Any is `not all(not x)`. With no axes, the result is x."""
    x, axes = call.input(0), call.int32(1)
    if axes.data is not None:
        for axis in axes.data.ravel().tolist():
            call.axis(axis, call.require_rank(x))
        if axes.data.size == 0:
            return call.emit(MulFusion(), x, call.like(1, x)) if x.dtype is DataType.FLOAT32 else x
        axes = call.ints(axes.data.ravel())
    op = ops.ReduceFusion(keep_dims=call.flag("keep_dims"), mode=_MODES[call.operator], coeff=1.0)
    if call.operator == "Any":
        return call.emit(LogicalNot(), call.emit(op, call.emit(LogicalNot(), x), axes))
    result = call.emit(op, x, axes)
    return call.emit(Sqrt(), result) if call.operator == "EuclideanNorm" else result


@tf_operator("L2Loss")
def l2_loss(call: Call) -> Value:
    """Converts L2Loss: half of the sum of squares."""
    x = call.input(0)
    total = call.emit(ops.ReduceFusion(keep_dims=False, mode=ReduceMode.ReduceSumSquare, coeff=1.0), x)
    return call.emit(MulFusion(), total, call.like(0.5, x))


@tf_operator("ArgMax", "ArgMin")
def arg(call: Call) -> Value:
    x = call.input(0)
    axis = call.axis(call.require_integer(1, "the axis"), call.require_rank(x))
    cls: Callable[..., Operator] = ops.ArgMaxFusion if call.operator == "ArgMax" else ops.ArgMinFusion
    index = call.emit(cls(axis=axis, top_k=1, keep_dims=False), x)
    return call.as_type(index, call.type("output_type", DataType.INT64))


@tf_operator("Cumsum", "Cumprod")
def scan(call: Call) -> Value:
    cls: Callable[..., Operator] = ops.CumSum if call.operator == "Cumsum" else ops.CumProd
    return call.emit(cls(exclusive=call.flag("exclusive"), reverse=call.flag("reverse")), call.input(0), call.int32(1))


@tf_operator("TopK", "TopKV2")
def top_k(call: Call) -> tuple[Value, ...]:
    """Converts TopK: the k largest elements of the last dimension; equal elements keep their order."""
    k = call.int32(1) if call.operator == "TopKV2" else call.ints(call.integer("k"))
    op = ops.TopKFusion(sorted=True, axis=-1, largest=1)
    values, index = call.emit_many(op, [call.input(0), k], 2)
    return values, call.as_type(index, call.type("index_type", DataType.INT32))


@tf_operator("UnsortedSegmentSum")
def unsorted_segment_sum(call: Call) -> Value:
    return call.emit(ops.UnsortedSegmentSum(), call.input(0), call.int32(1), call.int32(2))


_SEGMENT_REDUCTIONS = {"UnsortedSegmentMax": "max", "UnsortedSegmentMin": "min", "UnsortedSegmentProd": "mul"}


@tf_operator(*_SEGMENT_REDUCTIONS)
def unsorted_segment(call: Call) -> Value:
    x, ids = call.input(0), call.int32(1)
    count = call.require_integer(2, "the number of segments")
    rank, dims = call.require_rank(ids), call.require_rank(x)
    if count < 0 or rank > dims:
        raise call.block(f"{count} segments with ids of {rank} dimensions do not match data of {dims} dimensions")
    row = [call.require_size(x, axis, "a segment reduction") for axis in range(rank, dims)]
    return segment_reduction(call, _SEGMENT_REDUCTIONS[call.operator], x, ids, count, row, numpy_type(x.dtype))


@tf_operator("SegmentSum")
def segment_sum(call: Call) -> Value:
    """Converts SegmentSum. The segment ids are ascending, so the last one is the number of segments - 1."""
    ids = call.require_integers(1, "the segment ids")
    return call.emit(ops.UnsortedSegmentSum(), call.input(0), call.int32(1), call.ints(ids[-1] + 1 if ids else 0))

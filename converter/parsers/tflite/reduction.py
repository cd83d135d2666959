"""Reductions, argmax, top k, cumulative and segment sums."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import reduction as ops
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.ops.unary import LogicalNot

from .call import Call
from .registry import tflite_operator

_MODES = {
    "MEAN": ReduceMode.ReduceMean,
    "SUM": ReduceMode.ReduceSum,
    "REDUCE_MAX": ReduceMode.ReduceMax,
    "REDUCE_MIN": ReduceMode.ReduceMin,
    "REDUCE_PROD": ReduceMode.ReduceProd,
    "REDUCE_ALL": ReduceMode.ReduceAll,
    "REDUCE_ANY": ReduceMode.ReduceAll,
}


@tflite_operator(*_MODES)
def reduce(call: Call) -> Value:
    """Converts reductions. REDUCE_ANY is `not all(not x)`. With no axes, the result is x."""
    x, axes = call.input(0), call.int32(1)
    if axes.data is not None:
        if axes.data.size == 0:
            return _same(call, x)
        for axis in axes.data.ravel().tolist():
            call.axis(axis, call.rank(0), "axes")
        axes = call.ints([axes.data.item()]) if axes.data.ndim == 0 else axes
    op = ops.ReduceFusion(keep_dims=bool(call.options.integer("keep_dims")), mode=_MODES[call.node.name], coeff=1.0)
    if call.node.name != "REDUCE_ANY":
        return call.emit(op, x, axes)
    return call.emit(LogicalNot(), call.emit(op, call.emit(LogicalNot(), x), axes))


def _same(call: Call, x: Value) -> Value:
    """Returns a copy of x, as a separate tensor."""
    return call.emit(Reshape(), x, call.emit(Shape(), x))


@tflite_operator("ARG_MAX", "ARG_MIN")
def arg(call: Call) -> Value:
    axes = call.integers(1, "the axis")
    if len(axes) != 1:
        raise call.block(f"{len(axes)} axes are given; one is supported", attribute="axis")
    axis = call.axis(axes[0], call.rank(0))
    cls = ops.ArgMaxFusion if call.node.name == "ARG_MAX" else ops.ArgMinFusion
    return call.as_declared(call.emit(cls(axis=axis, top_k=1, keep_dims=False), call.input(0)))


@tflite_operator("TOPK_V2")
def top_k(call: Call) -> tuple[Value, ...]:
    """Converts TOPK_V2: the k largest elements of the last dimension in descending order; equal ones keep their
    order."""
    op = ops.TopKFusion(sorted=True, axis=-1, largest=1)
    return call.emit_many(op, [call.input(0), call.int32(1)], 2)


@tflite_operator("CUMSUM")
def cumulative_sum(call: Call) -> Value:
    op = ops.CumSum(exclusive=bool(call.options.integer("exclusive")), reverse=bool(call.options.integer("reverse")))
    return call.emit(op, call.input(0), call.int32(1))


@tflite_operator("UNSORTED_SEGMENT_SUM")
def unsorted_segment_sum(call: Call) -> Value:
    return call.emit(ops.UnsortedSegmentSum(), call.input(0), call.int32(1), call.int32(2))


@tflite_operator("SEGMENT_SUM")
def segment_sum(call: Call) -> Value:
    """Converts SEGMENT_SUM. The segment ids are ascending, so the last one is the number of segments - 1."""
    ids = call.integers(1, "the segment ids")
    count = call.ints(ids[-1] + 1 if ids else 0)
    return call.emit(ops.UnsortedSegmentSum(), call.input(0), call.as_type(call.input(1), DataType.INT32), count)

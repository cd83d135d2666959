"""Reductions, argmax, top k, cumulative sums."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import reduction as ops
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.unary import Cast

from .call import Call
from .entries import Entry, Immediate, Sequence
from .registry import primitive

_MODES = {
    "ReduceAll": ReduceMode.ReduceAll,
    "ReduceASum": ReduceMode.ReduceASum,
    "ReduceMax": ReduceMode.ReduceMax,
    "ReduceMean": ReduceMode.ReduceMean,
    "ReduceMin": ReduceMode.ReduceMin,
    "ReduceProd": ReduceMode.ReduceProd,
    "ReduceSum": ReduceMode.ReduceSum,
    "ReduceSumSquare": ReduceMode.ReduceSumSquare,
}


@primitive(*_MODES, operators="ReduceFusion", arguments="x axis keep_dims skip_mode")
def reduce(call: Call) -> Value:
    """Converts reductions. The axes are an operand or an attribute; without axes, all dimensions are reduced."""
    op = ops.ReduceFusion(keep_dims=call.boolean("keep_dims"), mode=_MODES[call.operator], coeff=1.0)
    given = call.entries[1] if len(call.entries) > 1 else Immediate(call.attribute("axis"))
    if isinstance(given, Immediate):
        axes = () if given.contents is None else call.flat_integers(given.contents, "axis")
        return call.emit(op, call.input(0), call.ints(axes)) if axes else call.emit(op, call.input(0))
    axes_value = call.value(given)
    if axes_value.data is not None and axes_value.data.size == 0:
        return call.emit(op, call.input(0))
    return call.emit(op, call.input(0), axes_value)


@primitive(
    "Argmax", "Argmin", "ArgMax", "ArgMin", operators="ArgMaxFusion ArgMinFusion", arguments="input axis output_type"
)
def arg_extreme(call: Call) -> Value:
    kind = ops.ArgMaxFusion if call.operator.lower() == "argmax" else ops.ArgMinFusion
    op = kind(axis=call.integer("axis", -1), top_k=1, keep_dims=call.boolean("keep_dims"))
    place = call.emit(op, call.input(0))
    return call.emit(Cast(), place, call.ints(int(DataType.INT64))) if call.declared_type is DataType.INT64 else place


@primitive(
    "ArgMaxWithValue", "ArgMinWithValue", operators="ArgMaxFusion ArgMinFusion", arguments="input axis keep_dims"
)
def arg_extreme_with_value(call: Call) -> Entry:
    """Converts ArgMaxWithValue and ArgMinWithValue: the index, and the value as a separate reduction."""
    axis, keep = call.integer("axis", 0), call.boolean("keep_dims")
    largest = call.operator == "ArgMaxWithValue"
    kind = ops.ArgMaxFusion if largest else ops.ArgMinFusion
    mode = ReduceMode.ReduceMax if largest else ReduceMode.ReduceMin
    index = call.emit(kind(axis=axis, top_k=1, keep_dims=keep), call.input(0))
    if call.declared_type is DataType.INT64:
        index = call.emit(Cast(), index, call.ints(int(DataType.INT64)))
    reduced = ops.ReduceFusion(keep_dims=keep, mode=mode, coeff=1.0)
    return Sequence((index, call.emit(reduced, call.input(0), call.ints((axis,)))))


@primitive("CumSum", operators="CumSum", arguments="input axis exclusive reverse")
def running_sum(call: Call) -> Value:
    op = ops.CumSum(exclusive=call.boolean("exclusive"), reverse=call.boolean("reverse"))
    axis = call.input(1) if len(call.entries) > 1 else call.ints(call.integer("axis", 0))
    return call.emit(op, call.input(0), axis)


@primitive("TopK", operators="TopKFusion", arguments="input_x k sorted")
def top_k(call: Call) -> Entry:
    count = call.input(1)
    if call.dtype(count) is DataType.INT64 and count.data is None:
        count = call.emit(Cast(), count, call.ints(int(DataType.INT32)))
    elif count.data is not None:
        count = call.ints(count.data.reshape(-1)[:1])
    op = ops.TopKFusion(sorted=call.boolean("sorted", True), axis=-1, largest=1)
    return call.emit_many(op, [call.input(0), count], 2)

"""Sort, top k, median, binary search, cumulative sums and extremes, runs of equal elements."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.comparison import Greater, GreaterEqual, Less, LessEqual, NotEqual, Where
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Gather, GatherD
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape, Shape, Squeeze
from mslite.converter.mindir.ops.reduction import CumSum, TopKFusion
from mslite.converter.mindir.ops.unary import ExpFusion, Log

from .call import Call
from .entries import Entry, Sequence
from .registry import primitive
from .statistics import reduced

_LONGEST = 1 << 16


def ordered(call: Call, x: Value, axis: int, largest: bool, count: Value | None = None) -> tuple[Value, Value]:
    """Returns the sorted elements of a dimension (all, or `count` of them) and their indices; the sort is stable."""
    if count is None:
        shape = call.shape(x)
        if shape is not None and shape[axis] >= 0:
            count = call.ints(shape[axis])
        else:
            count = call.emit(Gather(), call.emit(Shape(), x), call.ints(axis), call.ints(0))
    op = TopKFusion(sorted=True, axis=axis, largest=1 if largest else -1)
    values, places = (call.value(entry) for entry in call.emit_many(op, [x, count], 2).items)
    return values, places


@primitive("Sort", operators="TopKFusion", arguments="x axis descending")
@primitive("SortExt", operators="TopKFusion", arguments="input dim descending stable")
def sort(call: Call) -> Entry:
    x, names = call.input(0), ("axis", "dim")
    axis = call.axis(x, call.integer(names[0], -1, names[1]), names[0])
    values, places = ordered(call, x, axis, call.boolean("descending"))
    return Sequence((values, places if call.operator == "Sort" else call.cast(places, DataType.INT64)))


@primitive("ArgSort", operators="TopKFusion", arguments="input dim descending stable")
def places_in_order(call: Call) -> Value:
    x = call.input(0)
    _, places = ordered(call, x, call.axis(x, call.integer("dim", -1), "dim"), call.boolean("descending"))
    return call.cast(places, DataType.INT64)


@primitive("TopkExt", operators="TopKFusion", arguments="input k dim largest sorted")
def top_k(call: Call) -> Entry:
    x = call.input(0)
    axis = call.axis(x, call.integer("dim", -1), "dim")
    values, places = ordered(call, x, axis, call.boolean("largest", True), call.cast(call.input(1), DataType.INT32))
    return Sequence((values, call.cast(places, DataType.INT64)))


@primitive("InTopK", operators="GatherD Greater ReduceFusion Less", arguments="x1 x2 k")
def in_top_k(call: Call) -> Value:
    """Converts InTopK: whether fewer than k scores of a row are above the score of the label."""
    x = call.input(0)
    own = call.emit(GatherD(), x, call.ints(1), call.emit(ExpandDims(), call.input(1), call.ints(1)))
    above = call.cast(call.emit(Greater(), x, own), DataType.INT32)
    return call.emit(Less(), reduced(call, ReduceMode.ReduceSum, above, (1,), False), call.ints(call.integer("k", 1)))


# ---- k-th element, median ----


def _at(call: Call, x: Value, axis: int, place: int, keep: bool) -> Entry:
    """Returns the element with index `place` in ascending order, and its original index."""
    values, places = ordered(call, x, axis, False, call.ints(place + 1))
    index = call.ints((place,)) if keep else call.ints(place)
    value, where = (call.emit(Gather(), each, index, call.ints(axis)) for each in (values, places))
    return Sequence((value, call.cast(where, DataType.INT64)))


@primitive("Kthvalue", operators="TopKFusion Gather", arguments="input k dim keepdim")
def kth_value(call: Call) -> Entry:
    x, count = call.input(0), call.integer("k", 1)
    axis = call.axis(x, call.integer("dim", -1), "dim")
    if count < 1:
        raise call.block(f"{count} is not positive", attribute="k")
    return _at(call, x, axis, count - 1, call.boolean("keepdim"))


@primitive("MedianDim", operators="TopKFusion Gather", arguments="input dim keepdim")
@primitive("Median", operators="TopKFusion Gather Reshape", arguments="x global_median axis keep_dims ignore_nan")
def median(call: Call) -> Entry:
    """Converts Median: of an even number of elements, the smaller one of the middle two."""
    if call.boolean("ignore_nan"):
        raise call.block("a median that ignores NaN is unsupported", "Use ops.median", "ignore_nan")
    if call.boolean("global_median"):
        return _whole(call)
    x = call.input(0)
    axis = call.axis(x, call.integer("axis", -1 if call.operator == "MedianDim" else 0, "dim"), "axis")
    middle = (call.size(x, axis, "a median") - 1) // 2
    return _at(call, x, axis, middle, call.boolean("keep_dims", False, "keepdim"))


@primitive("MedianExt", operators="TopKFusion Gather Reshape", arguments="input")
def median_of_all(call: Call) -> Entry:
    made = _whole(call)
    assert isinstance(made, Sequence)
    return made.items[0]


def _whole(call: Call) -> Entry:
    count = int(np.prod(call.require_shape(call.input(0), "a median")))
    return _at(call, call.emit(Reshape(), call.input(0), call.ints((-1,))), 0, (count - 1) // 2, False)


# ---- search in sorted rows ----


@primitive("SearchSorted", operators="Less LessEqual ReduceFusion", arguments="sequence values sorter dtype right")
def search_sorted(call: Call) -> Value:
    sorter, row = call.optional(2), call.input(0)
    if sorter is not None:
        row = call.emit(GatherD(), row, call.ints(-1), sorter)
    return _count_below(call, row, call.input(1), call.boolean("right"), DataType.INT64)


@primitive("LowerBound", "UpperBound", operators="Less LessEqual ReduceFusion", arguments="sorted_x values")
def bound(call: Call) -> Value:
    return _count_below(call, call.input(0), call.input(1), call.operator == "UpperBound", DataType.INT32)


def _count_below(call: Call, row: Value, values: Value, right: bool, default: DataType) -> Value:
    """Returns the number of elements of a row that are below each value; with `right`, below or equal."""
    wide = call.emit(ExpandDims(), values, call.ints(call.rank(values)))
    if call.rank(row) > 1:
        row = call.emit(ExpandDims(), row, call.ints(call.rank(row) - 1))
    below = call.emit(LessEqual() if right else Less(), row, wide)
    count = reduced(call, ReduceMode.ReduceSum, call.cast(below, DataType.INT32), (call.rank(values),), False)
    return call.cast(count, default if call.declared_type is DataType.UNKNOWN else call.declared_type)


# ---- cumulative sums and extremes ----


@primitive("CumsumExt", operators="CumSum Cast", arguments="input dim dtype")
def running_sum(call: Call) -> Value:
    return call.emit(CumSum(), call.typed(0), call.ints(call.integer("dim", 0)))


@primitive("CumulativeLogsumexp", operators="ReduceFusion SubFusion ExpFusion CumSum Log AddFusion", arguments="x axis")
def running_log_sum_exp(call: Call) -> Value:
    """Converts CumulativeLogsumexp; the maximum is subtracted first, so that exp does not overflow."""
    x = call.input(0)
    axis = int(call.constant(1, "the axis").reshape(-1)[0])
    most = reduced(call, ReduceMode.ReduceMax, x, (axis,), True)
    grown = call.emit(ExpFusion(base=-1.0, scale=1.0, shift=0.0), call.emit(SubFusion(), x, most))
    op = CumSum(exclusive=call.boolean("exclusive"), reverse=call.boolean("reverse"))
    return call.emit(AddFusion(), call.emit(Log(), call.emit(op, grown, call.ints(axis))), most)


@primitive(
    "Cummax", "Cummin", "CumminExt", operators="SliceFusion Concat GreaterEqual LessEqual Where", arguments="input axis"
)
def running_extreme(call: Call) -> Entry:
    """Converts Cummax and Cummin: the extreme of all elements so far and its index, the last one of equal elements.

    Step n compares each extreme with the extreme 2^n elements before it.
    """
    x = call.input(0)
    axis = call.axis(x, call.integer("axis", 0), "axis")
    size = call.size(x, axis, "a cumulative extreme")
    if size > _LONGEST:
        raise call.block(
            f"its dimension has {size} elements; {_LONGEST} are supported", "Split the tensor in the model"
        )
    stays: Operator = GreaterEqual() if call.operator == "Cummax" else LessEqual()
    ramp = np.arange(size, dtype=np.int32).reshape(-1, *(1,) * (call.rank(x) - 1 - axis))
    place = call.emit(AddFusion(), call.emit(Fill(), call.const(0, np.int32), call.emit(Shape(), x)), call.const(ramp))
    value, step = x, 1
    while step < size:
        earlier = [_moved(call, each, axis, step, size) for each in (value, place)]
        kept = call.emit(stays, value, earlier[0])
        value, place = (call.emit(Where(), kept, *pair) for pair in ((value, earlier[0]), (place, earlier[1])))
        step *= 2
    return Sequence((value, place if call.operator == "Cummin" else call.cast(place, DataType.INT64)))


def _moved(call: Call, x: Value, axis: int, step: int, size: int) -> Value:
    """Returns, for each element, the one `step` elements before it; the first `step` elements stay unchanged."""
    head, tail = (
        call.emit(SliceFusion(axes=(axis,)), x, call.ints((0,)), call.ints((count,))) for count in (step, size - step)
    )
    return call.emit(Concat(axis=axis), head, tail)


@primitive(
    "UniqueConsecutive", operators="NotEqual Where Gather CumSum", arguments="input return_inverse return_counts dim"
)
def unique_neighbors(call: Call) -> Entry:
    """Converts UniqueConsecutive of a vector: the first element of each run of equal elements, the run of each element,
    and the lengths of the runs."""
    x = call.input(0)
    if call.attribute("dim") is not None and call.rank(x) != 1:
        raise call.block("runs of slices are unsupported", "Remove the dimension", "dim")
    shape = call.require_shape(x, "a search for runs")
    size = int(np.prod(shape))
    flat = call.emit(Reshape(), x, call.ints((-1,)))
    before, behind = (
        call.emit(SliceFusion(axes=(0,)), flat, call.ints((begin,)), call.ints((size - 1,))) for begin in (0, 1)
    )
    changes = call.emit(Concat(axis=0), call.const([True]), call.emit(NotEqual(), before, behind))
    starts = call.emit(Squeeze(axis=(1,)), call.emit(Where(), changes))
    number = call.emit(SubFusion(), call.emit(CumSum(), call.cast(changes, DataType.INT32), call.ints(0)), call.ints(1))
    following = call.emit(Concat(axis=0), starts, call.ints((size,)))
    ends = call.emit(SliceFusion(axes=(0,)), following, call.ints((1,)), call.ints((-1,)))
    lengths = call.emit(SubFusion(), ends, starts)
    inverse = call.cast(call.emit(Reshape(), number, call.ints(shape)), DataType.INT64)
    return Sequence((call.emit(Gather(), flat, starts, call.ints(0)), inverse, call.cast(lengths, DataType.INT64)))

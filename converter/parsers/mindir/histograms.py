"""Histograms, bin counts, and DataFormatDimMap."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops.comparison import Greater, Less, LogicalOr, Where
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.reduction import UnsortedSegmentSum
from mslite.converter.mindir.ops.unary import (
    Floor,
    LogicalNot,
)

from .call import Call
from .registry import primitive


@primitive("DataFormatDimMap", operators="Gather", arguments="input_x")
def dimension_numbers(call: Call) -> Value:
    """Converts DataFormatDimMap: maps dimensions of the source layout to dimensions of the target layout."""
    source, target = call.text("src_format", "NHWC"), call.text("dst_format", "NCHW")
    if sorted(source) != sorted(target):
        raise call.block(f"'{source}' and '{target}' have different letters")
    table = call.const([source.index(letter) for letter in target], np.int32)
    x = call.input(0)
    negative = call.emit(Less(), x, call.like(0, x))
    from_front = call.emit(Where(), negative, call.emit(ops.AddFusion(), x, call.like(len(source), x)), x)
    return call.emit(Gather(), table, from_front, call.ints(0))


@primitive("HistcExt", operators="SubFusion MulFusion Floor UnsortedSegmentSum", arguments="input bins min max")
@primitive("Histogram", operators="SubFusion MulFusion Floor UnsortedSegmentSum", arguments="x")
def histogram(call: Call) -> Value:
    """Converts a histogram of `bins` equal intervals of [min, max]. A range that is computed from the elements is
    unsupported."""
    x, bins = call.cast(call.input(0), DataType.FLOAT32), call.integer("bins", 100)
    low, high = call.real("min", 0.0), call.real("max", 0.0)
    if low == high:
        raise call.block("its range is computed from the elements", "Set min and max", "min")
    flat = call.emit(Reshape(), x, call.ints((-1,)))
    place = call.emit(
        ops.MulFusion(),
        call.emit(ops.SubFusion(), flat, call.const(low, np.float32)),
        call.const(bins / (high - low), np.float32),
    )
    place = call.cast(call.emit(Floor(), place), DataType.INT32)
    place = call.emit(ops.Minimum(), place, call.ints(bins - 1))
    outside = call.emit(
        LogicalOr(),
        call.emit(Less(), flat, call.const(low, np.float32)),
        call.emit(Greater(), flat, call.const(high, np.float32)),
    )
    counted = call.cast(call.emit(LogicalNot(), outside), DataType.INT32)
    made = call.emit(UnsortedSegmentSum(), counted, call.emit(Where(), outside, call.ints(0), place), call.ints(bins))
    return call.cast(made, call.declared_type)


@primitive("Bincount", operators="UnsortedSegmentSum", arguments="array size weights")
def counted(call: Call) -> Value:
    """Converts Bincount: for each integer below `size`, the sum of the weights of the elements that are equal to it."""
    size = int(call.constant(1, "the number of bins").reshape(-1)[0])
    return call.emit(UnsortedSegmentSum(), call.input(2), call.cast(call.input(0), DataType.INT32), call.ints(size))

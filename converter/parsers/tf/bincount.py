"""Bin counts of integers."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.comparison import Less, NotEqual, Where
from mslite.converter.mindir.ops.creation import Fill, Range
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.ops.reduction import UnsortedSegmentSum

from .call import Call
from .registry import tf_operator


@tf_operator("Bincount")
def bincount(call: Call) -> Value:
    """Converts Bincount: one histogram of all elements. Its inputs are integers, number of bins, weights (empty:
    ones)."""
    flat = call.ints((-1,))
    numbers, weights = (call.emit(Reshape(), call.input(index), flat) for index in (0, 2))
    return _counted(call, numbers, _weights(call, numbers, weights), _bins(call))


@tf_operator("DenseBincount")
def dense_bincount(call: Call) -> Value:
    """Converts DenseBincount: as Bincount, with one histogram for each row of a matrix. With `binary_output`, bins are
    1 if the integer occurs."""
    numbers, weights = call.input(0), call.input(2)
    binary = call.flag("binary_output")
    rank = call.require_rank(numbers)
    if rank not in (1, 2):
        raise call.block(f"the input has {rank} dimensions; 1 or 2 are supported")
    given = _ones(call, numbers, weights.dtype) if binary else _weights(call, numbers, weights)
    result = _counted(call, numbers, given, _bins(call))
    if binary:
        result = call.as_type(call.emit(NotEqual(), result, call.like(0, result)), weights.dtype)
    return result


def _bins(call: Call) -> Value:
    """Returns the number of bins, int32 [1]."""
    return call.emit(Reshape(), call.int32(1), call.ints((1,)))


def _ones(call: Call, numbers: Value, dtype: DataType) -> Value:
    return call.emit(Fill(), call.as_type(call.ints(1), dtype), call.emit(Shape(), numbers))


def _weights(call: Call, numbers: Value, weights: Value) -> Value:
    """Returns the weights, or ones if they are empty. Raises Blocked."""
    if weights.shape is not None and 0 in weights.shape:
        return _ones(call, numbers, weights.dtype)
    if weights.shape is None or numbers.shape is None or len(weights.shape) != len(numbers.shape):
        raise call.block(
            "the shapes of the weights and the input differ",
            "Export the model with weights of the input's shape, or without weights",
        )
    return weights


def _counted(call: Call, numbers: Value, weights: Value, bins: Value) -> Value:
    """Returns the sum of the weights for each bin, for each row; integers beyond the bins are ignored."""
    ids = call.as_type(numbers, DataType.INT32)
    if call.require_rank(numbers) == 1:
        return call.emit(UnsortedSegmentSum(), weights, ids, bins)
    rows = call.emit(Gather(), call.emit(Shape(), numbers), call.ints(0), call.ints(0))
    places = call.emit(Range(), call.ints(0), rows, call.ints(1))
    begin = call.emit(MulFusion(), call.emit(Reshape(), places, call.ints((-1, 1))), bins)
    ids = call.emit(Where(), call.emit(Less(), ids, bins), call.emit(AddFusion(), ids, begin), call.ints(-1))
    total = call.emit(MulFusion(), call.emit(Reshape(), rows, call.ints((1,))), bins)
    sums = call.emit(UnsortedSegmentSum(), weights, ids, total)
    return call.emit(Reshape(), sums, call.emit(Concat(axis=0), call.ints((-1,)), bins))

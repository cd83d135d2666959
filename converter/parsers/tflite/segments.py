"""Segment reductions, bucketize, sparse embedding lookup, and shapes of broadcasts."""

from __future__ import annotations

import math

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.arithmetic import DivFusion, MulFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.comparison import Equal, GreaterEqual, Where
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape
from mslite.converter.mindir.ops.reduction import ReduceFusion, UnsortedSegmentSum
from mslite.converter.mindir.ops.unary import Cast, Sqrt, Square
from mslite.converter.parsers.segments import segment_reduction

from .call import Call
from .registry import tflite_operator

_REDUCTIONS = {"UNSORTED_SEGMENT_MAX": "max", "UNSORTED_SEGMENT_MIN": "min", "UNSORTED_SEGMENT_PROD": "mul"}


@tflite_operator(*_REDUCTIONS)
def unsorted_segment(call: Call) -> Value:
    """Converts segment reductions. The inputs are x, segment ids, number of segments."""
    reduction = _REDUCTIONS[call.node.name]
    x, ids = call.input(0), call.int32(1)
    count = call.number(2, "the number of segments")
    rank = call.rank(1)
    if count < 0 or call.shape(0)[:rank] != call.shape(1):
        raise call.block(
            f"ids of shape {call.shape(1)} do not match data of shape {call.shape(0)} and {count} segments"
        )
    dtype = np.dtype(np.float32) if call.is_float() else numpy_type(call.source(0).dtype)
    return segment_reduction(call, reduction, x, ids, count, call.shape(0)[rank:], dtype)


@tflite_operator("BUCKETIZE")
def bucketize(call: Call) -> Value:
    """Converts BUCKETIZE: the number of boundaries <= x."""
    boundaries = call.options.reals("boundaries") or ()
    x = call.as_type(call.input(0), DataType.FLOAT32)
    apart = call.emit(ExpandDims(), x, call.ints(-1))
    passed = call.emit(GreaterEqual(), apart, call.const(boundaries, np.float32))
    counted = call.emit(Cast(), passed, call.ints(int(DataType.INT32)))
    op = ReduceFusion(mode=ReduceMode.ReduceSum, coeff=1.0)
    return call.emit(op, counted, call.ints((call.rank(0),)))


@tflite_operator("EMBEDDING_LOOKUP_SPARSE")
def embedding_lookup_sparse(call: Call) -> Value:
    """Converts EMBEDDING_LOOKUP_SPARSE. Its inputs are ids [n], indices [n, rank], shape [rank], weights [n], table.
    Weighted rows are combined over the last index: SUM, MEAN or SQRTN (divided by the root of the sum of squared
    weights)."""
    combiner = call.options.integer("combiner")
    shape, ids = call.integers(2, "the shape"), call.shape(0)
    count = ids[0] if len(ids) == 1 else -1
    if call.shape(1) != (count, len(shape)) or call.shape(3) != ids or call.rank(4) < 1:
        raise call.block(
            f"indices {call.shape(1)} and weights {call.shape(3)} do not match ids {ids} and shape {shape}"
        )
    if combiner not in (0, 1, 2) or len(shape) < 2 or min(shape) < 0:
        raise call.block(f"the shape {shape} or the combiner {combiner} is not valid")
    outer = shape[:-1]
    buckets = math.prod(outer)
    steps = [math.prod(outer[axis + 1 :]) for axis in range(len(outer))]
    factors = call.ints((*steps, 0))
    add = ReduceFusion(mode=ReduceMode.ReduceSum, coeff=1.0)
    bucket = call.emit(add, call.emit(MulFusion(), call.int32(1), factors), call.ints((1,)))
    row = call.shape(4)[1:]
    column = (1,) * len(row)
    weights = call.emit(Reshape(), call.weight(3), call.ints((count, *column)))
    rows = call.emit(MulFusion(), call.emit(Gather(), call.weight(4), call.int32(0), call.ints(0)), weights)
    total = call.emit(UnsortedSegmentSum(), rows, bucket, call.ints(buckets))
    if combiner:
        part = weights if combiner == 1 else call.emit(Square(), weights)
        divisor = call.emit(UnsortedSegmentSum(), part, bucket, call.ints(buckets))
        divisor = divisor if combiner == 1 else call.emit(Sqrt(), divisor)
        empty = call.emit(Equal(), divisor, call.const(0.0, np.float32))
        safe = call.emit(Where(), empty, call.const(1.0, np.float32), divisor)
        total = call.emit(DivFusion(), total, safe)
    return call.emit(Reshape(), total, call.ints((*outer, *row)))


@tflite_operator("BROADCAST_ARGS")
def broadcast_args(call: Call) -> Value:
    """Converts BROADCAST_ARGS: the shape to which two shapes broadcast."""
    if call.rank(0) != 1 or call.rank(1) != 1:
        raise call.block(
            f"its inputs have the shapes {call.shape(0)} and {call.shape(1)}; each must have one dimension"
        )
    shapes, rank = [], max(call.shape(0)[0], call.shape(1)[0])
    if rank > 8:
        raise call.block(f"shapes of {rank} dimensions are unsupported")
    for index in range(2):
        missing = rank - call.shape(index)[0]
        value = call.input(index)
        if missing:
            ones = call.const(np.ones(missing), numpy_type(call.source(index).dtype))
            value = call.emit(Concat(axis=0), ones, value)
        shapes.append(value)
    a, b = shapes
    one = call.const(1, numpy_type(call.source(0).dtype))
    return call.emit(Where(), call.emit(Equal(), a, one), b, a)

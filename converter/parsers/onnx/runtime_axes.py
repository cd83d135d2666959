"""Operators with axes that are known only at run time, for tensors of known rank."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import FloorMod, MulFusion, SubFusion
from mslite.converter.mindir.ops.comparison import Greater, Where
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Gather, OneHot, ScatterNd
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Unsqueeze
from mslite.converter.mindir.ops.reduction import CumSum, ReduceFusion, TopKFusion

from .call import Call
from .casting import as_type


def _count(call: Call, axes: Value) -> int:
    shape = call.static_shape(axes)
    if shape is None or len(shape) > 1:
        raise call.not_known("the number of axes is not known", "Give the axes as constants")
    return shape[0] if shape else 1


def _positions(call: Call, axes: Value, rank: int) -> Value:
    """Returns the axes as a nonnegative int32 vector."""
    flat = call.emit(Reshape(), as_type(call, axes, DataType.INT32), call.ints((-1,)))
    return call.emit(FloorMod(), flat, call.ints(rank))


def _is_axis(call: Call, axes: Value, rank: int) -> Value:
    """Returns int32 [rank]: 1 for dimensions in `axes`, else 0."""
    pair = call.ints((0, 1))
    rows = call.emit(OneHot(axis=-1), _positions(call, axes, rank), call.ints(rank), pair)
    op = ReduceFusion(keep_dims=False, mode=ReduceMode.ReduceMax, coeff=1.0)
    return call.emit(op, rows, call.ints((0,)))


def unsqueeze(call: Call, x: Value, axes: Value) -> Value:
    """Reshapes x to its sizes with 1 inserted at the axes."""
    rank = call.require_rank(x) + _count(call, axes)
    if rank == _count(call, axes):
        return call.emit(Reshape(), x, call.ints((1,) * rank))
    inserted = _is_axis(call, axes, rank)
    before = call.emit(CumSum(exclusive=True), call.emit(SubFusion(), call.ints(1), inserted), call.ints(0))
    last = call.ints(rank - _count(call, axes) - 1)
    bounded = call.emit(Where(), call.emit(Greater(), before, last), last, before)
    sizes = call.emit(Gather(), call.emit(Shape(), x), bounded, call.ints(0))
    target = call.emit(Where(), call.emit(Greater(), inserted, call.ints(0)), call.ints(1), sizes)
    return call.emit(Reshape(), x, target)


def squeeze(call: Call, x: Value, axes: Value) -> Value:
    """Reshapes x to its sizes without those at the axes."""
    rank = call.require_rank(x)
    kept = rank - _count(call, axes)
    if kept <= 0:
        return call.emit(Reshape(), x, call.const(np.zeros(0, np.int32)))
    stays = call.emit(SubFusion(), call.ints(1), _is_axis(call, axes, rank))
    # Kept dimensions get decreasing positive scores, so TopK returns them in order.
    score = call.emit(MulFusion(), stays, call.ints(tuple(range(rank, 0, -1))))
    _, order = call.emit_many(TopKFusion(axis=0, largest=1, sorted=True), (score, call.ints((kept,))), 2)
    return call.emit(Reshape(), x, call.emit(Gather(), call.emit(Shape(), x), order, call.ints(0)))


def scatter_rows(call: Call, rows: Value, axes: Value, rank: int) -> Value:
    """Returns int32 [rank, columns]: the rows at their axes, zeros elsewhere."""
    where = call.emit(Unsqueeze(axis=(1,)), _positions(call, axes, rank))
    return call.emit(ScatterNd(), where, rows, call.ints((rank, 2)))

"""Decompositions of reductions and scans."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value, numpy_type
from mslite.converter.mindir.ops.activation import Hardmax
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, Split
from mslite.converter.mindir.ops.comparison import Equal, LessEqual
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.reduction import CumProd, CumSum, ReduceFusion, ReduceLogSumExp
from mslite.converter.mindir.ops.unary import Abs, ExpFusion, Log, Sqrt
from mslite.converter.passes.target.decompositions.dynamic_reshape import known_shape, reshaped
from mslite.converter.passes.target.decompositions.float_arithmetic import (
    REMEDY,
    as_number,
    linear,
    number,
    require_float,
)
from mslite.converter.passes.target.writer import Writer, decomposes

_MIN = float(np.finfo(np.float32).min)


def _stated(x: Value, axes: Sequence[Value], writer: Writer) -> Value:
    """Returns the axes of a reduction; all axes if none are given."""
    if axes and (axes[0].data is None or axes[0].data.size):
        return axes[0]
    return writer.ints(*range(len(known_shape(x))))


@decomposes("ReduceFusion")
def other_modes(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers other reduction modes. Squares are computed by a separate node, because the kernels would overwrite their
    input."""
    op, (x, *axes) = node.op, node.inputs
    assert isinstance(op, ReduceFusion)
    if x.quant:
        raise Blocked("it is quantized", REMEDY)
    if x.dtype is not DataType.INT32:
        require_float(x)
    if axes and axes[0].data is not None and not axes[0].data.size and x.rank:
        return [writer.emit(op, x, _stated(x, axes, writer))]
    if op.mode is ReduceMode.ReduceMax and x.dtype is DataType.FLOAT32:
        least = writer.emit(dataclasses.replace(op, mode=ReduceMode.ReduceMin), linear(x, -1, 0, writer), *axes)
        return [linear(least, -1, 0, writer)]
    if op.mode not in (ReduceMode.ReduceASum, ReduceMode.ReduceSumSquare, ReduceMode.ReduceL2):
        raise Blocked(f"there is no decomposition of {op.mode.name}", REMEDY)
    terms = writer.emit(Abs(), x) if op.mode is ReduceMode.ReduceASum else writer.emit(MulFusion(), x, x)
    is_root = op.mode is ReduceMode.ReduceL2
    total = dataclasses.replace(op, mode=ReduceMode.ReduceSum, coeff=0.0 if is_root else op.coeff)
    y = writer.emit(total, terms, *axes)
    if is_root:
        y = linear(writer.emit(Sqrt(), y), op.coeff if op.reduce_to_end and op.coeff else 1, 0, writer)
    return [y]


@decomposes("ReduceLogSumExp")
def log_sum_exp(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers ReduceLogSumExp: subtracts the maximum first, clamped to the lowest float32, so that rows of -inf stay
    -inf."""
    op, (x, *axes) = node.op, node.inputs
    assert isinstance(op, ReduceLogSumExp)
    require_float(x)
    axes = [_stated(x, axes, writer)]
    kept = ReduceFusion(mode=ReduceMode.ReduceMax, keep_dims=True)
    most = writer.emit(kept, x, *axes)
    most = writer.emit(Maximum(), most, number(_MIN, most, writer))
    exponentials = writer.emit(ExpFusion(), writer.emit(SubFusion(), x, most))
    total = writer.emit(ReduceFusion(mode=ReduceMode.ReduceSum, keep_dims=True), exponentials, *axes)
    y = writer.emit(AddFusion(), writer.emit(Log(), total), most)
    if op.keep_dims:
        return [y]
    return [writer.emit(ReduceFusion(mode=ReduceMode.ReduceMax), y, *axes)]


@decomposes("Hardmax")
def first_largest(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers Hardmax: 1 for the first maximum, else 0."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Hardmax)
    require_float(x)
    axis = op.axis % max(len(known_shape(x)), 1)
    most = writer.emit(ReduceFusion(mode=ReduceMode.ReduceMax, keep_dims=True), x, writer.ints(axis))
    is_largest = as_number(writer.emit(Equal(), x, most), writer)
    seen = writer.emit(CumSum(), is_largest, writer.const(axis, np.int32))
    is_first = as_number(writer.emit(LessEqual(), seen, number(1.5, seen, writer)), writer)
    return [writer.emit(MulFusion(), is_largest, is_first)]


@decomposes("CumProd")
def running_product(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers CumProd by doubling: multiplies each element by that 1, 2, 4, ... positions before it."""
    op, (x, axis_of) = node.op, node.inputs
    assert isinstance(op, CumProd)
    shape = known_shape(x)
    if x.dtype is not DataType.INT32:
        require_float(x)
    if axis_of.data is None or any(size < 0 for size in shape):
        raise Blocked("its axis or a dimension of its input is unknown", "Fix the input shapes with --inputShape")
    axis = int(axis_of.data.reshape(-1)[0]) % len(shape)
    y = _shifted(x, axis, 1, op.reverse, writer) if op.exclusive else x
    step = 1
    while step < shape[axis]:
        y = writer.emit(MulFusion(), y, _shifted(y, axis, step, op.reverse, writer))
        step *= 2
    return [y if y is not x else reshaped(x, shape, writer)]


def _shifted(x: Value, axis: int, by: int, backward: bool, writer: Writer) -> Value:
    """Emits x shifted along the axis and filled with ones."""
    shape = known_shape(x)
    ones = np.ones((*shape[:axis], min(by, shape[axis]), *shape[axis + 1 :]), numpy_type(x.dtype))
    filling = writer.const(ones, ones.dtype, name="ones")
    if by >= shape[axis]:
        return filling
    rest = shape[axis] - by
    sizes = (by, rest) if backward else (rest, by)
    kept = writer.many(Split(output_num=2, size_splits=sizes, axis=axis), [x], 2)[1 if backward else 0]
    return writer.emit(Concat(axis=axis), *((kept, filling) if backward else (filling, kept)))

"""Segment reductions, and sparse tensors in COO form, which are converted to dense tensors."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.comparison import Equal
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.ops.sparse import SparseToDense
from mslite.converter.parsers.segments import segment_reduction

from .call import Call
from .registry import primitive
from .statistics import reduced

_SEGMENTS = {"UnsortedSegmentMax": "max", "UnsortedSegmentMin": "min", "UnsortedSegmentProd": "mul"}


@primitive(*_SEGMENTS, operators="ScatterReduceNd Fill Where Less", arguments="x segment_ids num_segments")
def segments(call: Call) -> Value:
    x, ids = call.input(0), call.cast(call.input(1), DataType.INT32)
    count, kind = int(call.constant(2, "the number of segments").reshape(-1)[0]), call.dtype(x)
    if kind is DataType.UNKNOWN:
        raise call.block(f"the data type of '{x.name}' is unknown")
    row = call.require_shape(x, "segments")[call.rank(call.input(1)) :]
    return segment_reduction(call, _SEGMENTS[call.operator], x, ids, count, row, numpy_type(kind))


@primitive("EqualCount", operators="Equal Cast ReduceFusion", arguments="x y")
def count_equal(call: Call) -> Value:
    same = call.cast(call.emit(Equal(), call.input(0), call.input(1)), DataType.INT32)
    counted = reduced(call, ReduceMode.ReduceSum, same, None, False)
    return call.emit(Reshape(), call.cast(counted, call.declared_type), call.ints((1,)))


@primitive("SparseToDense", operators="SparseToDense", arguments="indices values sparse_shape")
def dense(call: Call) -> Value:
    """Converts SparseToDense. Other elements are 0; mslite's operator has a fourth operand for their value."""
    if len(call.entries) == 4:
        return call.emit(SparseToDense(), *(call.input(index) for index in range(4)))
    return _dense(call, call.index_list(2))


def _dense(call: Call, shape: Value) -> Value:
    values = call.input(1)
    places = call.cast(call.input(0), DataType.INT32)
    return call.emit(SparseToDense(), places, shape, values, call.like(0, values))


@primitive(
    "SparseTensorDenseMatmul", operators="SparseToDense MatMulFusion", arguments="indices values sparse_shape dense"
)
def sparse_product(call: Call) -> Value:
    op = MatMulFusion(
        transpose_a=call.boolean("adjoint_st", False, "adjoint_a"),
        transpose_b=call.boolean("adjoint_dt", False, "adjoint_b"),
    )
    return call.emit(op, _dense(call, call.index_list(2)), call.input(3))


@primitive("SparseTensorDenseAdd", operators="SparseToDense AddFusion", arguments="x1_indices x1_values x1_shape x2")
def sparse_sum(call: Call) -> Value:
    return call.emit(AddFusion(), _dense(call, call.emit(Shape(), call.input(3))), call.input(3))

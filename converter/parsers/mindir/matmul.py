"""Matmuls, dot, outer and cross products, with additions; distances."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape
from mslite.converter.mindir.ops.unary import Square

from .call import Call
from .entries import Entry, Sequence
from .generic import cast_to_common_type
from .registry import primitive
from .statistics import p_norm, reduced

_FIRST_OF_THREE = -65530
"""The default `dim` of Cross: the first dimension of size 3."""


def times(call: Call, x: Value, factor: float) -> Value:
    return x if factor == 1 else call.emit(MulFusion(), x, call.like(factor, x))


@primitive(
    *("Addcmul", "AddcmulExt", "Addcdiv", "AddcdivExt"),
    operators="MulFusion DivFusion AddFusion",
    arguments="input tensor1 tensor2 value",
)
def add_elements(call: Call) -> Value:
    """Converts Addcmul and Addcdiv: input + value * tensor1 * tensor2, or tensor1 / tensor2."""
    x, first, second = (call.typed(index) for index in range(3))
    quotient = call.operator.startswith("Addcdiv")
    made = call.emit(DivFusion() if quotient else MulFusion(), first, second)
    if len(call.entries) > 3:
        made = call.emit(MulFusion(), made, call.typed(3))
    return call.emit(AddFusion(), x, made)


# ---- matmuls with an addition ----


def _sum(call: Call, product: Value) -> Value:
    """Returns beta * input + alpha * product."""
    x = times(call, call.input(0), call.real("beta", 1.0))
    return call.emit(AddFusion(), x, times(call, product, call.real("alpha", 1.0)))


@primitive(
    "Addmm", "InplaceAddmm", operators="MatMulFusion MulFusion AddFusion", arguments="input mat1 mat2 beta alpha"
)
@primitive("Baddbmm", operators="MatMulFusion MulFusion AddFusion", arguments="input batch1 batch2 beta alpha")
def add_matrices(call: Call) -> Value:
    return _sum(call, call.emit(MatMulFusion(), call.input(1), call.input(2)))


@primitive("Addbmm", operators="MatMulFusion ReduceFusion AddFusion", arguments="input batch1 batch2 beta alpha")
def add_batch(call: Call) -> Value:
    """Converts Addbmm: the sum of the matmuls of the batch."""
    products = call.emit(MatMulFusion(), call.input(1), call.input(2))
    return _sum(call, reduced(call, ReduceMode.ReduceSum, products, (0,), False))


@primitive("Addmv", operators="MatMulFusion Reshape AddFusion", arguments="input mat vec beta alpha")
def add_matrix_vector(call: Call) -> Value:
    return _sum(call, _matrix_vector(call, call.input(1), call.input(2)))


@primitive("InplaceAddr", operators="MulFusion Reshape AddFusion", arguments="input vec1 vec2 beta alpha")
def add_outer(call: Call) -> Value:
    return _sum(call, _outer(call, call.input(1), call.input(2)))


@primitive("Mv", operators="MatMulFusion Reshape", arguments="input vec")
def matrix_vector(call: Call) -> Value:
    return _matrix_vector(call, *cast_to_common_type(call, call.input(0), call.input(1)))


def _matrix_vector(call: Call, matrix: Value, vector: Value) -> Value:
    column = call.emit(Reshape(), vector, call.ints((-1, 1)))
    return call.emit(Reshape(), call.emit(MatMulFusion(), matrix, column), call.ints((-1,)))


@primitive("Outer", "Ger", operators="MulFusion Reshape", arguments="input vec2")
def outer(call: Call) -> Value:
    return _outer(call, *cast_to_common_type(call, call.input(0), call.input(1)))


def _outer(call: Call, first: Value, second: Value) -> Value:
    column = call.emit(Reshape(), first, call.ints((-1, 1)))
    return call.emit(MulFusion(), column, call.emit(Reshape(), second, call.ints((1, -1))))


@primitive("Dot", "Vdot", operators="MulFusion ReduceFusion", arguments="input other")
def dot(call: Call) -> Value:
    return reduced(call, ReduceMode.ReduceSum, call.emit(MulFusion(), call.input(0), call.input(1)), None, False)


@primitive("LinalgCross", "Cross", operators="Gather MulFusion SubFusion", arguments="input other dim")
def cross(call: Call) -> Value:
    """Converts the cross product: a[1] b[2] - a[2] b[1], ... along a dimension of size 3."""
    a, b = cast_to_common_type(call, call.input(0), call.input(1))
    shape = call.require_shape(a, "a cross product")
    axis = call.integer("dim", _FIRST_OF_THREE)
    if axis == _FIRST_OF_THREE:
        axis = next((place for place, size in enumerate(shape) if size == 3), -1)
    axis = axis if axis >= 0 else axis + len(shape)

    def turned(x: Value, order: tuple[int, int, int]) -> Value:
        return call.emit(Gather(), x, call.ints(order), call.ints(axis))

    there = call.emit(MulFusion(), turned(a, (1, 2, 0)), turned(b, (2, 0, 1)))
    back = call.emit(MulFusion(), turned(a, (2, 0, 1)), turned(b, (1, 2, 0)))
    return call.emit(SubFusion(), there, back)


# ---- distances ----


@primitive("Cdist", operators="ExpandDims SubFusion Abs PowFusion Sqrt ReduceFusion", arguments="x1 x2 p")
def distances(call: Call) -> Value:
    """Converts Cdist: the distance of each row of the first matrix from each row of the second."""
    a = call.emit(ExpandDims(), call.input(0), call.ints(-2))
    b = call.emit(ExpandDims(), call.input(1), call.ints(call.rank(call.input(1)) - 2))
    return p_norm(call, call.emit(SubFusion(), a, b), call.real("p", 2.0), (-1,), False)


@primitive("Pdist", operators="Gather SubFusion Abs PowFusion Sqrt ReduceFusion", arguments="x p")
def distances_of_pairs(call: Call) -> Value:
    """Converts Pdist: the distance of each row from each later row."""
    x = call.input(0)
    rows = call.require_shape(x, "the distances of all pairs")[-2]
    pairs = [(i, j) for i in range(rows) for j in range(i + 1, rows)]
    axis = call.ints(call.rank(x) - 2)
    first, second = (call.emit(Gather(), x, call.ints([pair[k] for pair in pairs]), axis) for k in (0, 1))
    return p_norm(call, call.emit(SubFusion(), first, second), call.real("p", 2.0), (-1,), False)


@primitive("SquareSumAll", operators="Square ReduceFusion", arguments="x y")
def sums_of_squares(call: Call) -> Entry:
    squares = (call.emit(Square(), call.input(index)) for index in (0, 1))
    return Sequence(tuple(reduced(call, ReduceMode.ReduceSum, each, None, False) for each in squares))


@primitive(
    "TridiagonalMatMul", operators="MulFusion Concat SliceFusion AddFusion", arguments="superdiag maindiag subdiag rhs"
)
def tridiagonal(call: Call) -> Value:
    """Converts TridiagonalMatMul: a tridiagonal matrix, given by three diagonals [1, rows], times `rhs`."""
    x = call.input(3)
    axis = call.rank(x) - 2
    rows = call.size(x, axis, "a tridiagonal matmul")
    shape = list(call.require_shape(x, "a tridiagonal matmul"))
    shape[axis] = 1
    zeros = call.emit(Fill(), call.like(0, x), call.ints(shape))

    def cut(begin: int) -> Value:
        return call.emit(SliceFusion(axes=(axis,)), x, call.ints((begin,)), call.ints((rows - 1,)))

    below, above = call.emit(Concat(axis=axis), cut(1), zeros), call.emit(Concat(axis=axis), zeros, cut(0))
    factors = [call.require_shape(call.input(index), "a tridiagonal matmul") for index in range(3)]
    columns = [
        call.emit(Reshape(), call.input(index), call.ints((*sizes[:-2], sizes[-1], 1)))
        for index, sizes in enumerate(factors)
    ]
    parts = [call.emit(MulFusion(), column, each) for column, each in zip(columns, (below, x, above), strict=True)]
    return call.emit(AddFusion(), call.emit(AddFusion(), parts[0], parts[1]), parts[2])

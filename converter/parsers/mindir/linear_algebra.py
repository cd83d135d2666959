"""Diagonals and triangles of matrices; determinants, inverses and linear systems."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.comparison import Where
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Tril, Triu
from mslite.converter.mindir.ops.linear_algebra import Determinant, MatrixInverse
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.unary import Abs, Log, Sign
from mslite.converter.parsers import diagonals

from .call import Call
from .entries import Entry, Sequence
from .registry import primitive
from .statistics import reduced

_LARGEST_POWER = 64


def _size(call: Call, x: Value, first: int = -2, second: int = -1) -> tuple[int, int]:
    """Returns the numbers of rows and columns. Raises Blocked if they are not fixed."""
    rank = call.rank(x)
    if rank < 2:
        raise call.block(f"'{x.name}' has {rank} dimensions; a diagonal needs at least 2")
    return call.size(x, first, "a diagonal"), call.size(x, second, "a diagonal")


def _diagonal(call: Call, x: Value, offset: int, first: int, second: int) -> Value:
    """Returns the diagonals of dimensions `first` and `second`, which are removed; the diagonal is the last
    dimension."""
    rank = call.rank(x)
    size = _size(call, x, first, second)
    order = [axis for axis in range(rank) if axis not in (first, second)] + [first, second]
    if order != list(range(rank)):
        x = call.emit(Transpose(), x, call.ints(order))
    return diagonals.diagonal_part(call, x, rank, size, offset)


def _dimensions(call: Call, first: str, second: str) -> tuple[int, int]:
    x = call.input(0)
    return call.axis(x, call.integer(first, 0), first), call.axis(x, call.integer(second, 1), second)


@primitive("Diagonal", "DiagonalView", operators="Reshape Gather Transpose", arguments="input offset dim1 dim2")
def diagonal(call: Call) -> Value:
    return _diagonal(call, call.input(0), call.integer("offset", 0), *_dimensions(call, "dim1", "dim2"))


@primitive("Trace", "TraceExt", operators="Reshape Gather ReduceFusion", arguments="input")
@primitive("TraceV2", operators="Reshape Gather ReduceFusion", arguments="input offset axis1 axis2 dtype")
def trace(call: Call) -> Value:
    x = _diagonal(call, call.typed(0), call.integer("offset", 0), *_dimensions(call, "axis1", "axis2"))
    return reduced(call, ReduceMode.ReduceSum, x, (-1,), False)


@primitive("DiagPart", operators="Reshape Gather", arguments="input")
def diagonal_of_halves(call: Call) -> Value:
    """Converts DiagPart: the elements (i, j, i, j) of a tensor [a, b, a, b]."""
    shape = call.require_shape(call.input(0), "a diagonal")
    half = shape[: len(shape) // 2]
    flat = call.emit(Reshape(), call.input(0), call.ints((prod(half), prod(half))))
    return call.emit(Reshape(), diagonals.diagonal_part(call, flat, 2, (prod(half),) * 2, 0), call.ints(half))


@primitive("Diag", operators="Where PadFusion Reshape", arguments="input")
def diagonal_matrix(call: Call) -> Value:
    """Converts Diag: a tensor [a, b] becomes the diagonal of a tensor [a, b, a, b]."""
    x = call.input(0)
    shape = call.require_shape(x, "a diagonal")
    flat = call.emit(Reshape(), x, call.ints((-1,)))
    made = diagonals.from_diagonal(call, flat, 1, prod(shape), (-1, -1), 0, call.like(0, x))
    return call.emit(Reshape(), made, call.ints((*shape, *shape)))


@primitive("DiagExt", operators="Where PadFusion Reshape Gather", arguments="input diagonal")
def diagonal_either_way(call: Call) -> Value:
    """Converts DiagExt: a vector to a matrix with that diagonal, or a matrix to its diagonal."""
    x, offset = call.input(0), call.integer("diagonal", 0)
    if call.rank(x) != 1:
        return _diagonal(call, x, offset, 0, 1)
    length = call.size(x, 0, "a diagonal")
    return diagonals.from_diagonal(call, x, 1, length, (-1, -1), offset, call.like(0, x))


def _one_diagonal(call: Call, index: int) -> int:
    numbers = call.flat_integers(call.constant(index, "the diagonals"))
    if len(set(numbers)) != 1:
        raise call.block("it has several diagonals", "Use one node for each diagonal")
    return numbers[0]


@primitive("MatrixDiagV3", operators="Where PadFusion", arguments="x k num_rows num_cols padding_value")
def matrices_of_diagonals(call: Call) -> Value:
    x = call.input(0)
    rows, columns = (call.flat_integers(call.constant(index, "a size"))[0] for index in (2, 3))
    other, length = call.input(4), call.size(x, -1, "a diagonal")
    return diagonals.from_diagonal(call, x, call.rank(x), length, (rows, columns), _one_diagonal(call, 1), other)


@primitive("MatrixDiagPartV3", operators="Reshape Gather", arguments="x k padding_value")
def diagonals_of_matrices(call: Call) -> Value:
    x = call.input(0)
    return diagonals.diagonal_part(call, x, call.rank(x), _size(call, x), _one_diagonal(call, 1))


@primitive("MatrixSetDiagV3", operators="Where PadFusion", arguments="x diagonal k")
def matrices_with_diagonals(call: Call) -> Value:
    x = call.input(0)
    return diagonals.with_diagonal(call, x, call.input(1), call.rank(x), _size(call, x), _one_diagonal(call, 2))


@primitive("FillDiagonal", operators="Where", arguments="input_x")
@primitive("InplaceFillDiagonal", operators="Where", arguments="input fill_value wrap")
def filled_diagonal(call: Call) -> Value:
    """Converts FillDiagonal. With `wrap`, the diagonal of a tall matrix starts again after the last column."""
    x = call.input(0)
    shape = call.require_shape(x, "a diagonal")
    mask = np.zeros(shape, bool)
    np.fill_diagonal(mask, True, call.boolean("wrap"))
    return call.emit(Where(), call.const(mask), call.like(call.real("fill_value", 0.0), x), x)


@primitive("Tril", "TrilExt", "Triu", operators="Tril Triu", arguments="input diagonal")
def triangle(call: Call) -> Value:
    """Converts Tril and Triu. The diagonal is an attribute or the second operand."""
    number = call.input(1) if len(call.entries) > 1 else call.ints(call.integer("diagonal", 0))
    return call.emit(Triu() if call.operator == "Triu" else Tril(), call.input(0), call.cast(number, DataType.INT32))


@primitive("MatrixBandPart", operators="Tril Triu", arguments="x lower upper")
def band(call: Call) -> Value:
    lower, upper = (call.flat_integers(call.constant(index, "the bounds"))[0] for index in (1, 2))
    return diagonals.band(call, call.input(0), lower, upper)


# ---- determinants, inverses, linear systems ----


@primitive("MatrixDeterminant", operators="Determinant", arguments="input")
def determinant(call: Call) -> Value:
    return call.emit(Determinant(), call.input(0))


@primitive("LogMatrixDeterminant", operators="Determinant Sign Abs Log", arguments="input")
def logarithm_of_determinant(call: Call) -> Entry:
    """Converts LogMatrixDeterminant: the sign and the logarithm of the absolute value."""
    found = call.emit(Determinant(), call.input(0))
    return Sequence((call.emit(Sign(), found), call.emit(Log(), call.emit(Abs(), found))))


@primitive("MatrixInverseExt", operators="MatrixInverse", arguments="input")
def inverse(call: Call) -> Value:
    return call.emit(MatrixInverse(), call.input(0))


@primitive("MatrixPower", operators="MatMulFusion MatrixInverse", arguments="input n")
def power(call: Call) -> Value:
    """Converts MatrixPower by repeated squaring."""
    count, x = call.integer("n", 1), call.input(0)
    if not 0 < abs(count) <= _LARGEST_POWER:
        raise call.block(
            f"the absolute value of its exponent {count} is not in 1 to {_LARGEST_POWER}", "Multiply in the model", "n"
        )
    square = call.emit(MatrixInverse(), x) if count < 0 else x
    result: Value | None = None
    digits = abs(count)
    while True:
        if digits & 1:
            result = square if result is None else call.emit(MatMulFusion(), result, square)
        digits >>= 1
        if not digits:
            assert result is not None
            return result
        square = call.emit(MatMulFusion(), square, square)


@primitive("MatrixSolve", operators="MatrixInverse MatMulFusion", arguments="matrix rhs")
def solution(call: Call) -> Value:
    """Converts MatrixSolve with the inverse; `adjoint` transposes the matrix."""
    return _solved(call, call.input(0), call.input(1), call.boolean("adjoint"))


@primitive("MatrixTriangularSolve", operators="MatrixInverse MatMulFusion Tril Triu", arguments="matrix rhs")
def triangular_solution(call: Call) -> Value:
    triangle = call.emit(Tril() if call.boolean("lower", True) else Triu(), call.input(0))
    return _solved(call, triangle, call.input(1), call.boolean("adjoint"))


@primitive(
    "TriangularSolve",
    operators="MatrixInverse MatMulFusion Tril Triu",
    arguments="b A upper transpose unitriangular",
)
@primitive(
    "SolveTriangular", operators="MatrixInverse MatMulFusion Tril Triu", arguments="a b trans lower unit_diagonal"
)
def triangular_solution_of_mint(call: Call) -> Entry:
    """Converts TriangularSolve, which also returns the matrix, and SolveTriangular."""
    if call.boolean("unitriangular", False, "unit_diagonal"):
        raise call.block("an implicit diagonal of ones is unsupported", "Write the ones into the matrix")
    is_older = call.operator == "SolveTriangular"
    matrix, right = (call.input(0), call.input(1)) if is_older else (call.input(1), call.input(0))
    lower = call.boolean("lower") if is_older else not call.boolean("upper", True)
    transposed = call.attribute("trans") in (1, 2, "T", "C") if is_older else call.boolean("transpose")
    made = _solved(call, call.emit(Tril() if lower else Triu(), matrix), right, transposed)
    return made if is_older else Sequence((made, matrix))


@primitive("CholeskySolve", operators="MatrixInverse MatMulFusion Tril Triu", arguments="x1 x2")
def cholesky_solution(call: Call) -> Value:
    """Converts CholeskySolve: x1 is the right-hand side, x2 the Cholesky factor."""
    return _solved(call, _product_of_factor(call, call.input(1)), call.input(0), False)


@primitive("CholeskyInverse", operators="MatrixInverse MatMulFusion Tril Triu", arguments="input_x upper")
def cholesky_inverse(call: Call) -> Value:
    return call.emit(MatrixInverse(), _product_of_factor(call, call.input(0)))


def _product_of_factor(call: Call, factor: Value) -> Value:
    """Returns L L^T or U^T U."""
    upper = call.boolean("upper")
    triangle = call.emit(Triu() if upper else Tril(), factor)
    return call.emit(MatMulFusion(transpose_a=upper, transpose_b=not upper), triangle, triangle)


def _solved(call: Call, matrix: Value, right: Value, transposed: bool) -> Value:
    if call.dtype(matrix) not in (DataType.FLOAT32, DataType.UNKNOWN):
        raise call.block("linear systems are only solved in float32", "Cast the matrices to float32 in the model")
    return call.emit(MatMulFusion(transpose_a=transposed), call.emit(MatrixInverse(), matrix), right)

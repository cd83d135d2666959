"""Diagonals of matrices."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.parsers import diagonals

from .call import Call
from .registry import tf_operator


@tf_operator("MatrixBandPart")
def band(call: Call) -> Value:
    """Converts MatrixBandPart. Its inputs are x and the numbers of diagonals below and above the main one to keep; -1:
    all."""
    lower, upper = call.require_integer(1, "the lower bound"), call.require_integer(2, "the upper bound")
    return diagonals.band(call, call.input(0), lower, upper)


def _one_diagonal(call: Call, index: int) -> int:
    """Returns the diagonal number of an operand; 0 is the main diagonal. Raises Blocked."""
    if not call.has_input(index):
        return 0
    numbers = call.require_integers(index, "the diagonals")
    if len(set(numbers)) != 1:
        raise call.block("several diagonals are unsupported", "Use one node for each diagonal")
    return numbers[0]


def _size(call: Call, x: Value) -> tuple[int, int]:
    """Returns (rows, columns). Raises Blocked if they are not fixed."""
    rank = call.require_rank(x)
    return call.require_size(x, rank - 2, "a diagonal"), call.require_size(x, rank - 1, "a diagonal")


@tf_operator("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3")
def from_diagonal(call: Call) -> Value:
    """Converts MatrixDiag. Its inputs are x, [diagonal number, rows, columns, padding value]."""
    x = call.input(0)
    length, diagonal = call.require_size(x, -1, "a diagonal"), _one_diagonal(call, 1)
    rows, columns = (call.require_integer(index, "a size") if call.has_input(index) else -1 for index in (2, 3))
    other = call.input(4) if call.has_input(4) else call.like(0, x)
    return diagonals.from_diagonal(call, x, call.require_rank(x), length, (rows, columns), diagonal, other)


@tf_operator("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3")
def diagonal_part(call: Call) -> Value:
    """Converts MatrixDiagPart: the elements of a diagonal. Its inputs are x, [diagonal number, padding value]."""
    x, diagonal = call.input(0), _one_diagonal(call, 1)
    return diagonals.diagonal_part(call, x, call.require_rank(x), _size(call, x), diagonal)


@tf_operator("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def with_diagonal(call: Call) -> Value:
    """Converts MatrixSetDiag. Its inputs are x, the new diagonal, [diagonal number]."""
    x, diagonal = call.input(0), _one_diagonal(call, 2)
    return diagonals.with_diagonal(call, x, call.input(1), call.require_rank(x), _size(call, x), diagonal)

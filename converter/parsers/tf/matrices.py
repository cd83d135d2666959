"""Diagonals of matrices."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import indexing as ops
from mslite.converter.mindir.ops.arithmetic import MulFusion
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.comparison import Where
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.rearrange import Unsqueeze
from mslite.converter.mindir.ops.reduction import ReduceFusion

from .call import Call
from .registry import tf_operator

_LARGEST = 4096


@tf_operator("MatrixBandPart")
def band(call: Call) -> Value:
    """Inputs x and how many diagonals below and above the main one stay; -1 are all."""
    x = call.input(0)
    lower, upper = call.require_integer(1, "the lower bound"), call.require_integer(2, "the upper bound")
    if lower >= 0:
        x = call.emit(ops.Triu(), x, call.ints(-lower))
    return call.emit(ops.Tril(), x, call.ints(upper)) if upper >= 0 else x


def _one_diagonal(call: Call, index: int) -> int:
    """The number of the diagonal that an operand names; 0 is the main one."""
    if not call.has_input(index):
        return 0
    numbers = call.require_integers(index, "the diagonals")
    if len(set(numbers)) != 1:
        raise call.block("several diagonals at once are not supported", "Take them one by one")
    return numbers[0]


def _place(call: Call, rows: int, columns: int, diagonal: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """True on a diagonal of a matrix."""
    if not (0 < rows <= _LARGEST and 0 < columns <= _LARGEST):
        raise call.block(f"matrices of {rows} x {columns} are not supported")
    return np.eye(rows, columns, diagonal, dtype=np.bool_)


@tf_operator("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3")
def from_diagonal(call: Call) -> Value:
    """Inputs x, [which diagonal, rows, columns, what stands elsewhere]."""
    x = call.input(0)
    rank = call.require_rank(x)
    length = call.require_size(x, -1, "a diagonal")
    diagonal = _one_diagonal(call, 1)
    size = [call.require_integer(index, "a size") if call.has_input(index) else -1 for index in (2, 3)]
    least = (length + max(-diagonal, 0), length + max(diagonal, 0))
    if max(size) < 0:
        least = (max(least), max(least))  # the smallest square
    rows, columns = (least[axis] if size[axis] < 0 else size[axis] for axis in range(2))
    place = _place(call, rows, columns, diagonal)
    if place.sum() != length:
        raise call.block(f"{length} elements do not fit diagonal {diagonal} of a matrix of {rows} x {columns}")
    if diagonal >= 0:  # along the rows, which begin with the first element
        wide = call.emit(Unsqueeze(axis=(rank,)), _padded(call, x, 0, rows - length))
    else:
        wide = call.emit(Unsqueeze(axis=(rank - 1,)), _padded(call, x, 0, columns - length))
    other = call.input(4) if call.has_input(4) else call.like(0, x)
    return call.emit(Where(), call.const(place), wide, other)


def _padded(call: Call, x: Value, before: int, after: int) -> Value:
    """x with zeros at both ends of its last dimension."""
    if not before and not after:
        return x
    rows = [(0, 0)] * (call.require_rank(x) - 1) + [(before, after)]
    return call.emit(PadFusion(), x, call.ints(rows))


@tf_operator("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3")
def diagonal_part(call: Call) -> Value:
    """Inputs x, [which diagonal, padding]: what stands there, one by one."""
    x = call.input(0)
    rank = call.require_rank(x)
    diagonal = _one_diagonal(call, 1)
    rows, columns = (call.require_size(x, axis, "a diagonal") for axis in (rank - 2, rank - 1))
    place = np.argwhere(_place(call, rows, columns, diagonal))
    flat_rows = call.emit(ops.Gather(), x, call.ints(place[:, 0]), call.ints(rank - 2))
    chosen = np.zeros((len(place), columns), np.bool_)
    chosen[np.arange(len(place)), place[:, 1]] = True
    if x.dtype is DataType.FLOAT32:
        kept = call.emit(Where(), call.const(chosen), flat_rows, call.like(0, x))
    else:
        kept = call.emit(MulFusion(), flat_rows, call.as_type(call.const(chosen), x.dtype))
    op = ReduceFusion(keep_dims=False, mode=ReduceMode.ReduceSum, coeff=1.0)
    return call.emit(op, kept, call.ints((rank - 1,)))


@tf_operator("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def with_diagonal(call: Call) -> Value:
    """Inputs x, what shall stand on the diagonal, [which diagonal]."""
    x, values = call.input(0), call.input(1)
    rank = call.require_rank(x)
    diagonal = _one_diagonal(call, 2)
    rows, columns = (call.require_size(x, axis, "a diagonal") for axis in (rank - 2, rank - 1))
    place = _place(call, rows, columns, diagonal)
    length = int(place.sum())
    if diagonal >= 0:
        wide = call.emit(Unsqueeze(axis=(rank - 1,)), _padded(call, values, 0, rows - length))
    else:
        wide = call.emit(Unsqueeze(axis=(rank - 2,)), _padded(call, values, 0, columns - length))
    return call.emit(Where(), call.const(place), wide, x)

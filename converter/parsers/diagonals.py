"""Diagonals of matrices, in the last two dimensions, for all parsers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.comparison import Where
from mslite.converter.mindir.ops.indexing import Gather, Tril, Triu
from mslite.converter.mindir.ops.rearrange import Reshape, Unsqueeze

_LARGEST = 4096


class Emitter(Protocol):
    """The methods of a parser's calls that this module needs."""

    def block(self, reason: str, /) -> Exception: ...
    def const(self, data: npt.ArrayLike, /) -> Value: ...
    def ints(self, data: npt.ArrayLike, /) -> Value: ...
    def emit(self, op: Operator, *inputs: Value) -> Value: ...


def band(call: Emitter, x: Value, lower: int, upper: int) -> Value:
    """Keeps `lower` diagonals below and `upper` above the main one, all for a negative value; zeros elsewhere."""
    if lower >= 0:
        x = call.emit(Triu(), x, call.ints(-lower))
    return call.emit(Tril(), x, call.ints(upper)) if upper >= 0 else x


def place(call: Emitter, rows: int, columns: int, diagonal: int) -> npt.NDArray[np.bool_]:
    """Returns a mask that is True on a diagonal (0: main). Raises the parser's exception for too large sizes."""
    if not (0 < rows <= _LARGEST and 0 < columns <= _LARGEST):
        raise call.block(f"matrices of {rows} x {columns} are not supported")
    return np.eye(rows, columns, diagonal, dtype=np.bool_)


def from_diagonal(call: Emitter, x: Value, rank: int, length: int, size: tuple[int, int], diagonal: int, other: Value) -> Value:  # fmt: skip
    """Returns matrices [rows, columns] with `x` (last dimension: `length`) on a diagonal, and `other` elsewhere.

    Negative sizes: the smallest possible ones; a square if both are negative.
    """
    least = (length + max(-diagonal, 0), length + max(diagonal, 0))
    if max(size) < 0:
        least = (max(least), max(least))
    rows, columns = (least[axis] if size[axis] < 0 else size[axis] for axis in range(2))
    where = place(call, rows, columns, diagonal)
    if where.sum() != length:
        raise call.block(f"{length} elements do not fit diagonal {diagonal} of a matrix of {rows} x {columns}")
    return call.emit(Where(), call.const(where), _along(call, x, rank, length, rows, columns, diagonal), other)


def with_diagonal(call: Emitter, x: Value, values: Value, rank: int, size: tuple[int, int], diagonal: int) -> Value:
    """Returns the matrices `x` (of this rank, [rows, columns]) with `values` on a diagonal."""
    where = place(call, *size, diagonal)
    wide = _along(call, values, rank - 1, int(where.sum()), *size, diagonal)
    return call.emit(Where(), call.const(where), wide, x)


def _along(call: Emitter, x: Value, rank: int, length: int, rows: int, columns: int, diagonal: int) -> Value:
    """Returns x in a shape that broadcasts element i to position i of the diagonal."""
    missing = (rows if diagonal >= 0 else columns) - length
    if missing:
        x = call.emit(PadFusion(), x, call.ints([(0, 0)] * (rank - 1) + [(0, missing)]))
    return call.emit(Unsqueeze(axis=(rank if diagonal >= 0 else rank - 1,)), x)


def diagonal_part(call: Emitter, x: Value, rank: int, size: tuple[int, int], diagonal: int) -> Value:
    """Returns a diagonal of the matrices `x` (of this rank, [rows, columns])."""
    flat = call.emit(Reshape(), x, call.ints((0,) * (rank - 2) + (size[0] * size[1],)))
    places = np.flatnonzero(place(call, *size, diagonal))
    return call.emit(Gather(), flat, call.ints(places), call.ints(rank - 2))

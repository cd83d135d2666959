"""Diagonals of matrices, which are the last two dimensions, for every front end."""

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
    """What this module needs of a front end's view of a node."""

    def block(self, reason: str, /) -> Exception: ...
    def const(self, data: npt.ArrayLike, /) -> Value: ...
    def ints(self, data: npt.ArrayLike, /) -> Value: ...
    def emit(self, op: Operator, *inputs: Value) -> Value: ...


def band(call: Emitter, x: Value, lower: int, upper: int) -> Value:
    """How many diagonals below and above the main one stay; negative numbers are all."""
    if lower >= 0:
        x = call.emit(Triu(), x, call.ints(-lower))
    return call.emit(Tril(), x, call.ints(upper)) if upper >= 0 else x


def place(call: Emitter, rows: int, columns: int, diagonal: int) -> npt.NDArray[np.bool_]:
    """True on a diagonal of a matrix; 0 is the main one. Raises what the front end says for a size beyond limits."""
    if not (0 < rows <= _LARGEST and 0 < columns <= _LARGEST):
        raise call.block(f"matrices of {rows} x {columns} are not supported")
    return np.eye(rows, columns, diagonal, dtype=np.bool_)


def from_diagonal(call: Emitter, x: Value, rank: int, length: int, size: tuple[int, int], diagonal: int, other: Value) -> Value:  # fmt: skip
    """Matrices of [rows, columns] with `x`, whose last dimension has that length, on a diagonal, and `other` elsewhere.

    Negative sizes: the smallest ones that hold it, and a square where both are.
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
    """The matrices `x`, of `rank` dimensions and [rows, columns], with `values` on a diagonal."""
    where = place(call, *size, diagonal)
    wide = _along(call, values, rank - 1, int(where.sum()), *size, diagonal)
    return call.emit(Where(), call.const(where), wide, x)


def _along(call: Emitter, x: Value, rank: int, length: int, rows: int, columns: int, diagonal: int) -> Value:
    """What broadcasts so that element i stands at place i of the diagonal."""
    missing = (rows if diagonal >= 0 else columns) - length
    if missing:
        x = call.emit(PadFusion(), x, call.ints([(0, 0)] * (rank - 1) + [(0, missing)]))
    return call.emit(Unsqueeze(axis=(rank if diagonal >= 0 else rank - 1,)), x)


def diagonal_part(call: Emitter, x: Value, rank: int, size: tuple[int, int], diagonal: int) -> Value:
    """What stands on a diagonal of the matrices `x`, of `rank` dimensions and [rows, columns]."""
    flat = call.emit(Reshape(), x, call.ints((0,) * (rank - 2) + (size[0] * size[1],)))
    places = np.flatnonzero(place(call, *size, diagonal))
    return call.emit(Gather(), flat, call.ints(places), call.ints(rank - 2))

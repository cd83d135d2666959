"""Marks which input dimensions of a model are fixed, can be resized, or must be equal.

A tensor of a `.ms` file only has -1 for dynamic dimensions. Two fields of graph inputs that MindSpore Lite does not
read contain the marks: `refCount` is MARK, and `offset` has four bits for each dimension, the first in the lowest
bits. In a `.mindir` file, the same numbers are an attribute of the main graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .graph import Value, is_symbol

MARK = 0x6D737A31
"""The value of `Tensor.refCount`; as in lite_runtime/model/graph.h."""

FREE = 0
"""The dimension can be resized."""
FIXED = 15
"""The dimension is fixed: constants and nodes depend on it."""
MAX_GROUPS = 14
"""Marks from 1 to this are groups of dimensions that must be equal in every run."""

_BITS = 4


def packed(marks: Sequence[int]) -> int:
    """Packs the marks of up to 8 dimensions into a number."""
    number = sum(mark << (_BITS * axis) for axis, mark in enumerate(marks))
    return number - (1 << 32) if number >= 1 << 31 else number


def unpacked(offset: int, rank: int) -> tuple[int, ...]:
    """Unpacks the marks of `rank` dimensions."""
    return tuple((offset >> (_BITS * axis)) & FIXED for axis in range(rank))


def share_sizes(inputs: Iterable[Value]) -> None:
    """Gives dynamic dimensions of the same group the same symbol."""
    symbols: dict[int, int] = {}
    for value in inputs:
        if value.shape is None or not value.size_marks:
            continue
        sizes = zip(value.shape, value.size_marks, strict=True)
        value.shape = tuple(
            symbols.setdefault(mark, size) if is_symbol(size) and mark else size for size, mark in sizes
        )

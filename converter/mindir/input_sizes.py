"""Which sizes of its inputs a model was made for.

A tensor of a `.ms` file says -1 for an open size, and no more. Two of its fields that no reader of MindSpore Lite reads say the rest of
a graph input: `refCount` is MARK, and `offset` has four bits for each dimension, the first one lowest. In a `.mindir` file the same
numbers are an attribute of the main graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .graph import Value, is_symbol

MARK = 0x6D737A31
"""In `Tensor.refCount`; as in lite_runtime/model/graph.h."""

FREE = 0
"""Nothing depends on the size."""
FIXED = 15
"""The size is the one in the file: constants and nodes were made for it."""
MOST_GROUPS = 14
"""Numbers from 1 on name groups: sizes that are equal in every run."""

_BITS = 4


def packed(marks: Sequence[int]) -> int:
    """The number for the marks of up to 8 dimensions."""
    number = sum(mark << (_BITS * axis) for axis, mark in enumerate(marks))
    return number - (1 << 32) if number >= 1 << 31 else number


def unpacked(offset: int, rank: int) -> tuple[int, ...]:
    """The marks of so many dimensions."""
    return tuple((offset >> (_BITS * axis)) & FIXED for axis in range(rank))


def share_sizes(inputs: Iterable[Value]) -> None:
    """Open sizes of inputs that are equal in every run become one symbol."""
    symbols: dict[int, int] = {}
    for value in inputs:
        if value.shape is None or not value.size_marks:
            continue
        sizes = zip(value.shape, value.size_marks, strict=True)
        value.shape = tuple(
            symbols.setdefault(mark, size) if is_symbol(size) and mark else size for size, mark in sizes
        )

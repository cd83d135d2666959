"""The scales of a tensor: one, or one for each index of a dimension, or for each block of elements.

The scales of blocks lie in a tensor of their own; such constants are decoded when they are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mslite.converter.memory_limit import spend
from mslite.converter.mindir.flatbuffer import FlatBufferError, Table
from mslite.converter.mindir.graph import Array
from mslite.converter.parsers.short_types import Floats
from mslite.converter.quoting import quoted

_LARGEST_ZERO_POINT = 1 << 16
"""Quantized integers have 16 bits at most, but for biases, whose zero point is 0."""


@dataclass(frozen=True)
class Quantization:
    """real = scale * (q - zero_point), one pair or one per index of dimension `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class Blocks:
    """real = scale * (stored - zero point), one pair per block."""

    scales: int
    """tensor index"""
    points: int
    """tensor index; 0 and less: the zero points are 0"""
    size: int
    """elements of a block, all along one dimension; 0 where `shape` says it"""
    shape: tuple[int, ...]
    """of a block; empty where `size` says it"""

    def decoded(self, stored: Array, scales: Array, points: Array | None, name: str) -> Floats:
        """The float32 values of the constant `name`. Raises FlatBufferError for scales that do not fit."""
        shape = stored.shape
        block, counts = self._layout(shape, scales.shape, name)
        spend(4 * stored.size, f"the weights {quoted(name)}, decoded to float32,")
        real = stored.astype(np.float32)
        if points is not None:
            if points.size not in (1, scales.size):
                raise FlatBufferError(f"tensor '{name}' has {scales.size} scales and {points.size} zero points")
            spread = np.broadcast_to(points.astype(np.float32).reshape(-1), scales.size)
            real -= _spread(spread.reshape(counts), block, shape)
        real *= _spread(scales.astype(np.float32).reshape(counts), block, shape)
        return real

    def _layout(
        self, shape: tuple[int, ...], found: tuple[int, ...], name: str
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shape of a block, and how many blocks there are in each dimension."""
        rank = len(shape)
        if self.shape:
            candidates = [self.shape] if len(self.shape) == rank and min(self.shape) > 0 else []
        else:  # the last dimension is the usual one; others are told from the shape of the scales
            axes = [rank - 1, *range(rank - 1)] if self.size > 0 and rank else []
            candidates = [tuple(self.size if index == axis else 1 for index in range(rank)) for axis in axes]
        counted = [(block, _counts(shape, block)) for block in candidates]
        for block, counts in counted:
            if counts == found:
                return block, counts
        for block, counts in counted[:1]:
            if np.prod(counts, dtype=object) == np.prod(found, dtype=object):
                return block, counts
        what = f"blocks of {self.shape or self.size}"
        raise FlatBufferError(f"tensor '{name}' of the shape {shape} has scales of {found} for {what}")


def read_quantization(table: Table | None, name: str) -> Quantization | None:
    """None where nothing is quantized. Raises FlatBufferError."""
    if table is None:
        return None
    scales = table.numbers(2, "float")
    if not scales:
        return None
    points = tuple(int(point) for point in table.numbers(3, "long") or (0,) * len(scales))
    if not all(-_LARGEST_ZERO_POINT <= point <= _LARGEST_ZERO_POINT for point in points):
        raise FlatBufferError(f"tensor '{name}' has an impossible zero point")
    if len(points) == 1:
        points *= len(scales)
    if len(points) != len(scales):
        raise FlatBufferError(f"tensor '{name}' has {len(scales)} scales and {len(points)} zero points")
    return Quantization(tuple(float(scale) for scale in scales), points, int(table.scalar(6, "int")))


def read_blocks(table: Table) -> Blocks:
    shape = tuple(int(size) for size in table.numbers(3, "int") or ())
    return Blocks(int(table.scalar(0, "int")), int(table.scalar(1, "int")), int(table.scalar(2, "int")), shape)


def _counts(shape: Sequence[int], block: Sequence[int]) -> tuple[int, ...]:
    """The last block of a dimension may be shorter."""
    return tuple((size + step - 1) // step for size, step in zip(shape, block, strict=True))


def _spread(numbers: Floats, block: Sequence[int], shape: Sequence[int]) -> Floats:
    """One number per element, or 1 along dimensions that broadcast."""
    for axis, (step, size) in enumerate(zip(block, shape, strict=True)):
        if step > 1:
            numbers = np.take(numbers, np.arange(size) // step, axis=axis)
    return numbers

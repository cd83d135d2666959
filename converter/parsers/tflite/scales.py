"""Per-tensor, per-channel and per-block scales of a tensor.

Per-block scales are stored in a separate tensor; such constants are dequantized when they are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mslite.converter.memory_limit import spend
from mslite.converter.mindir.flatbuffer import FlatBufferError, Table
from mslite.converter.mindir.graph import Array
from mslite.converter.parsers.short_types import Floats
from mslite.converter.text_shortening import quoted

_LARGEST_ZERO_POINT = 1 << 16
"""Quantized integers have at most 16 bits; wider biases have the zero point 0."""


@dataclass(frozen=True)
class Quantization:
    """Quantization parameters, real = scale * (stored - zero_point): one pair, or one for each index of dimension
    `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class Blocks:
    """Per-block quantization parameters, real = scale * (stored - zero_point)."""

    scales: int
    """Index of the tensor of scales."""
    points: int
    """Index of the tensor of zero points; if not positive, the zero points are 0."""
    size: int
    """Number of elements of a block along one dimension; 0 if `shape` is set."""
    shape: tuple[int, ...]
    """Shape of a block; empty if `size` is set."""

    def decoded(self, stored: Array, scales: Array, points: Array | None, name: str) -> Floats:
        """Returns the constant `name` as float32. Raises FlatBufferError if the scales do not match."""
        shape = stored.shape
        block, counts = self._layout(shape, scales.shape, name)
        spend(4 * stored.size, f"the weights {quoted(name)}, dequantized to float32,")
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
        """Returns the shape of a block, and the number of blocks in each dimension. Raises FlatBufferError."""
        rank = len(shape)
        if self.shape:
            candidates = [self.shape] if len(self.shape) == rank and min(self.shape) > 0 else []
        else:  # usually the last dimension; others follow from the shape of the scales
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
        raise FlatBufferError(f"tensor '{name}' of shape {shape} has scales of shape {found} for {what}")


def read_quantization(table: Table | None, name: str) -> Quantization | None:
    """Reads the quantization parameters of a tensor; None if it is not quantized. Raises FlatBufferError."""
    if table is None:
        return None
    scales = table.numbers(2, "float")
    if not scales:
        return None
    points = tuple(int(point) for point in table.numbers(3, "long") or (0,) * len(scales))
    if not all(-_LARGEST_ZERO_POINT <= point <= _LARGEST_ZERO_POINT for point in points):
        raise FlatBufferError(f"tensor '{name}' has an invalid zero point")
    if len(points) == 1:
        points *= len(scales)
    if len(points) != len(scales):
        raise FlatBufferError(f"tensor '{name}' has {len(scales)} scales and {len(points)} zero points")
    return Quantization(tuple(float(scale) for scale in scales), points, int(table.scalar(6, "int")))


def read_blocks(table: Table) -> Blocks:
    shape = tuple(int(size) for size in table.numbers(3, "int") or ())
    return Blocks(int(table.scalar(0, "int")), int(table.scalar(1, "int")), int(table.scalar(2, "int")), shape)


def _counts(shape: Sequence[int], block: Sequence[int]) -> tuple[int, ...]:
    """Returns the number of blocks in each dimension; the last block may be shorter."""
    return tuple((size + step - 1) // step for size, step in zip(shape, block, strict=True))


def _spread(numbers: Floats, block: Sequence[int], shape: Sequence[int]) -> Floats:
    """Repeats per-block values for each element; dimensions with one block stay 1 and broadcast."""
    for axis, (step, size) in enumerate(zip(block, shape, strict=True)):
        if step > 1:
            numbers = np.take(numbers, np.arange(size) // step, axis=axis)
    return numbers

"""Constants with a scale for each block of elements, which lies in a tensor of its own: decoded when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mslite.converter.memory_limit import spend
from mslite.converter.mindir.flatbuffer import FlatBufferError, Table
from mslite.converter.mindir.graph import Array
from mslite.converter.quoting import quoted

from .element_types import Floats

if TYPE_CHECKING:
    from .model import SourceTensor


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

    def decoded(self, tensor: SourceTensor, stored: Array, tensors: Sequence[SourceTensor]) -> Array:
        """The float32 numbers of a constant. Raises FlatBufferError for scales that do not fit."""
        scales = _contents(tensors, self.scales, tensor.name, "scales").astype(np.float32)
        block, counts = self._layout(tensor, scales.shape)
        spend(4 * stored.size, f"the weights {quoted(tensor.name)}, decoded to float32,")
        real = stored.astype(np.float32)
        if self.points > 0:
            points = _contents(tensors, self.points, tensor.name, "zero points").astype(np.float32)
            if points.size not in (1, scales.size):
                raise FlatBufferError(f"tensor '{tensor.name}' has {scales.size} scales and {points.size} zero points")
            points = np.broadcast_to(points.reshape(-1), scales.size)
            real -= _spread(points.reshape(counts), block, tensor.shape)
        real *= _spread(scales.reshape(counts), block, tensor.shape)
        return real

    def _layout(self, tensor: SourceTensor, found: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shape of a block, and how many blocks there are in each dimension."""
        rank = len(tensor.shape)
        if self.shape:
            candidates = [self.shape] if len(self.shape) == rank and min(self.shape) > 0 else []
        else:  # the last dimension is the usual one; others are told from the shape of the scales
            axes = [rank - 1, *range(rank - 1)] if self.size > 0 and rank else []
            candidates = [tuple(self.size if index == axis else 1 for index in range(rank)) for axis in axes]
        counted = [(block, _counts(tensor.shape, block)) for block in candidates]
        for block, counts in counted:
            if counts == found:
                return block, counts
        for block, counts in counted[:1]:
            if np.prod(counts, dtype=object) == np.prod(found, dtype=object):
                return block, counts
        what = f"blocks of {self.shape or self.size}"
        raise FlatBufferError(f"tensor '{tensor.name}' of the shape {tensor.shape} has scales of {found} for {what}")


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


def _contents(tensors: Sequence[SourceTensor], index: int, name: str, what: str) -> Array:
    array = tensors[index].array() if 0 <= index < len(tensors) and tensors[index].blocks is None else None
    if array is None or array.dtype.kind not in "fiu":
        raise FlatBufferError(f"tensor '{name}' has {what} in tensor {index}, which holds no constant numbers")
    return array

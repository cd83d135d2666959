"""Scales of blockwise quantization: one for each block of elements along one dimension."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array


def block_count(size: int, block: int) -> int:
    """Returns the number of blocks in a dimension; the last one may be shorter."""
    return (size + block - 1) // block


def blocks_repeated(scales: Array, axis: int, block: int, shape: tuple[int, ...]) -> Array:
    """Expands one value per block to one per element of a tensor of this shape. Raises ValueError for wrong shapes."""
    wanted = tuple(block_count(size, block) if index == axis else size for index, size in enumerate(shape))
    if block < 1 or not shape or scales.shape != wanted:
        raise ValueError(f"scales of shape {scales.shape} in blocks of {block} do not fit {shape}")
    spread = np.repeat(scales, min(block, max(shape[axis], 1)), axis=axis)
    return np.take(spread, np.arange(shape[axis]), axis=axis)

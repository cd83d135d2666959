"""Scales of blocks of elements along one dimension."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array


def blocks_repeated(scales: Array, axis: int, block: int, shape: tuple[int, ...]) -> Array:
    """One number per element from one per block. Raises ValueError when they do not fit."""
    if scales.ndim != len(shape) or not 0 <= axis < scales.ndim:
        raise ValueError(f"scales of shape {scales.shape} do not fit {shape}")
    spread = np.repeat(scales, block, axis=axis)
    spread = np.take(spread, np.arange(shape[axis]), axis=axis) if spread.shape[axis] >= shape[axis] else spread
    if any(have not in (1, want) for have, want in zip(spread.shape, shape, strict=True)):
        raise ValueError(f"scales of shape {scales.shape} in blocks of {block} do not fit {shape}")
    return spread

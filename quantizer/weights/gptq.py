"""GPTQ: rounds the columns of a weight one after the other; later columns compensate the error of earlier ones.

With H the second moments of the input (gram.py) and U the upper Cholesky factor of its inverse, rounding column i has
the error e = (w_i - q_i) / U_ii. Subtracting e U_ij from the columns j > i minimizes the squared error (Frantar et al.,
"GPTQ:
Accurate Post-Training Quantization for Generative Pre-trained Transformers", 2022, algorithm 1).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.transforms.blocks import Floats
from mslite.quantizer.weights.per_block import Grid, grid_of
from mslite.quantizer.weights.rounding import damped

Reals = npt.NDArray[np.float64]

_BLOCK = 128
"""Columns per block. The columns after a block are corrected once per block."""


def gptq(matrix: Reals, moments: Floats, scheme: Scheme, length: int) -> tuple[Grid, Reals]:
    """Quantizes `matrix` [groups * rows, k] with one scale per block of `length` columns.

    `moments` is H [groups, k, k]. The scale of a block is computed when its first column is rounded, from the values
    corrected so far. Returns the grid and the integers.
    """
    groups, size = moments.shape[0], moments.shape[-1]
    u = _factors(damped(moments))
    w = matrix.reshape(groups, -1, size).copy()
    integers = np.zeros_like(w)
    grids: list[Grid] = []
    for begin in range(0, size, _BLOCK):
        end = min(begin + _BLOCK, size)
        errors = np.zeros((*w.shape[:2], end - begin))
        for i in range(begin, end):
            if i % length == 0:
                if begin < i < i + length and i + length > end:  # the columns with this scale continue after the block
                    w[:, :, end:] -= errors[:, :, : i - begin] @ u[:, begin:i, end:]
                    errors[:, :, : i - begin] = 0
                run = w[:, :, i : i + length].reshape(-1, length)
                grids.append(grid_of(run, length, scheme))
            column = w[:, :, i].reshape(-1, 1)
            q = grids[-1].nearest(column)
            integers[:, :, i] = q.reshape(groups, -1)
            error = (column - grids[-1].real(q)).reshape(groups, -1) / u[:, i, i, None]
            w[:, :, i:end] -= error[:, :, None] * u[:, i, None, i:end]
            errors[:, :, i - begin] = error
        w[:, :, end:] -= errors @ u[:, begin:end, end:]
    scales, points = (np.concatenate([getattr(grid, name) for grid in grids], axis=1) for name in ("scales", "points"))
    return Grid(scales, points, scheme), integers.reshape(matrix.shape)


def _factors(h: Floats) -> Reals:
    """Returns the upper Cholesky factor of the inverse of each H."""
    inverse = np.linalg.inv(h.astype(np.float64))
    inverse = (inverse + inverse.transpose(0, 2, 1)) / 2
    size = h.shape[-1]
    for share in (0.0, 1e-6, 1e-3, 1.0):
        try:
            added = share * np.einsum("gkk->gk", inverse).mean(axis=1)[:, None, None] * np.eye(size)
            return np.asarray(np.linalg.cholesky(inverse + added).transpose(0, 2, 1))
        except np.linalg.LinAlgError:
            continue
    return np.broadcast_to(np.eye(size), h.shape).copy()

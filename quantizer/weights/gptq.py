"""GPTQ: the columns of a weight are rounded one after the other; what one loses, the columns behind it make good.

With H the second moments of the input (gram.py) and U the upper Cholesky factor of its inverse, rounding column i with
the error e = (w_i - q_i) / U_ii lowers the columns j > i by e U_ij: the least squares answer (Frantar et al., "GPTQ:
Accurate Post-Training Quantization for Generative Pre-trained Transformers", 2022, algorithm 1).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.transforms.blocks import Floats
from mslite.quantizer.weights.groups import Grid, grid_of
from mslite.quantizer.weights.rounding import damped

Reals = npt.NDArray[np.float64]

_BLOCK = 128
"""Columns whose corrections reach the columns behind them together."""


def gptq(matrix: Reals, moments: Floats, scheme: Scheme, length: int) -> tuple[Grid, Reals]:
    """Integers of `matrix` [groups * rows, k] and their grid with runs of `length`; `moments` is H [groups, k, k].

    Each run takes its scale when its first column is reached, from what the columns have become by then."""
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
                if begin < i < i + length and i + length > end:  # the run goes on behind the block
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
    """The upper Cholesky factor of each inverse."""
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

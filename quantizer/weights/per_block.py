"""Per-block scales: one scale for each group of neighboring weights of a channel.

The file has several quantization parameters per channel of the first dimension: entry channel * groups + group, for
groups of equal size. Each takes 32 bytes in the file, so groups of 4-bit weights should be large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, constant
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.passes.graph_edit import changed
from mslite.quantizer.precision.schemes import MIN_SCALE, Scheme
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.weights.weight_uses import WeightUse

Reals = npt.NDArray[np.float64]

_GROUPED = frozenset({"Conv2DFusion", "FullConnection", "MatMulFusion", "Gather"})
_MIN_SHARE = 4
"""If the length has no divisor between group_size / 4 and group_size, the channel is one group."""


def group_length(length: int, wanted: int) -> int:
    """Returns the group size: the largest divisor of `length` up to `wanted`, or `length` if that is too small or
    `wanted` is 0."""
    if wanted <= 0 or length <= wanted:
        return length
    found = next(size for size in range(wanted, 0, -1) if length % size == 0)
    return found if found * _MIN_SHARE >= wanted else length


@dataclass(frozen=True)
class Grid:
    """Scales and zero points [rows, groups] of a matrix [rows, k] with groups of equal size."""

    scales: Reals
    points: Reals
    scheme: Scheme

    def nearest(self, matrix: Reals) -> Reals:
        """Quantizes `matrix`: rounds half away from zero and clamps to the integers of the scheme."""
        steps = self._runs(matrix) / self.scales[..., None]
        q = np.sign(steps) * np.floor(np.abs(steps) + 0.5) + self.points[..., None]
        return np.asarray(np.clip(q, self.scheme.low, self.scheme.high)).reshape(matrix.shape)

    def real(self, integers: Reals) -> Reals:
        """Dequantizes integers."""
        return np.asarray((self._runs(integers) - self.points[..., None]) * self.scales[..., None]).reshape(
            integers.shape
        )

    def records(self) -> tuple[QuantParam, ...]:
        """Returns the quantization parameters of all groups, row by row."""
        dtype = int(self.scheme.dtype)
        pairs = zip(self.scales.reshape(-1).tolist(), self.points.reshape(-1).tolist(), strict=True)
        return tuple(
            QuantParam(scale=scale, zeroPoint=int(point), numBits=self.scheme.bits, dstDtype=dtype)
            for scale, point in pairs
        )

    def _runs(self, matrix: Reals) -> Reals:
        return matrix.reshape(*self.scales.shape, -1)


def grid_of(matrix: Reals, length: int, scheme: Scheme, shrink: float | Reals = 1.0) -> Grid:
    """Computes scales and zero points for groups of `length` elements.

    `shrink` multiplies the ranges; it is one factor or [rows, groups].
    """
    runs = matrix.reshape(matrix.shape[0], -1, length)
    low, high = np.minimum(runs.min(axis=2), 0.0) * shrink, np.maximum(runs.max(axis=2), 0.0) * shrink
    if scheme.symmetric:
        scales, points = np.maximum(-low, high) / max(scheme.high, 1), np.zeros_like(low)
    else:
        scales = (high - low) / (scheme.high - scheme.low)
        points = np.zeros_like(low)
    usable = np.isfinite(scales) & (scales >= MIN_SCALE)
    scales = np.where(usable, scales, 1.0)
    if not scheme.symmetric:
        points = np.clip(np.rint(scheme.low - np.where(usable, low, 0.0) / scales), scheme.low, scheme.high)
    return Grid(scales, points, scheme)


def turned(use: WeightUse) -> WeightUse:
    """Transposes a matmul's weight [k, n] to [n, k] in the graph, so that channels are the first dimension.

    Returns the changed use, or `use` if groups are not possible (shared weights, other operators).
    """
    node, value = use.node, use.value
    if use.axis == 0 or len(value.users) != 1 or not isinstance(node.op, MatMulFusion) or use.index != 1:
        return use
    if value.rank != 2 or node.op.transpose_b:
        return use
    matrix = constant(value.name, np.ascontiguousarray(value.array().T), value.format)
    node.op = changed(node.op, transpose_b=True)
    node.replace_input(value, matrix)
    return replace(use, value=matrix, axis=0)


def can_have_groups(use: WeightUse) -> bool:
    """Whether the weight can have per-block scales: channels are its first dimension, and all its users agree on
    that."""
    return use.axis == 0 and not use.is_shared and use.node.op.name in _GROUPED


def matrix_of(data: Array) -> Reals:
    """Reshapes a weight to [channels, elements] in float64."""
    return data.astype(np.float64).reshape(data.shape[0], -1)


def grouped(use: WeightUse, scheme: Scheme, wanted: int) -> StoredWeight:
    """Returns the weight rounded to nearest, with per-block scales."""
    data = use.value.array()
    matrix = matrix_of(data)
    grid = grid_of(matrix, group_length(matrix.shape[1], wanted), scheme)
    return stored_on(grid, grid.nearest(matrix), data)


def stored_on(grid: Grid, integers: Reals, data: Array) -> StoredWeight:
    """Returns integers of a grid as a weight with the shape of `data`."""
    kind = np.int16 if grid.scheme.bits > 8 else np.int8
    return StoredWeight(integers.astype(kind).reshape(data.shape), grid.records(), 0)

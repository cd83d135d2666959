"""The mean of a product's input per channel, and the bias correction that it allows.

Rounding weights moves the mean of a result by E[(w' - w) x] = (w' - w) E[x]: that is taken from the bias. It needs
one mean per channel of the input, found in the same pass as the ranges.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Node
from mslite.quantizer.precision.operators import is_product

Reals = npt.NDArray[np.float64]


def has_means(node: Node) -> bool:
    """True for a product with constant weights."""
    return is_product(node) and node.inputs[1].data is not None and not node.inputs[0].is_constant


def _rows(node: Node, x: Array) -> Array:
    """[elements, channels] of an input; channels are what the weights multiply."""
    if node.op.name == "FullConnection":
        return x.reshape(-1, node.inputs[1].array().shape[1])
    if node.op.name == "MatMulFusion" and getattr(node.op, "transpose_a", False):
        return np.moveaxis(x, -2, -1).reshape(-1, x.shape[-2])
    return x.reshape(-1, x.shape[-1])


class ChannelMeans:
    """A running mean per channel: two arrays of one number per channel."""

    def __init__(self) -> None:
        self._sums: Reals = np.zeros(0)
        self._count = 0

    def update(self, node: Node, x: Array) -> None:
        """Takes in the input of `node` for one sample."""
        rows = _rows(node, x)
        if not rows.size:
            return
        sums = rows.sum(axis=0, dtype=np.float64)
        self._sums = sums if not self._sums.size else self._sums + sums
        self._count += rows.shape[0]

    def mean(self) -> Reals | None:
        """The means, None when nothing finite was seen."""
        if not self._count or not bool(np.isfinite(self._sums).all()):
            return None
        return np.asarray(self._sums / self._count)

    def state(self) -> dict[str, Array]:
        return {"sums": self._sums, "count": np.array(self._count)}

    def restore(self, state: Mapping[str, Array]) -> None:
        if state:
            self._sums = np.asarray(state["sums"], np.float64)
            self._count = int(state["count"])


def shift_of(node: Node, error: Reals, mean: Reals) -> Reals | None:
    """(w' - w) E[x] per channel of the result; `error` is w' - w in the shape of the weight.

    Zeros around images are counted as if they had the mean of the inside. None where the shapes do not fit.
    """
    op, name = node.op, node.op.name
    if name == "Conv2DFusion":
        channels, per_group = error.shape[0], error.shape[3]
        taps = error.sum(axis=(1, 2))
        groups = mean.size // per_group
        if groups * per_group != mean.size or channels % groups:
            return None
        split = taps.reshape(groups, channels // groups, per_group)
        return np.asarray(np.einsum("gci,gi->gc", split, mean.reshape(groups, per_group))).reshape(-1)
    if name == "Conv2dTransposeFusion":
        if error.shape[0] != mean.size or getattr(op, "group", 1) not in (0, 1):
            return None
        stride = [int(size) for size in getattr(op, "stride", ()) or (1, 1)]
        return np.asarray(np.einsum("ihwo,i->o", error, mean) / max(stride[0] * stride[1], 1))
    if error.ndim != 2:
        return None
    matrix = error if name == "FullConnection" or getattr(op, "transpose_b", False) else error.T
    return np.asarray(matrix @ mean) if matrix.shape[1] == mean.size else None

"""Bias correction: the mean of each input channel of a convolution or matmul, and the correction computed from it.

Rounding weights moves the mean of an output by E[(w' - w) x] = (w' - w) E[x], which is subtracted from the bias. The
mean of each input channel is collected during calibration.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Node
from mslite.quantizer.precision.operators import is_mac_node

Reals = npt.NDArray[np.float64]


def has_channel_means(node: Node) -> bool:
    """Whether the node is a convolution or matmul with constant weights."""
    return is_mac_node(node) and node.inputs[1].data is not None and not node.inputs[0].is_constant


def _rows(node: Node, x: Array) -> Array:
    """Reshapes an input to [elements, channels]; the weights multiply the channels."""
    if node.op.name == "FullConnection":
        return x.reshape(-1, node.inputs[1].array().shape[1])
    if node.op.name == "MatMulFusion" and getattr(node.op, "transpose_a", False):
        return np.moveaxis(x, -2, -1).reshape(-1, x.shape[-2])
    return x.reshape(-1, x.shape[-1])


class ChannelMeans:
    """A running mean per channel."""

    def __init__(self) -> None:
        self._sums: Reals = np.zeros(0)
        self._count = 0

    def update(self, node: Node, x: Array) -> None:
        """Adds the input of `node` for one sample."""
        rows = _rows(node, x)
        if not rows.size:
            return
        sums = rows.sum(axis=0, dtype=np.float64)
        self._sums = sums if not self._sums.size else self._sums + sums
        self._count += rows.shape[0]

    def mean(self) -> Reals | None:
        """Returns the means; None without samples, or if a mean is not finite."""
        if not self._count or not bool(np.isfinite(self._sums).all()):
            return None
        return np.asarray(self._sums / self._count)

    def state(self) -> dict[str, Array]:
        return {"sums": self._sums, "count": np.array(self._count)}

    def restore(self, state: Mapping[str, Array]) -> None:
        if state:
            self._sums = np.asarray(state["sums"], np.float64)
            self._count = int(state["count"])


def mean_output_shift(node: Node, error: Reals, mean: Reals) -> Reals | None:
    """Returns (w' - w) E[x] for each output channel; `error` is w' - w in the shape of the weight.

    Padding around images is treated as if it had the mean of the image. Returns None if the shapes do not match.
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

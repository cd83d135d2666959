"""AWQ: weights of channels with large activations are scaled up, for finer steps. The layer before divides by the
scale.

For each layer whose input can be scaled (transforms/smooth.py), s_j = a_j^alpha is tried for alpha = 0, 0.05, ... 0.95,
with a_j the mean |x| of channel j. The alpha with the smallest output error is used (Lin et al., "AWQ: Activation-aware
Weight Quantization", 2023, eq. 4 and 5). Then ranges are clipped if that lowers the error further.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Node
from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.transforms.blocks import Floats, blocks_of, layout_of
from mslite.quantizer.transforms.equalize import scale_readers
from mslite.quantizer.transforms.smooth import Site, divide_channels
from mslite.quantizer.weights.gram import Gram
from mslite.quantizer.weights.per_block import grid_of, group_length

Reals = npt.NDArray[np.float64]

_ALPHAS = tuple(step / 20 for step in range(20))
_SHRINKS = tuple(1 - step / 20 for step in range(11))


def scale_site(site: Site, grams: Mapping[int, Gram], scheme: Scheme, wanted: int) -> Reals:
    """Scales the channels of one site in place and returns the factors. `grams` maps ids of the readers' nodes to H."""
    activation = np.mean([_activation(reader.repeats, grams[id(reader.node)]) for reader in site.readers], axis=0)
    best: tuple[float, Reals] | None = None
    for alpha in _ALPHAS:
        factors = _factors(activation, alpha)
        error = sum(
            _error(reader.node, np.tile(factors, reader.repeats), grams[id(reader.node)].moments, scheme, wanted)
            for reader in site.readers
        )
        if best is None or error < best[0]:
            best = (error, factors)
    assert best is not None
    divide_channels(site.source, best[1])
    scale_readers(site.readers, best[1])
    return best[1]


def _activation(repeats: int, gram: Gram) -> Reals:
    """Returns the mean |x| of each input channel, averaged over the pixels of a convolution's window."""
    groups, size = gram.magnitudes.shape
    channels = gram.magnitudes.reshape(groups, gram.taps, size // gram.taps).mean(axis=1).reshape(-1)
    return np.asarray(channels.reshape(repeats, -1).mean(axis=0))


def _factors(activation: Reals, alpha: float) -> Reals:
    """Returns a^alpha, centered around 1 on a logarithmic scale; 1 for channels without activations."""
    usable = np.isfinite(activation) & (activation > 0)
    factors = np.ones_like(activation)
    if usable.any():
        powers = activation[usable] ** alpha
        factors[usable] = np.clip(powers / np.sqrt(powers.max() * powers.min()), 1e-4, 1e4)
    return factors


def _error(node: Node, factors: Reals, moments: Floats, scheme: Scheme, wanted: int) -> float:
    """Returns the squared error of the outputs if the weight is scaled by `factors` and rounded."""
    layout = layout_of(node)
    assert layout is not None
    blocks = blocks_of(node, layout)
    spread = np.broadcast_to(factors.reshape(layout.groups, 1, 1, layout.channels), blocks.shape)
    matrix = (blocks * spread).reshape(layout.all_results, -1)
    grid = grid_of(matrix, group_length(matrix.shape[1], wanted), scheme)
    lost = (grid.real(grid.nearest(matrix)) - matrix) / spread.reshape(matrix.shape)
    lost = lost.reshape(layout.groups, layout.results, -1)
    return float((np.matmul(lost, moments) * lost).sum())


def range_shrink_factors(matrix: Reals, moments: Floats, scheme: Scheme, length: int) -> Reals:
    """Returns the factor by which to shrink the range of each block of `matrix`, [rows, blocks].

    `moments` is H [groups, k, k]. The error of a block is e H eT over its own elements.
    """
    groups, runs = moments.shape[0], matrix.shape[1] // length
    own = moments.reshape(groups, runs, length, runs, length)
    own = own[:, np.arange(runs), :, np.arange(runs), :]  # [runs, groups, length, length]
    shrink, least = np.ones((matrix.shape[0], runs)), np.full((matrix.shape[0], runs), np.inf)
    for share in _SHRINKS:
        grid = grid_of(matrix, length, scheme, share)
        lost = (grid.real(grid.nearest(matrix)) - matrix).reshape(groups, -1, runs, length).transpose(2, 0, 1, 3)
        error = (np.matmul(lost, own) * lost).sum(axis=3).transpose(1, 2, 0).reshape(shrink.shape)
        shrink = np.where(error < least, share, shrink)
        least = np.minimum(error, least)
    return shrink


def by_site(sites: Sequence[Site]) -> list[Node]:
    """Returns the readers of all sites, in the order of the sites."""
    return [reader.node for site in sites for reader in site.readers]

"""Methods that compute the range of an activation from its histogram.

Each returns a range within the observed one. Values outside are clipped when the tensor is quantized.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.quantizer.calibration.histogram import HALF, Histogram
from mslite.quantizer.precision.schemes import Range, Scheme

Counts = npt.NDArray[np.float64]

_KL_BINS = 2048
_KL_TARGET = 128
_KL_STEP = 8
_MSE_STEPS = 48


def _clipped(histogram: Histogram, threshold: float) -> Range:
    """Returns [-threshold, threshold], limited to the observed range."""
    return Range(max(histogram.low, -threshold), min(histogram.high, threshold))


def percentile_range(histogram: Histogram, percent: float) -> Range:
    """Returns the range with `percent` of the values. Half of the others are cut off on each side."""
    left = (100 - percent) / 200 * histogram.total
    sums = np.cumsum(histogram.counts)
    first = int(np.searchsorted(sums, left, side="right"))
    last = int(np.searchsorted(sums, histogram.total - left, side="left"))
    low, high = (first - HALF) * histogram.width, (last + 1 - HALF) * histogram.width
    low, high = max(histogram.low, min(low, 0.0)), min(histogram.high, max(high, 0.0))
    return Range(low, high)


def divergence(reference: Counts, candidate: Counts) -> float:
    """Returns the Kullback-Leibler divergence of two histograms with equal bins, over the bins used by the
    reference."""
    total, other = reference.sum(), candidate.sum()
    if not total or not other:
        return float("inf")
    used = reference > 0
    p, q = reference[used] / total, candidate[used] / other
    return float(np.sum(p * np.log(p / np.maximum(q, 1e-12))))


def _requantized(counts: Counts, target: int) -> Counts:
    """Merges `counts` into `target` bins, and distributes each sum evenly over the bins that were not empty."""
    edges = np.linspace(0, counts.size, target + 1).astype(np.int64)
    sums = np.add.reduceat(counts, edges[:-1])
    used = (counts > 0).astype(np.float64)
    filled = np.add.reduceat(used, edges[:-1])
    share = np.divide(sums, filled, out=np.zeros_like(sums), where=filled > 0)
    return np.asarray(np.repeat(share, np.diff(edges)) * used)


def _best_threshold(counts: Counts, target: int, step: int) -> int:
    """Returns the number of bins to keep, so that quantization to `target` levels has the smallest KL divergence.

    Tries every `step`-th number of bins, then those around the best.
    """
    best, kept = float("inf"), counts.size
    beyond = counts.sum() - np.cumsum(counts)

    def search(sizes: range) -> None:
        nonlocal best, kept
        for size in sizes:
            reference = counts[:size].copy()
            reference[-1] += beyond[size - 1]
            found = divergence(reference, _requantized(counts[:size], target))
            if found < best:
                best, kept = found, size

    search(range(target, counts.size + 1, step))
    search(range(max(target, kept - step + 1), min(kept + step, counts.size + 1)))
    return kept


def kl_range(histogram: Histogram, scheme: Scheme) -> Range:
    """Computes MindSpore Lite's KL range: the threshold of smallest divergence, for 2048 bins of |x| and 128 levels.

    The first bin gets the count of the second. Otherwise zeros from padding and ReLU would dominate.
    """
    largest = max(-histogram.low, histogram.high)
    counts = histogram.magnitudes().astype(np.float64)
    used = max(int(np.ceil(largest / histogram.width)), 1)
    factor = max(1, -(-used // _KL_BINS))
    padded = np.zeros(-(-used // factor) * factor)
    padded[:used] = counts[:used]
    bins = padded.reshape(-1, factor).sum(axis=1)
    width = histogram.width * factor
    if bins.size <= _KL_TARGET:
        return _clipped(histogram, largest)
    bins[0] = bins[1]
    kept = _best_threshold(bins, _KL_TARGET, _KL_STEP)
    return _clipped(histogram, largest if kept >= bins.size else (kept + 0.5) * width)


def entropy_range(histogram: Histogram, scheme: Scheme) -> Range:
    """Computes a KL range for asymmetric integers: each side of zero has its own threshold and its share of the
    levels."""
    levels = min(1 << scheme.bits, 256)
    width = histogram.width
    sides = (histogram.counts[HALF:].astype(np.float64), histogram.counts[:HALF][::-1].astype(np.float64))
    used = [int(np.flatnonzero(side)[-1]) + 1 if side.any() else 0 for side in sides]
    limits = []
    for side, size in zip(sides, used, strict=True):
        share = max(int(levels * size / max(sum(used), 1)), 1)
        bins = side[:size].copy()
        if size > 1:
            bins[0] = bins[1]
        kept = _best_threshold(bins, share, max(size // 256, 1)) if size > 2 * share else size
        limits.append(kept * width)
    return Range(max(histogram.low, -limits[1]), min(histogram.high, limits[0]))


class SquaredError:
    """Computes the mean squared error of quantization (rounding inside a range, clipping outside) for many ranges.

    Cumulative sums over the bins make the cost of a range that of two binary searches.
    """

    def __init__(self, histogram: Histogram, scheme: Scheme) -> None:
        used = np.flatnonzero(histogram.counts)
        counts = histogram.counts[used].astype(np.float64)
        self._centers = histogram.centers()[used]
        self._sums = [np.concatenate([[0.0], np.cumsum(counts * self._centers**power)]) for power in range(3)]
        self._scheme = scheme

    def of(self, lows: npt.ArrayLike, highs: npt.ArrayLike) -> Counts:
        """Returns the errors of the ranges from `lows` to `highs`, which are widened to include zero."""
        low, high = np.minimum(lows, 0.0), np.maximum(highs, 0.0)
        if self._scheme.symmetric:
            high = np.maximum(-low, high)
            low = -high
        step = (high - low) / max(self._scheme.high - self._scheme.low, 1)
        zeroth, first, second = self._sums
        begin = np.searchsorted(self._centers, low, side="left")
        end = np.searchsorted(self._centers, high, side="right")
        below = second[begin] - 2 * low * first[begin] + low * low * zeroth[begin]
        above = (
            second[-1] - second[end] - 2 * high * (first[-1] - first[end]) + high * high * (zeroth[-1] - zeroth[end])
        )
        inside = (zeroth[end] - zeroth[begin]) * step * step / 12
        return np.asarray((inside + np.maximum(below, 0) + np.maximum(above, 0)) / max(zeroth[-1], 1))


def squared_error(histogram: Histogram, found: Range, scheme: Scheme) -> float:
    """Returns the mean squared error of quantization with one range."""
    return float(SquaredError(histogram, scheme).of(found.low, found.high))


def mse_range(histogram: Histogram, scheme: Scheme) -> Range:
    """Returns the range of smallest mean squared error: shrinks both ends together, then each alone."""
    errors = SquaredError(histogram, scheme)
    best = Range(min(histogram.low, 0.0), max(histogram.high, 0.0))
    error = float(errors.of(best.low, best.high))
    shares = np.linspace(1.0, 1.0 / _MSE_STEPS, _MSE_STEPS)
    for ends in ("both", "low", "high"):
        lows = best.low * (shares if ends != "high" else np.ones_like(shares))
        highs = best.high * (shares if ends != "low" else np.ones_like(shares))
        found = errors.of(lows, highs)
        least = int(np.argmin(found))
        if found[least] < error:
            best, error = Range(float(lows[least]), float(highs[least])), float(found[least])
    return best

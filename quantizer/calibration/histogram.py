"""A histogram of float values with fixed memory: if a value is outside, the range doubles and pairs of bins merge.

The limit is always a power of two, so that the histogram does not depend on the order of the samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array

HALF = 4096
"""Bins on each side of zero. The limit is less than twice the largest value, so at least 2048 of them are in use."""

_CHUNK = 1 << 20
_MIN_EXPONENT = -140


class Histogram:
    """Counts of values in [-limit, limit), in 64 KiB."""

    def __init__(self) -> None:
        self.counts: npt.NDArray[np.int64] = np.zeros(2 * HALF, np.int64)
        self.exponent = _MIN_EXPONENT
        """limit = 2 ** exponent."""
        self.low = math.inf
        self.high = -math.inf

    @property
    def limit(self) -> float:
        return math.ldexp(1.0, self.exponent)

    @property
    def width(self) -> float:
        """Width of one bin."""
        return self.limit / HALF

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def add(self, values: Array) -> None:
        """Adds the finite values of an array."""
        flat = values.reshape(-1)
        for begin in range(0, flat.size, _CHUNK):
            part = flat[begin : begin + _CHUNK].astype(np.float64)
            low, high = (float(part.min()), float(part.max()))
            if not (math.isfinite(low) and math.isfinite(high)):
                part = part[np.isfinite(part)]
                if not part.size:
                    continue
                low, high = (float(part.min()), float(part.max()))
            self.low, self.high = min(self.low, low), max(self.high, high)
            self._reach(max(-low, high))
            places = np.floor(part * (HALF / self.limit)).astype(np.int64) + HALF
            np.clip(places, 0, 2 * HALF - 1, out=places)
            self.counts += np.bincount(places, minlength=2 * HALF)

    def _reach(self, magnitude: float) -> None:
        if magnitude > 0:
            self._widen(math.frexp(magnitude)[1])

    def _widen(self, exponent: int) -> None:
        """Raises the limit to at least 2 ** exponent. Pairs of bins merge, starting at zero, on both sides."""
        doublings = exponent - self.exponent
        if doublings <= 0:
            return
        self.exponent = exponent
        if not self.counts.any():
            return
        factor = 1 << min(doublings, HALF.bit_length())
        counts = np.zeros_like(self.counts)
        if factor > HALF:
            counts[HALF - 1], counts[HALF] = self.counts[:HALF].sum(), self.counts[HALF:].sum()
        else:
            half = HALF // factor
            counts[HALF - half : HALF] = self.counts[:HALF].reshape(half, factor).sum(axis=1)
            counts[HALF : HALF + half] = self.counts[HALF:].reshape(half, factor).sum(axis=1)
        self.counts = counts

    def merge(self, other: Histogram) -> None:
        """Adds the counts of another histogram."""
        wide = Histogram()
        wide.restore(other.state())
        exponent = max(self.exponent, wide.exponent)
        for histogram in (self, wide):
            histogram._widen(exponent)
        self.counts = self.counts + wide.counts
        self.low, self.high = min(self.low, wide.low), max(self.high, wide.high)

    def magnitudes(self) -> npt.NDArray[np.int64]:
        """Returns counts of |x| in `HALF` bins over [0, limit)."""
        return np.asarray(self.counts[HALF:] + self.counts[:HALF][::-1])

    def centers(self) -> npt.NDArray[np.float64]:
        """Returns the center of each bin."""
        return np.asarray((np.arange(2 * HALF) - HALF + 0.5) * self.width)

    def state(self) -> dict[str, Array]:
        return {"counts": self.counts, "limits": np.array([self.exponent, self.low, self.high], np.float64)}

    def restore(self, state: Mapping[str, Array]) -> None:
        self.counts = np.array(state["counts"], np.int64)
        exponent, self.low, self.high = (float(number) for number in state["limits"])
        self.exponent = int(exponent)

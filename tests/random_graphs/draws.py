"""Random draws other than operators: choices, shapes, values, names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from .chance import Chance
from .evaluate import Rejected
from .values import Array

_T = TypeVar("_T")
DIMENSIONS = (1, 2, 3, 4, 5, 1, 2, 3, 4, 6, 7, 8, 9, 13, 16, 17)
_NAMES = ("{0}{1}", "{0}{1}", "{1}", "/{0}/block.{1}/out:0", "onnx::{0}_{1}", "{0} {1}", "%{0}\"{1}'\\", "größe {1}{0}")
"""Styles of names: by people, by exporters, and any others that are allowed."""


class Draws:
    """Draws from `chance`, so that hypothesis can shrink the draws."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._names = 0
        self._style = self.choose(_NAMES)

    def choose(self, options: Sequence[_T]) -> _T:
        """Returns one of them; the first is the simplest."""
        if not options:
            raise Rejected("nothing to choose from")
        return self._chance.choose(options)

    def integer(self, low: int, high: int) -> int:
        if low > high:
            raise Rejected("no integer to draw")
        return self._chance.integer(low, high)

    def dtype(self, options: Sequence[str]) -> str:
        """Returns one of them, usually float32 if it is among them."""
        return self.choose(options) if "float32" not in options or self.maybe(3) else "float32"

    def permutation(self, length: int) -> list[int]:
        return self._chance.permutation(length)

    def maybe(self, one_in: int = 2) -> bool:
        """Returns True with the probability 1 / n."""
        return self.integer(0, one_in - 1) == one_in - 1

    def subset(self, items: Sequence[_T], least: int = 0) -> list[_T]:
        chosen = [item for item in items if self.maybe()]
        return chosen if len(chosen) >= least else list(items)[:least]

    def shape(self, rank: int | None = None, low: int = 0, high: int = 5) -> tuple[int, ...]:
        """Returns sizes of 1 to 17 with a few hundred elements in total, rarely with a 0."""
        rank = self.integer(low, high) if rank is None else rank
        sizes, room = [], 600
        for _ in range(rank):
            size = min(self.choose(DIMENSIONS), max(1, room))
            room //= size
            sizes.append(size)
        if rank and self.maybe(60):
            sizes[self.integer(0, rank - 1)] = 0
        return tuple(sizes)

    def data(self, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None) -> Array:
        """Returns a value between the bounds, which are included for integers."""
        rng = np.random.default_rng(self.integer(0, 10_000))
        return random_array(rng, dtype, shape, low, high)

    def name(self, prefix: str) -> str:
        """Returns a unique name."""
        self._names += 1
        return self._style.format(prefix, self._names)


def random_array(
    rng: np.random.Generator, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None
) -> Array:
    """Returns uniform values of a data type; without bounds small ones around 0, a few of them 0 or whole numbers."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(rng.integers(0, 2, shape), bool)
    if kind in "iu":
        least = low if low is not None else (0 if kind == "u" else -8)
        numbers = np.asarray(rng.integers(int(least), int(9 if high is None else high) + 1, shape), dtype)
        wide = dtype == "int64" and low is None and rng.random() < 0.1  # some are out of range for int32
        return numbers * np.int64(2**33 + 1) if wide else numbers
    values = rng.uniform(-2 if low is None else low, 2 if high is None else high, shape)
    if low is None:
        values = np.where(rng.random(shape) < 0.1, np.round(values), values)
    return np.asarray(values, dtype)

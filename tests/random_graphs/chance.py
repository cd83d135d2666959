"""Sources of random choices: hypothesis, which can shrink them, or a plain generator, which is faster."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

_T = TypeVar("_T")


class Chance(Protocol):
    """Draws of the generator. Simple choices come first, so that shrinking leads to them."""

    def choose(self, options: Sequence[_T]) -> _T: ...

    def integer(self, low: int, high: int) -> int: ...

    def permutation(self, length: int) -> list[int]: ...

    def several(self, options: Sequence[_T], most: int) -> list[_T]: ...


class Hypothesis:
    """Draws from a hypothesis test."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def choose(self, options: Sequence[_T]) -> _T:
        chosen: _T = self._draw(st.sampled_from(options))
        return chosen

    def integer(self, low: int, high: int) -> int:
        number: int = self._draw(st.integers(low, high))
        return number

    def permutation(self, length: int) -> list[int]:
        order: list[int] = self._draw(st.permutations(range(length)))
        return order

    def several(self, options: Sequence[_T], most: int) -> list[_T]:
        chosen: list[_T] = self._draw(st.lists(st.sampled_from(options), min_size=1, max_size=most))
        return chosen


class Seeded:
    """Draws determined by a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, options: Sequence[_T]) -> _T:
        return self._random.choice(options)

    def integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def permutation(self, length: int) -> list[int]:
        return self._random.sample(range(length), length)

    def several(self, options: Sequence[_T], most: int) -> list[_T]:
        return self._random.choices(options, k=self._random.randint(1, most))

"""What every front end needs: names taken once (and the exception of a node that cannot be expressed)."""

from __future__ import annotations

from mslite.converter.errors import Blocked as Blocked
from mslite.converter.errors import NotKnown as NotKnown

OR_PLUGIN = "or register a parser for it in a plug-in (docs/extending.md)"
"""Ends the remedy for an operator that is not known."""


class Names:
    """A set of names in which every name is taken once."""

    def __init__(self) -> None:
        self._taken: dict[str, None] = {}
        self._numbers: dict[str, int] = {}

    def reserve(self, *names: str) -> None:
        """Takes names that the source gives, even twice."""
        self._taken.update(dict.fromkeys(names))

    def unique(self, wish: str) -> str:
        """`wish`, or `wish_1`, `wish_2`, ... when it is taken."""
        name = wish
        while name in self._taken:
            self._numbers[wish] = self._numbers.get(wish, 0) + 1
            name = f"{wish}_{self._numbers[wish]}"
        self._taken[name] = None
        return name

    def mark(self) -> int:
        """A moment to which `release` goes back."""
        return len(self._taken)

    def release(self, mark: int) -> None:
        """Gives back the names that were taken since `mark`."""
        while len(self._taken) > mark:
            self._taken.popitem()
        self._numbers.clear()

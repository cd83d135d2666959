"""Unique names for nodes and values, and the exceptions for unsupported nodes, for all parsers."""

from __future__ import annotations

from mslite.converter.errors import Blocked as Blocked
from mslite.converter.errors import UnknownInput as UnknownInput

OR_PLUGIN = "or register a parser for it in a plug-in (docs/extending.md)"
"""End of the remedy for an unknown operator."""


class Names:
    """A set of unique names."""

    def __init__(self) -> None:
        self._taken: dict[str, None] = {}
        self._numbers: dict[str, int] = {}

    def reserve(self, *names: str) -> None:
        """Adds names of the source, which may be duplicates."""
        self._taken.update(dict.fromkeys(names))

    def unique(self, wish: str) -> str:
        """Returns `wish`, or `wish_1`, `wish_2`, ... if it is taken."""
        name = wish
        while name in self._taken:
            self._numbers[wish] = self._numbers.get(wish, 0) + 1
            name = f"{wish}_{self._numbers[wish]}"
        self._taken[name] = None
        return name

    def mark(self) -> int:
        """Returns a state for `release`."""
        return len(self._taken)

    def release(self, mark: int) -> None:
        """Removes the names that were added since `mark`."""
        while len(self._taken) > mark:
            self._taken.popitem()
        self._numbers.clear()

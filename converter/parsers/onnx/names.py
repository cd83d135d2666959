"""What all graphs of one conversion share: names, symbols, blockers."""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph

from .model import SourceModel


class Names:
    """A set of names in which every name is taken once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def reserve(self, *names: str) -> None:
        """Takes names that the source gives, even twice."""
        self._taken.update(names)

    def unique(self, wish: str) -> str:
        """`wish`, or `wish_1`, `wish_2`, ... when it is taken."""
        name = wish
        while name in self._taken:
            number = self._next.get(wish, 0) + 1
            self._next[wish] = number
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name


@dataclass
class Session:
    """One conversion."""

    model: SourceModel
    graphs: list[Graph] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)
    nodes: Names = field(default_factory=Names)
    values: Names = field(default_factory=Names)
    _symbols: dict[str, int] = field(default_factory=dict)
    _symbol_count: int = 0

    def symbol(self, name: str) -> int:
        """The dimension that stands for an unknown size; one per name, a new one for the empty name."""
        if name in self._symbols:
            return self._symbols[name]
        symbol = SYMBOL_LIMIT - self._symbol_count
        self._symbol_count += 1
        if name:
            self._symbols[name] = symbol
        return symbol

"""State that all graphs of one conversion share: names, symbols, blockers."""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph
from mslite.converter.parsers.emitted_types import Inference
from mslite.converter.parsers.naming import Names

from .model import SourceModel


@dataclass
class Session:
    """The state of one conversion."""

    model: SourceModel
    inference: Inference | None = None
    """Infers the types of nodes that plug-ins emit."""
    trains: bool = False
    """Whether the model is converted for training, so that training-only behavior is kept."""
    graphs: list[Graph] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)
    nodes: Names = field(default_factory=Names)
    values: Names = field(default_factory=Names)
    has_told: bool = False
    """Whether types became known since the last type inference of the whole model."""
    _symbols: dict[str, int] = field(default_factory=dict)
    _symbol_count: int = 0

    def symbol(self, name: str) -> int:
        """Returns the negative number for a symbolic dimension: one per name, a new one for an empty name."""
        if name in self._symbols:
            return self._symbols[name]
        symbol = SYMBOL_LIMIT - self._symbol_count
        self._symbol_count += 1
        if name:
            self._symbols[name] = symbol
        return symbol

"""What all graphs of one conversion share: names, symbols, blockers."""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph
from mslite.converter.parsers.emitted import Inference
from mslite.converter.parsers.naming import Names

from .model import SourceModel


@dataclass
class Session:
    """One conversion."""

    model: SourceModel
    inference: Inference | None = None
    """Tells the types of what plug-ins emit."""
    trains: bool = False
    """Whether the result is trained: what the source does in training is done then, and not in inference."""
    graphs: list[Graph] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)
    nodes: Names = field(default_factory=Names)
    values: Names = field(default_factory=Names)
    has_told: bool = False
    """Whether something was told of values since types were inferred of the whole model."""
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

"""What all graphs of one conversion share."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from mslite.converter.errors import Blocker
from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Array, Graph, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.naming import Names

from .model import SourceGraph, SourceModel, SourceOperator

_MAX_GRAPHS = 256
_MAX_CALLS = 4096

_MADE_FOR_SIZES = frozenset({"DILATE", "MATRIX_SET_DIAG", "MULTINOMIAL", "REDUCE_WINDOW"})
"""Operators that become nodes whose constants or attributes follow from the sizes of their operands."""


@dataclass
class Session:
    """What all graphs of one conversion share."""

    model: SourceModel
    graphs: list[Graph] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)
    nodes: Names = field(default_factory=Names)
    values: Names = field(default_factory=Names)
    handles: dict[int, str] = field(default_factory=dict)
    """the variables by the identity of their handles"""
    kept: list[Value] = field(default_factory=list)
    """the handles: they stay, so that their identities do"""
    initial: dict[str, Array] = field(default_factory=dict)
    """what CALL_ONCE gives to variables"""
    starts: dict[str, tuple[Array, DataType]] = field(default_factory=dict)
    """what variables are before the first run, and their element types"""
    stated_sizes: dict[int, int] = field(default_factory=dict)
    """by symbol: what the file states for a size that may change"""
    is_initializing: bool = False
    """inside of CALL_ONCE"""
    _assigned: set[str | None] | None = None
    _symbol: int = SYMBOL_LIMIT
    _calls: int = 0

    def symbol(self) -> int:
        """A size that nothing else is known to equal."""
        self._symbol -= 1
        return self._symbol + 1

    def makes_constants_of_sizes(self) -> bool:
        """Whether a graph has operators whose sizes become constants: those of StableHLO, which say all sizes, and a few others."""
        names = (node.name for graph in self.model.graphs for node in graph.operators)
        return any(name.startswith("STABLEHLO_") or name in _MADE_FOR_SIZES for name in names)

    def is_assigned(self, handle: str) -> bool:
        """Whether any graph of the file assigns the variable that VAR_HANDLE calls so; True where that cannot be told."""
        if self._assigned is None:
            self._assigned = {name for graph in self.model.graphs for name in _assigned(graph)}
        return handle in self._assigned or None in self._assigned

    def enter(self, number: int, callers: Collection[int]) -> None:
        """Allows one more graph, called from `callers`. Raises FlatBufferError when graphs call each other without end."""
        self.check_call(number, callers)
        if len(self.graphs) >= _MAX_GRAPHS:
            raise FlatBufferError(f"its graphs call each other more than {_MAX_GRAPHS} times")

    def check_call(self, number: int, callers: Collection[int]) -> None:
        """Raises FlatBufferError when a graph would call itself, or when calls without end are likely."""
        self._calls += 1
        if number in callers:
            raise FlatBufferError(f"graph {number} calls itself")
        if self._calls > _MAX_CALLS:
            raise FlatBufferError(f"its graphs call each other more than {_MAX_CALLS} times")


def variable_name(handle: SourceOperator) -> str:
    """What a VAR_HANDLE calls its variable; "" for a name that is its own."""
    return "/".join(part for part in (handle.options.text("container"), handle.options.text("shared_name")) if part)


def _assigned(graph: SourceGraph) -> Iterator[str | None]:
    """The variables that a graph assigns, None for one that has no name of its own here."""
    handles = {
        index: variable_name(node) for node in graph.operators if node.name == "VAR_HANDLE" for index in node.outputs
    }
    for node in graph.operators:
        if node.name == "ASSIGN_VARIABLE" and node.inputs:
            yield handles.get(node.inputs[0]) or None

"""State that all graphs of one conversion share."""

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
"""Operators that are converted to nodes with constants or attributes computed from operand sizes."""


@dataclass
class Session:
    """State that all graphs of one conversion share."""

    model: SourceModel
    graphs: list[Graph] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)
    nodes: Names = field(default_factory=Names)
    values: Names = field(default_factory=Names)
    handles: dict[int, str] = field(default_factory=dict)
    """Identity of a handle -> name of its variable."""
    kept: list[Value] = field(default_factory=list)
    """All handles, kept alive so that their identities stay unique."""
    initial: dict[str, Array] = field(default_factory=dict)
    """Name of a variable -> its value from CALL_ONCE."""
    starts: dict[str, tuple[Array, DataType]] = field(default_factory=dict)
    """Name of a variable -> its value before the first run, and its data type."""
    declared_sizes: dict[int, int] = field(default_factory=dict)
    """Symbol of a dynamic size -> the size in the file."""
    is_initializing: bool = False
    """Whether the subgraph of a CALL_ONCE is being imported."""
    _assigned: set[str | None] | None = None
    _symbol: int = SYMBOL_LIMIT
    _calls: int = 0

    def symbol(self) -> int:
        """Returns a new symbol for a dynamic size."""
        self._symbol -= 1
        return self._symbol + 1

    def has_size_dependent_operators(self) -> bool:
        """Returns whether a graph has operators with sizes that become constants: those of StableHLO, and a few
        others."""
        names = (node.name for graph in self.model.graphs for node in graph.operators)
        return any(name.startswith("STABLEHLO_") or name in _MADE_FOR_SIZES for name in names)

    def is_assigned(self, handle: str) -> bool:
        """Returns whether any graph assigns the variable with this name; True if unknown."""
        if self._assigned is None:
            self._assigned = {name for graph in self.model.graphs for name in _assigned(graph)}
        return handle in self._assigned or None in self._assigned

    def enter(self, number: int, callers: Collection[int]) -> None:
        """Checks the call of a subgraph from `callers`. Raises FlatBufferError for recursive or too many calls."""
        self.check_call(number, callers)
        if len(self.graphs) >= _MAX_GRAPHS:
            raise FlatBufferError(f"its graphs call each other more than {_MAX_GRAPHS} times")

    def check_call(self, number: int, callers: Collection[int]) -> None:
        """Raises FlatBufferError if a graph would call itself, or if there are too many calls."""
        self._calls += 1
        if number in callers:
            raise FlatBufferError(f"graph {number} calls itself")
        if self._calls > _MAX_CALLS:
            raise FlatBufferError(f"its graphs call each other more than {_MAX_CALLS} times")


def variable_name(handle: SourceOperator) -> str:
    """Returns the name of the variable of a VAR_HANDLE; "" if it has none."""
    return "/".join(part for part in (handle.options.text("container"), handle.options.text("shared_name")) if part)


def _assigned(graph: SourceGraph) -> Iterator[str | None]:
    """Yields the names of the variables that a graph assigns; None for an unknown variable."""
    handles = {
        index: variable_name(node) for node in graph.operators if node.name == "VAR_HANDLE" for index in node.outputs
    }
    for node in graph.operators:
        if node.name == "ASSIGN_VARIABLE" and node.inputs:
            yield handles.get(node.inputs[0]) or None

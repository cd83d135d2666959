"""Imports the outputs of a graph."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Cast

from .entries import Entry, Failed, Immediate, Order, UnsupportedResult, flattened
from .exceptions import Blocked
from .scope import Scope


def import_outputs(scope: Scope) -> None:
    """Sets the outputs of the graph, with tuples flattened. An output that is not a tensor is a blocker."""
    names = [info.name for info in scope.proto.output]
    for entry in flattened(_output_entries(scope, names)):
        if isinstance(entry, Value):
            scope.graph.outputs.append(entry)
        elif isinstance(entry, Immediate) and entry.contents is not None:
            try:
                scope.graph.outputs.append(scope.from_contents(entry.contents, "output"))
            except Blocked as blocked:
                scope.block(scope.graph_name, "graph", f"one of its outputs {blocked.reason}")
        elif isinstance(entry, UnsupportedResult):
            scope.block(scope.graph_name, "graph", entry.reason, "Remove it from the return values of construct")
        elif not isinstance(entry, Order | Failed):
            scope.block(scope.graph_name, "graph", "one of its outputs is not a tensor")
    _separate_outputs(scope)


def _output_entries(scope: Scope, names: list[str]) -> list[Entry]:
    entries = []
    for name in names:
        try:
            entry = scope.lookup(name)
            scope.overwritten.check([entry])
            entries.append(entry)
        except Blocked as blocked:
            scope.block(name, "graph", blocked.reason, blocked.remedy)
    return entries


def _separate_outputs(scope: Scope) -> None:
    """Copies outputs that occur more than once, so that each output is a separate tensor."""
    seen: set[int] = set()
    for position, value in enumerate(scope.graph.outputs):
        dtype = scope.type_of(value)
        if id(value) in seen and dtype is not DataType.UNKNOWN:
            kind = scope.constant(np.asarray(int(dtype), np.int32), value.name)
            scope.graph.outputs[position] = scope.emit(Cast(), (value, kind), 1)[0]
        seen.add(id(value))

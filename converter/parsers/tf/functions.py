"""Functions of the model's library: inlined, or converted to subgraphs."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Graph, Shape, Value

from .call import Call
from .importer import GraphImporter
from .model import ARGUMENT, SourceGraph
from .registry import CALL_BY_NAME, tf_operator
from .session import UpstreamFailed
from .topological_order import needed

PASSING = frozenset({"Identity", "StopGradient", "PreventGradient", "Snapshot", "EnsureShape"})
"""Operators that return their input."""


def check_count(call: Call, function: SourceGraph, arguments: int, results: int | None = None) -> None:
    """Raises Blocked if a function has another number of arguments or results."""
    if len(function.arguments) != arguments or (results is not None and len(function.results) != results):
        raise call.block(
            f"the function '{function.name}' has {len(function.arguments)} arguments and {len(function.results)} results,"
            f" not {arguments} and {results if results is not None else 'any'}"
        )


def inline(call: Call, function: SourceGraph, arguments: Sequence[Value]) -> list[Value]:
    """Imports a function into the caller's graph; returns its results. Raises Blocked."""
    check_count(call, function, len(arguments))
    outer = call.scope
    inner = GraphImporter(outer.session, function, outer.graph, f"{call.name}/", outer.depth + 1)
    return whole(inner.run(function.results, arguments))


def whole(results: Sequence[Value | None]) -> list[Value]:
    """Returns all results. Raises UpstreamFailed if one is missing because of a blocker that is already reported."""
    values = [value for value in results if value is not None]
    if len(values) != len(results):
        raise UpstreamFailed
    return values


def argument_of(function: SourceGraph, result: int) -> int | None:
    """Returns the index of the argument that a result returns unchanged; None if it is computed."""
    ref, seen = function.results[result], set()
    while ref.node not in seen:
        seen.add(ref.node)
        node = function.nodes[ref.node]
        if node.operator == ARGUMENT:
            return function.arguments.index(node.name)
        if node.operator not in PASSING or not node.inputs:
            return None
        ref = node.inputs[0]
    return None


class FunctionGraph:
    """A function as a subgraph. Arguments that are constant at the call become constants inside."""

    def __init__(self, call: Call, function: SourceGraph, arguments: Sequence[Value], keep_all: bool = False) -> None:
        """Creates the subgraph and its inputs; with `keep_all`, also inputs for unused arguments."""
        self.function = function
        session = call.scope.session
        self.graph: Graph
        self.graph, self.index = session.new_graph(function.name)
        self.importer = GraphImporter(session, function, self.graph, f"{call.name}/", call.scope.depth + 1)
        used = needed(function, function.results)
        self.outer: list[Value] = []
        """Values that PartialFusion binds, one for each input of the subgraph."""
        self._inner: list[Value] = []
        for name, value in zip(function.arguments, arguments, strict=True):
            if value.is_constant:
                self._inner.append(value)
                continue
            inside = Value(
                session.values.unique(f"{function.name}/{name}"), value.dtype, value.shape, format=value.format
            )
            self._inner.append(inside)
            if keep_all or name in used:
                self.outer.append(value)
                self.graph.inputs.append(inside)

    def run(self) -> list[Value]:
        """Imports the function; its results become the graph's outputs. Raises UpstreamFailed."""
        self.graph.outputs[:] = whole(self.importer.run(self.function.results, self._inner))
        return self.graph.outputs


def merged_shape(call: Call, shapes: Sequence[Shape | None]) -> Shape | None:
    """Returns a shape that is valid for all shapes: sizes that differ become symbols; None if ranks differ."""
    first = shapes[0]
    if first is None or any(shape is None or len(shape) != len(first) for shape in shapes):
        return None
    columns = zip(*(shape for shape in shapes if shape is not None), strict=True)
    new_symbol = call.scope.session.inference.new_symbol
    return tuple(sizes[0] if len(set(sizes)) == 1 else new_symbol() for sizes in columns)


@tf_operator("PartitionedCall", "StatefulPartitionedCall", "RemoteCall")
def call_function(call: Call) -> list[Value]:
    first = 1 if call.operator == "RemoteCall" else 0
    return inline(call, call.function(call.function_name("f")), call.inputs(first))


@tf_operator(CALL_BY_NAME)
def call_by_name(call: Call) -> list[Value]:
    return inline(call, call.function(call.operator), call.inputs())


@tf_operator("SymbolicGradient")
def gradient(call: Call) -> Value:
    raise call.block("gradients are unsupported", "Export the model for inference")

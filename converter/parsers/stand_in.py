"""What a front end leaves in the graph where it has no operator for a node: reports draw it."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.custom import Custom

STAND_IN = "mslite.StandIn:"
"""Begins the type of such a Custom node; the foreign operator follows."""


def stand_in(graph: Graph, operator: str, name: str, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
    """Appends a node for a foreign one that cannot be converted. The conversion has failed then, and goes on for its report.

    Values that have a producer already keep it.
    """
    own = tuple(value for value in outputs if value.producer is None)
    graph.nodes.append(Node(Custom(type=STAND_IN + operator), name, tuple(inputs), own, source=f"{operator} '{name}'"))


def blocked(name: str, blockers: Sequence[Blocker], module: Module, noun: str = "node") -> ConversionError:
    """The error of a model with blocking nodes; `module` is what became of it, with stand-ins."""
    counted = f"1 {noun} stands" if len(blockers) == 1 else f"{len(blockers)} {noun}s stand"
    message = f"{name}: {counted} in the way of the conversion:"
    return ConversionError(message, blockers, ReturnCode.NOT_FIND_OP, module)

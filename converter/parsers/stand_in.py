"""What a front end leaves in the graph where it has no operator for a node: reports draw it."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.stand_in import STAND_IN


def stand_in(graph: Graph, operator: str, name: str, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
    """Appends a node for a foreign one that cannot be converted. The conversion has failed then, and goes on for its report.

    Values that have a producer already keep it.
    """
    own = tuple(value for value in outputs if value.producer is None)
    graph.nodes.append(Node(Custom(type=STAND_IN + operator), name, tuple(inputs), own, source=f"{operator} '{name}'"))


def blocked(name: str, blockers: Sequence[Blocker], module: Module, noun: str = "node") -> ConversionError:
    """The error of a model with blocking nodes; `module` is what became of it, with stand-ins."""
    return ConversionError(in_the_way(name, len(blockers), noun), blockers, ReturnCode.NOT_FIND_OP, module)


def in_the_way(name: str, count: int, noun: str = "node") -> str:
    """The headline of a list of blocking nodes of a file."""
    counted = f"1 {noun} prevents" if count == 1 else f"{count} {noun}s prevent"
    return f"{name}: {counted} the conversion:"

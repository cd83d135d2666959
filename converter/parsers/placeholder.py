"""Placeholder nodes for unsupported source nodes, for reports."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.stand_in import STAND_IN


def stand_in(graph: Graph, operator: str, name: str, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
    """Adds a placeholder for an unsupported source node. The conversion has failed, but continues for the report.

    Values with a producer keep it.
    """
    own = tuple(value for value in outputs if value.producer is None)
    graph.nodes.append(Node(Custom(type=STAND_IN + operator), name, tuple(inputs), own, source=f"{operator} '{name}'"))


def blocked(name: str, blockers: Sequence[Blocker], module: Module, noun: str = "node") -> ConversionError:
    """Returns the error for a model with unsupported nodes; `module`: the partly converted model, with placeholders."""
    return ConversionError(unsupported_headline(name, len(blockers), noun), blockers, ReturnCode.NOT_FIND_OP, module)


def unsupported_headline(name: str, count: int, noun: str = "node") -> str:
    """Returns the first line of a list of unsupported nodes in a file."""
    counted = f"1 {noun} prevents" if count == 1 else f"{count} {noun}s prevent"
    return f"{name}: {counted} the conversion:"

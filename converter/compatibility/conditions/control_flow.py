"""Conditions of calls of subgraphs."""

from __future__ import annotations

from mslite.converter.compatibility.conditions._declare import condition
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.enums import DataType


@condition("Call", until=Version.V1_5)
def unsafe_call(node: Node, kind: DataType, version: Version) -> str | None:
    """Observed in 1.3 and 1.5: nodes after a call get no inputs, a branch never ends, and a loop crashes."""
    if any(value.users for value in node.outputs):
        return "does not run nodes after a call of a subgraph"
    return "does not return from branches and loops"

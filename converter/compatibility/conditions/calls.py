"""Calls of subgraphs."""

from __future__ import annotations

from mslite.converter.compatibility.conditions._declare import condition
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.enums import DataType


@condition("Call", until=Version.V1_5)
def unsafe_call(node: Node, kind: DataType, version: Version) -> str | None:
    """Seen by running 1.3 and 1.5: what stands behind a call is never fed; a branch waits for ever, and a loop ends the process."""
    if any(value.users for value in node.outputs):
        return "runs nothing behind a call of a subgraph"
    return "does not come back from branches and loops"

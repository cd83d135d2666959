"""Stand-ins for unsupported nodes, in the module of a failed conversion, for reports."""

from __future__ import annotations

from .graph import Node
from .ops.custom import Custom

STAND_IN = "mslite.StandIn:"
"""Prefix of the type of such a Custom node; the source operator follows."""


def is_stand_in(node: Node) -> bool:
    return isinstance(node.op, Custom) and (node.op.type or "").startswith(STAND_IN)


def shown_operator(node: Node) -> str:
    """Returns the operator for a report: the source operator of a stand-in, the type of other Custom nodes."""
    if not isinstance(node.op, Custom):
        return node.op.name
    kind = node.op.type or ""
    return kind.removeprefix(STAND_IN) if is_stand_in(node) else f"Custom {kind}"

"""Nodes that stand where a front end had no operator: failed conversions only have them, and their reports draw them."""

from __future__ import annotations

from .graph import Node
from .ops.custom import Custom

STAND_IN = "mslite.StandIn:"
"""Begins the type of such a Custom node; the source operator follows."""


def is_stand_in(node: Node) -> bool:
    return isinstance(node.op, Custom) and (node.op.type or "").startswith(STAND_IN)


def shown_operator(node: Node) -> str:
    """The operator as a report names it: the foreign one, where the node is a stand-in; Custom nodes with their type."""
    if not isinstance(node.op, Custom):
        return node.op.name
    kind = node.op.type or ""
    return kind.removeprefix(STAND_IN) if is_stand_in(node) else f"Custom {kind}"

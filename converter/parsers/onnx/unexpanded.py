"""Why operators outside of the standard were not written out in standard nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from onnx import NodeProto

from mslite.converter.parsers.naming import Blocked


@dataclass
class Unexpanded:
    """Why nodes stay as they are, by the name of their first output."""

    refused: dict[str, Blocked] = field(default_factory=dict)
    waiting: dict[str, Blocked] = field(default_factory=dict)
    """Nodes that need types which nothing has told yet."""

    def is_open(self, node: NodeProto) -> bool:
        """Whether it is worth trying this node (again)."""
        return node_key(node) not in self.refused

    def reason(self, node: NodeProto) -> Blocked | None:
        """Why this node could not be expanded; None when it was not tried."""
        key = node_key(node)
        return self.refused.get(key) or self.waiting.get(key)


def node_key(node: NodeProto) -> str:
    return next(filter(None, node.output), node.name)

"""The reasons why nonstandard operators could not be expanded into standard ones."""

from __future__ import annotations

from dataclasses import dataclass, field

from onnx import NodeProto

from mslite.converter.parsers.naming import Blocked


@dataclass
class Unexpanded:
    """The reasons, by the name of the node's first output."""

    refused: dict[str, Blocked] = field(default_factory=dict)
    waiting: dict[str, Blocked] = field(default_factory=dict)
    """Nodes whose expansion needs types that are not known yet."""

    def is_open(self, node: NodeProto) -> bool:
        """Returns whether the node may still be expanded."""
        return node_key(node) not in self.refused

    def reason(self, node: NodeProto) -> Blocked | None:
        """Returns why this node was not expanded; None if no expansion was tried."""
        key = node_key(node)
        return self.refused.get(key) or self.waiting.get(key)


def node_key(node: NodeProto) -> str:
    return next(filter(None, node.output), node.name)

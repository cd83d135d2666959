"""How a converter says that it cannot express a node."""

from __future__ import annotations


class Blocked(Exception):
    """Raised by a converter for a node that it cannot express."""

    def __init__(self, reason: str, remedy: str, attribute: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
        self.attribute = attribute


class Dependent(Exception):
    """The node reads the result of one that already stands in the way."""

"""What the variables of a graph hold while it is imported."""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.converter.mindir.graph import Value


@dataclass
class GraphVariables:
    """The variables of one graph while it is imported."""

    current: dict[str, Value] = field(default_factory=dict)
    """the value at this place of the graph"""
    assigned: dict[str, Value] = field(default_factory=dict)
    """the value for the next run"""
    changed_elsewhere: set[str] = field(default_factory=set)
    """variables that a graph called from here may have assigned"""

    def copy(self) -> GraphVariables:
        return GraphVariables(dict(self.current), dict(self.assigned), set(self.changed_elsewhere))

    def restore(self, before: GraphVariables) -> None:
        """Back to a copy: what was emitted since is given up."""
        self.current, self.assigned = before.current, before.assigned
        self.changed_elsewhere = before.changed_elsewhere

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
    """the value when the graph is left"""
    entered: dict[str, Value] = field(default_factory=dict)
    """of a graph that is called: the inputs, behind those of the source graph, that hold variables"""

    def copy(self) -> GraphVariables:
        return GraphVariables(dict(self.current), dict(self.assigned), dict(self.entered))

    def restore(self, before: GraphVariables) -> None:
        """Back to a copy: what was emitted since is given up, but for inputs."""
        self.current, self.assigned = {**self.entered, **before.current}, before.assigned

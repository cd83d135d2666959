"""Values of the variables of a graph during its import."""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.converter.mindir.graph import Value


@dataclass
class GraphVariables:
    """Values of the variables of one graph during its import."""

    current: dict[str, Value] = field(default_factory=dict)
    """Current value, after the nodes so far."""
    assigned: dict[str, Value] = field(default_factory=dict)
    """Assigned value at the end of the graph."""
    entered: dict[str, Value] = field(default_factory=dict)
    """Inputs of a subgraph for variables, after the inputs of the source graph."""

    def copy(self) -> GraphVariables:
        return GraphVariables(dict(self.current), dict(self.assigned), dict(self.entered))

    def restore(self, before: GraphVariables) -> None:
        """Restores the state of a copy, except that new inputs stay."""
        self.current, self.assigned = {**self.entered, **before.current}, before.assigned

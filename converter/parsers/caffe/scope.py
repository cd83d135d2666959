"""State of a network that is being imported: weights, nodes, constants, notes for the user."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph
from mslite.converter.parsers.emitted_types import Inference
from mslite.converter.parsers.naming import Names
from mslite.converter.parsers.scope import GraphScope

from .weights import Weights


class Scope(GraphScope):
    """The graph that one network is converted to."""

    def __init__(self, name: str, weights: Weights, inference: Inference | None = None) -> None:
        super().__init__(Graph(name), Names(), Names(), "output")
        self.weights = weights
        self.inference = inference
        """Infers the shapes of nodes of plug-ins."""
        self.notes: list[str] = []
        self.depends_on_input_sizes = False
        """Whether constants or attributes were computed from sizes of blobs."""

"""What a layer may ask of the network that is being imported: its weights, new nodes and constants, notes for the user."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph
from mslite.converter.parsers.emitted import Inference
from mslite.converter.parsers.naming import Names
from mslite.converter.parsers.scope import GraphScope

from .weights import Weights


class Scope(GraphScope):
    """The graph that one network becomes."""

    def __init__(self, name: str, weights: Weights, inference: Inference | None = None) -> None:
        super().__init__(Graph(name), Names(), Names(), "output")
        self.weights = weights
        self.inference = inference
        """Tells the shapes of what plug-ins emit."""
        self.notes: list[str] = []
        self.reads_sizes = False
        """Constants or attributes were made of the sizes of blobs."""

"""What all graphs of one conversion share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Array, Graph, Node, Value
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.naming import Blocked, Names

from .model import SourceModel, SourceNode

_MAX_GRAPHS = 256
MAX_DEPTH = 32
"""How deep functions may call each other."""

MAX_CALLS = 8192
"""How often functions may be called in all."""


class Inference(Protocol):
    """Types, shapes and contents by the shape rules, node by node: a GraphDef does not say them."""

    def infer(self, node: Node) -> Blocker | None:
        """Fills type and shape of the node's outputs, or says why that cannot be."""

    def contents(self, value: Value) -> Array | None:
        """The elements of a small value, where they follow from shapes and constants."""

    def constant(self, value: Value) -> Array | None:
        """As `contents`, of any size."""

    def sizes(self, value: Value) -> tuple[int, ...] | None:
        """The elements of a small integer value, in which symbols stand for sizes that are not known."""

    def use_layout(self, layout: Format) -> None:
        """The layout of images in the graph."""

    def new_symbol(self) -> int:
        """A dimension of unknown size that equals no other."""


class Skipped(Exception):
    """Raised where a value is wanted that a blocked node should have made."""


@dataclass
class Session:
    """What all graphs of one conversion share."""

    model: SourceModel
    inference: Inference
    layout: Format = Format.NHWC
    """Layout of images in the module."""
    input_shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    graphs: list[Graph] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)
    nodes: Names = field(default_factory=Names)
    values: Names = field(default_factory=Names)
    pairs: set[Value] = field(default_factory=set)
    """Float32 values [..., 2] that are complex numbers."""
    joined: set[SourceNode] = field(default_factory=set)
    """Nodes that write to and join lists that are joined tensors; see `joined_lists`."""
    calls: int = 0
    """How many graphs and functions were begun."""

    def new_graph(self, name: str) -> tuple[Graph, int]:
        """An empty graph and the number by which PartialFusion calls it. Raises Blocked when there are too many."""
        if len(self.graphs) >= _MAX_GRAPHS:
            raise Blocked(f"there are more than {_MAX_GRAPHS} subgraphs", "Simplify the control flow")
        self.graphs.append(Graph(name))
        return self.graphs[-1], len(self.graphs) - 1

    def mark(self) -> tuple[int, int, int, int]:
        """A moment to which `forget` goes back."""
        return len(self.graphs), len(self.blockers), self.nodes.mark(), self.values.mark()

    def forget(self, mark: tuple[int, int, int, int]) -> None:
        """Takes back the graphs, blockers and names since `mark`: an attempt with other shapes follows."""
        for graph in self.graphs[mark[0] :]:
            for node in graph.nodes:
                node.set_inputs(())
        del self.graphs[mark[0] :]
        del self.blockers[mark[1] :]
        self.nodes.release(mark[2])
        self.values.release(mark[3])

"""State that all graphs of one conversion share."""

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
"""Largest depth of nested function calls."""

MAX_CALLS = 8192
"""Largest number of function calls."""


class Inference(Protocol):
    """Inference of types, shapes and contents for each node, which a GraphDef does not have."""

    def infer(self, node: Node) -> Blocker | None:
        """Sets types and shapes of the node's outputs; returns a Blocker if that is not possible."""

    def contents(self, value: Value) -> Array | None:
        """Returns the elements of a small value, if they follow from shapes and constants."""

    def constant(self, value: Value) -> Array | None:
        """Returns the elements as `contents`, for values of any size."""

    def sizes(self, value: Value) -> tuple[int, ...] | None:
        """Returns the elements of a small integer value; dynamic sizes are symbols."""

    def use_layout(self, layout: Format) -> None:
        """Sets the layout of images in the graph."""

    def new_symbol(self) -> int:
        """Returns a new symbol for a dynamic dimension."""


class UpstreamFailed(Exception):
    """Raised if a node reads the result of an unsupported node."""


@dataclass
class Session:
    """State that all graphs of one conversion share."""

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
    """Float32 values [..., 2] that represent complex tensors."""
    joined: set[SourceNode] = field(default_factory=set)
    """Nodes that write to and concatenate lists that are represented by a tensor; see `joined_lists`."""
    calls: int = 0
    """Number of imported graphs and functions."""

    def new_graph(self, name: str) -> tuple[Graph, int]:
        """Returns a new graph and its index for PartialFusion. Raises Blocked if there are too many graphs."""
        if len(self.graphs) >= _MAX_GRAPHS:
            raise Blocked(f"there are more than {_MAX_GRAPHS} subgraphs", "Simplify the control flow")
        self.graphs.append(Graph(name))
        return self.graphs[-1], len(self.graphs) - 1

    def mark(self) -> tuple[int, int, int, int]:
        """Returns the current state, for `forget`."""
        return len(self.graphs), len(self.blockers), self.nodes.mark(), self.values.mark()

    def forget(self, mark: tuple[int, int, int, int]) -> None:
        """Removes all graphs, blockers and names since `mark`, before another attempt with other shapes."""
        for graph in self.graphs[mark[0] :]:
            for node in graph.nodes:
                node.set_inputs(())
        del self.graphs[mark[0] :]
        del self.blockers[mark[1] :]
        self.nodes.release(mark[2])
        self.values.release(mark[3])

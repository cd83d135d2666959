"""Alternative layouts of the values of a graph, and how a node's inputs and outputs depend on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from mslite.converter.mindir.graph import Graph, Node, Shape, Value
from mslite.converter.passes.layout.permutation import Perm, is_identity, is_reshape


class LayoutDependence(Enum):
    """Which layout an input or output of a node has."""

    SOURCE = "source"  # always the source's layout
    NODE = "node"  # the alternative layout if the node is flipped, else the source's
    FREE = "free"  # either, independent of the node


@dataclass
class Connection:
    """The constraints of a node: `pinned` is True (flipped to the alternative layout), False (not flipped) or None
    (either).

    Inputs and outputs that are not listed are `SOURCE`.
    """

    pinned: bool | None = False
    inputs: dict[int, LayoutDependence] = field(default_factory=dict)
    outputs: dict[int, LayoutDependence] = field(default_factory=dict)
    flipped_cost: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Index of a FREE input → cost of running the node with it in (source, alternative) layout."""
    output_cost: dict[int, tuple[int, int]] = field(default_factory=dict)


SOURCE_LAYOUT_ONLY = Connection()


class Layouts:
    """At most one alternative layout for each value. Keeps the shapes of the source while values are rewritten."""

    def __init__(self, graph: Graph) -> None:
        self._alternatives: dict[Value, Perm] = {}
        self.source_shapes: dict[Value, Shape] = {
            value: value.shape for value in graph.values() if value.shape is not None
        }
        self.changed = False

    def of(self, value: Value) -> Perm | None:
        return self._alternatives.get(value)

    def shape(self, value: Value) -> Shape | None:
        """Returns the shape of the value in the source's layout."""
        return self.source_shapes.get(value)

    def suggest(self, value: Value, perm: Perm | None) -> None:
        """Sets the alternative layout of a value unless it has one, is constant, or would not change."""
        shape = self.shape(value)
        if perm is None or shape is None or len(perm) != len(shape) or is_identity(perm) or value.is_constant:
            return
        if value not in self._alternatives:
            self._alternatives[value] = perm
            self.changed = True

    def cost(self, value: Value) -> int:
        """Returns the cost of transposing a value: its elements, or 1 if no element moves."""
        shape, perm = self.shape(value), self.of(value)
        if shape is None or perm is None:
            return 1
        if is_reshape(shape, perm):
            return 1
        elements = 16
        for size in shape:
            elements *= max(size, 1) if size >= 0 else 8
        return elements


class Behavior:
    """How a kind of operator supports layouts. The default keeps all inputs in the source's layout."""

    def propose(self, node: Node, layouts: Layouts) -> None:
        """Propagates alternative layouts between inputs and outputs."""

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        return SOURCE_LAYOUT_ONLY

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        """Changes the operator and its inputs such as axes for the stored layouts (None: the source's).

        Returns `node` with the nodes that must be inserted before and after it.
        """
        return [node]

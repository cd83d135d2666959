"""The alternative layouts of the values of one graph, and how a node's operands depend on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from mslite.converter.mindir.graph import Graph, Node, Shape, Value
from mslite.converter.passes.layout.permutation import Perm, is_identity, moves_nothing


class Follows(Enum):
    """Which layout an operand has."""

    SOURCE = "source"  # always the source's
    NODE = "node"  # the alternative one exactly when the node is flipped
    FREE = "free"  # either, whatever the node does


@dataclass
class Connection:
    """How a node takes part: `pinned` True (flipped), False (not flipped), None (either).

    Operands that are not listed are `SOURCE`.
    """

    pinned: bool | None = False
    inputs: dict[int, Follows] = field(default_factory=dict)
    outputs: dict[int, Follows] = field(default_factory=dict)
    flipped_cost: dict[int, tuple[int, int]] = field(default_factory=dict)
    """input index → cost of running the node on (source, alternative) layout of a FREE input"""
    output_cost: dict[int, tuple[int, int]] = field(default_factory=dict)


UNTOUCHED = Connection()


class Layouts:
    """At most one alternative layout per value; shapes are the source's, kept while values are rewritten."""

    def __init__(self, graph: Graph) -> None:
        self._alternatives: dict[Value, Perm] = {}
        self.source_shapes: dict[Value, Shape] = {
            value: value.shape for value in graph.values() if value.shape is not None
        }
        self.changed = False

    def of(self, value: Value) -> Perm | None:
        return self._alternatives.get(value)

    def shape(self, value: Value) -> Shape | None:
        """The shape that the value has in the source's layout."""
        return self.source_shapes.get(value)

    def suggest(self, value: Value, perm: Perm | None) -> None:
        """Gives a value its alternative layout unless it has one, is constant, or would not change."""
        shape = self.shape(value)
        if perm is None or shape is None or len(perm) != len(shape) or is_identity(perm) or value.is_constant:
            return
        if value not in self._alternatives:
            self._alternatives[value] = perm
            self.changed = True

    def cost(self, value: Value) -> int:
        """What one change of the layout of a value costs: its elements, or next to nothing when none moves."""
        shape, perm = self.shape(value), self.of(value)
        if shape is None or perm is None:
            return 1
        if moves_nothing(shape, perm):
            return 1
        elements = 16
        for size in shape:
            elements *= max(size, 1) if size >= 0 else 8
        return elements


class Behavior:
    """How one kind of operator deals with layouts. The default keeps every operand in the source's layout."""

    def propose(self, node: Node, layouts: Layouts) -> None:
        """Spreads alternative layouts between the operands."""

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        return UNTOUCHED

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        """Changes operator and side operands once the stored layouts (None: the source's) are settled.

        Returns nodes that have to stand before and, with `node` itself among them, after it.
        """
        return [node]

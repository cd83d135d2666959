"""The graph that is being built from a foreign one: its new nodes, and the constants that they read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.parsers.constant_pool import ConstantPool
from mslite.converter.parsers.naming import Names


@dataclass(frozen=True)
class Origin:
    """What new nodes come from: a foreign node, or the graph itself."""

    name: str
    """The names of the new nodes begin with it."""
    operator: str = ""

    @property
    def source(self) -> str:
        """As `Node.source` says it."""
        return f"{self.operator} '{self.name}'" if self.operator else ""


class GraphScope(ConstantPool):
    """Makes the nodes and constants of one graph.

    Nodes are named among `nodes`, values among `values`; those that come from no foreign node are named after `title`.
    New values are of the layout `format`.
    """

    def __init__(self, graph: Graph, nodes: Names, values: Names, title: str, format: Format = Format.NCHW) -> None:
        super().__init__(values, format)
        self.graph = graph
        self._node_names = nodes
        self._own = Origin(title)

    def emit(
        self, op: Operator, inputs: Iterable[Value], outputs: int, origin: Origin | None = None
    ) -> tuple[Value, ...]:
        """Adds a node; its outputs are typed by the pipeline later."""
        origin = origin or self._own
        name = self._node_names.unique(f"{origin.name}/{op.name}")
        names = [f"{name}:{index}" if outputs > 1 else name for index in range(outputs)]
        values = tuple(Value(self._value_names.unique(wish), DataType.UNKNOWN, format=self._format) for wish in names)
        self.graph.nodes.append(Node(op, name, tuple(inputs), values, source=origin.source))
        return values

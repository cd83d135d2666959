"""The MindIR graph during import: its new nodes, and their constants."""

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
    """The origin of new nodes: a source node, or the graph."""

    name: str
    """The prefix of the new nodes' names."""
    operator: str = ""

    @property
    def source(self) -> str:
        """Returns the value for `Node.source`."""
        return f"{self.operator} '{self.name}'" if self.operator else ""


class GraphScope(ConstantPool):
    """Creates the nodes and constants of one graph.

    Names of nodes are unique in `nodes`, names of values in `values`; without a source node they begin with `title`.
    New values have the layout `format`.
    """

    def __init__(self, graph: Graph, nodes: Names, values: Names, title: str, format: Format = Format.NCHW) -> None:
        super().__init__(values, format)
        self.graph = graph
        self._node_names = nodes
        self._own = Origin(title)

    def emit(
        self, op: Operator, inputs: Iterable[Value], outputs: int, origin: Origin | None = None
    ) -> tuple[Value, ...]:
        """Adds a node and returns its outputs; passes infer their types later."""
        origin = origin or self._own
        name = self._node_names.unique(f"{origin.name}/{op.name}")
        names = [f"{name}:{index}" if outputs > 1 else name for index in range(outputs)]
        values = tuple(Value(self._value_names.unique(wish), DataType.UNKNOWN, format=self._format) for wish in names)
        self.graph.nodes.append(Node(op, name, tuple(inputs), values, source=origin.source))
        return values

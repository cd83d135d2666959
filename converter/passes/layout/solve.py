"""Chooses a layout for each value to transpose as few elements as possible, as a minimum cut.

A vertex on the source side has the alternative layout. A value has the vertex of its producer; each node that supports
both layouts has its own vertex. A value costs one transposition if consumers need another layout than the producer's,
independent of their number.
"""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.passes.layout.layouts import Connection, LayoutDependence, Layouts
from mslite.converter.passes.layout.mincut import INFINITE, FlowNetwork
from mslite.converter.passes.layout.table import is_channels_last_only, layout_behavior


def propagate_layouts(graph: Graph, layouts: Layouts) -> None:
    """Propagates alternative layouts through the graph until nothing changes."""
    for node in graph.nodes:
        if is_channels_last_only(node):
            layout_behavior(node).propose(node, layouts)
    layouts.changed = True
    while layouts.changed:
        layouts.changed = False
        for node in graph.nodes:
            layout_behavior(node).propose(node, layouts)
        for node in reversed(graph.nodes):
            layout_behavior(node).propose(node, layouts)


class Solution:
    """The nodes that are flipped, and the values that are stored in their alternative layout."""

    def __init__(self, graph: Graph, layouts: Layouts, flipped_inputs: set[Value], flipped_outputs: set[Value]) -> None:
        self.connections: dict[Node, Connection] = {
            node: layout_behavior(node).connect(node, layouts) for node in graph.nodes
        }
        self._layouts = layouts
        self._network = FlowNetwork()
        self._producers: dict[Value, int] = {}
        self._node_vertices: dict[Node, int] = {}
        for value in graph.inputs:
            self._producers[value] = 0 if value in flipped_inputs else 1
        for node in graph.nodes:
            self._add_node(node)
        readers: dict[Value, list[int]] = {}
        for node in graph.nodes:
            for index, value in enumerate(node.inputs):
                follows = self.connections[node].inputs.get(index, LayoutDependence.SOURCE)
                if follows is not LayoutDependence.FREE:
                    vertex = self._node_vertices[node] if follows is LayoutDependence.NODE else 1
                    readers.setdefault(value, []).append(vertex)
        for value in graph.outputs:
            readers.setdefault(value, []).append(0 if value in flipped_outputs else 1)
        for value, vertices in readers.items():
            if layouts.of(value) is not None and not value.is_constant:
                self._add_value(value, vertices)
        side = self._network.source_side()
        self.flipped = {node: side[vertex] for node, vertex in self._node_vertices.items()}
        self.stored = {
            value: layouts.of(value) if side[vertex] and not value.is_constant else None
            for value, vertex in self._producers.items()
        }

    def _add_node(self, node: Node) -> None:
        connection, network = self.connections[node], self._network
        if connection.pinned is None:
            vertex = network.vertex()
        else:
            vertex = 0 if connection.pinned else 1
        self._node_vertices[node] = vertex
        for index, value in enumerate(node.outputs):
            self._producers[value] = vertex if connection.outputs.get(index) is LayoutDependence.NODE else 1
        for source_cost, flipped_cost in connection.output_cost.values():
            network.edge(0, vertex, source_cost)
            network.edge(vertex, 1, flipped_cost)
        for index, (source_cost, flipped_cost) in connection.flipped_cost.items():
            producer = self._producers.get(node.inputs[index])
            if producer is not None:
                network.edge(0, producer, source_cost)
                network.edge(producer, 1, flipped_cost)

    def _add_value(self, value: Value, readers: list[int]) -> None:
        network, cost = self._network, self._layouts.cost(value)
        producer = self._producers[value]
        some_source, some_flipped = network.vertex(), network.vertex()
        network.edge(producer, some_source, cost)
        network.edge(some_flipped, producer, cost)
        for reader in dict.fromkeys(readers):
            network.edge(some_source, reader, INFINITE)
            network.edge(reader, some_flipped, INFINITE)

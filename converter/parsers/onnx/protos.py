"""Iterates over the nested graphs of an ONNX file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import AttributeProto, GraphProto, NodeProto


def sub_graphs(node: NodeProto) -> Iterator[GraphProto]:
    """Yields the graphs in a node's attributes."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            yield from attribute.graphs


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Yields the nodes and those of all their subgraphs."""
    for node in nodes:
        yield node
        for graph in sub_graphs(node):
            yield from all_nodes(graph.node)

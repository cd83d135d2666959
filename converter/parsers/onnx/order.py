"""The names that source nodes read, and topological sorting of nodes."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from onnx import GraphProto, NodeProto

from .model import graph_error
from .protos import sub_graphs


def node_reads(node: NodeProto) -> set[str]:
    """Returns the names that a node reads: its inputs, and outer names that its subgraphs read."""
    names = {name for name in node.input if name}
    for graph in sub_graphs(node):
        inside = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
        inside.update(name for inner in graph.node for name in inner.output)
        reads = {name for inner in graph.node for name in node_reads(inner)}
        reads.update(value.name for value in graph.output)
        names |= reads - inside
    return names


def used_names(graph: GraphProto) -> set[str]:
    """Returns the names that nodes of the graph read, and the names of its outputs."""
    names = {value.name for value in graph.output}
    for node in graph.node:
        names |= node_reads(node)
    return names


def ordered(nodes: Sequence[NodeProto], model_name: str) -> list[NodeProto]:
    """Returns the nodes with producers first, in the file's order if possible. Raises ConversionError for a cycle."""
    producer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in filter(None, node.output):
            if name in producer:
                raise graph_error(model_name, f"two nodes produce '{name}'")
            producer[name] = index
    readers: list[list[int]] = [[] for _ in nodes]
    missing = [0] * len(nodes)
    for index, node in enumerate(nodes):
        sources = {producer[name] for name in node_reads(node) if name in producer}
        missing[index] = len(sources)
        for source in sources:
            readers[source].append(index)
    ready = [index for index, count in enumerate(missing) if count == 0]
    order: list[NodeProto] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(nodes[index])
        for reader in readers[index]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        stuck = next(node for index, node in enumerate(nodes) if missing[index] > 0)
        raise graph_error(model_name, f"the graph has a cycle through '{stuck.name or stuck.op_type}'")
    return order

"""Inserts nodes for graph outputs that are inputs or constants."""

from __future__ import annotations

import numpy as np

from mslite.converter.compatibility import Version
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.rearrange import Reshape


def add_output_nodes(module: Module, version: Version) -> None:
    """Inserts a node before each graph output that is an input of the graph or a constant.

    1.x and 2.x support outputs of nodes only, and crash at a graph without nodes."""
    for graph in module.graphs:
        given = {
            id(value): _copied(graph, value) for value in graph.outputs if value in graph.inputs or value.is_constant
        }
        if module.outputs is not None:
            module.outputs = [given.get(id(value), value) for value in module.outputs]
        graph.outputs = [given.get(id(value), value) for value in graph.outputs]


def _copied(graph: Graph, value: Value) -> Value:
    result = Value(f"{value.name}_result", value.dtype, value.shape, format=value.format, quant=value.quant)
    if value.rank == 0:
        shape = constant(f"{result.name}_shape", np.zeros(0, np.int32))
        graph.nodes.append(Node(Reshape(), result.name, (value, shape), (result,)))
    else:
        graph.nodes.append(Node(Concat(axis=0), result.name, (value,), (result,)))
    return result

"""Functions for editing graphs."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops import Operator

_WITH_EFFECT = frozenset(
    {
        "Assert",
        "Call",
        "TensorArrayWrite",
        "TensorListSetItem",
        "Assign",
        "AssignAdd",
        "AssignVariable",
        "SGD",
        "ApplyMomentum",
        "Adam",
        "AdamWeightDecay",
    }
)


def live_nodes(graph: Graph) -> list[Node]:
    """Returns the nodes that are needed, in order. Inputs of the other nodes are cleared."""
    needed: set[Value] = set(graph.outputs)
    live: list[Node] = []
    for node in reversed(graph.nodes):
        if node.op.name in _WITH_EFFECT or any(value in needed for value in node.outputs):
            needed.update(node.inputs)
            live.append(node)
        else:
            node.set_inputs(())
    return live[::-1]


def bypass(graph: Graph, node: Node, replacement: Value) -> bool:
    """Replaces the only output of `node` by `replacement` for all readers. Returns whether it did.

    A graph output keeps its name: the replacement takes it over if it is the output of a node and not an output of the
    graph; otherwise the node is not bypassed.
    """
    value = node.outputs[0]
    if value in graph.outputs:
        if replacement in graph.inputs or replacement.is_constant or replacement in graph.outputs:
            return False
        if replacement.producer is None:
            return False
        value.name, replacement.name = replacement.name, value.name
        replacement.format = value.format
    graph.replace_uses(value, replacement)
    return True


def changed(op: Operator, **attributes: object) -> Operator:
    """Returns `op` with changed attributes."""
    return cast(Operator, dataclasses.replace(cast(Any, op), **attributes))


def scalar(value: Value) -> float | None:
    """Returns the element of a constant with one element, or None."""
    if value.data is None or value.data.size != 1 or value.data.dtype.kind not in "fiub":
        return None
    return float(value.data.reshape(-1)[0].astype(np.float64))

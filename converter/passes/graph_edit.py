"""Small changes of a graph that several passes share."""

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
    """The nodes that something depends on, in order. The others lose their inputs."""
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
    """Lets everything that read the only output of `node` read `replacement`.

    A graph output keeps its name: when the replacement is made by a node for this use only it takes the name over,
    otherwise nothing is done and False returned.
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
    """`op` with other values of some attributes."""
    return cast(Operator, dataclasses.replace(cast(Any, op), **attributes))


def scalar(value: Value) -> float | None:
    """The number in a constant with one element."""
    if value.data is None or value.data.size != 1 or value.data.dtype.kind not in "fiub":
        return None
    return float(value.data.reshape(-1)[0].astype(np.float64))

"""How much memory the activations of a graph need."""

from __future__ import annotations

import math

from mslite.converter.mindir.graph import Graph, Value, numpy_type


def peak_activation_bytes(graph: Graph) -> int | None:
    """The largest sum of the bytes of tensors alive at one node, in file order; None when a shape is not known.

    A tensor lives from its producer to its last reader; inputs and outputs of the graph live as long as the graph.
    """
    last: dict[Value, int] = {}
    for position, node in enumerate(graph.nodes):
        for value in (*node.inputs, *node.outputs):
            last[value] = position
    kept = {*graph.inputs, *graph.outputs}
    try:
        alive = sum(_bytes(value) for value in graph.inputs)
        peak = alive
        for position, node in enumerate(graph.nodes):
            alive += sum(_bytes(value) for value in node.outputs)
            peak = max(peak, alive)
            for value in dict.fromkeys((*node.inputs, *node.outputs)):
                if last[value] == position and value not in kept and not value.is_constant:
                    alive -= _bytes(value)
    except ValueError:
        return None
    return peak


def _bytes(value: Value) -> int:
    """Raises ValueError when type or shape is not known."""
    if value.shape is None or any(size < 0 for size in value.shape):
        raise ValueError(value.name)
    return math.prod(value.shape) * numpy_type(value.dtype).itemsize

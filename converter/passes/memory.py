"""Computes the peak memory of the activations of a graph."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mslite.converter.mindir.graph import Graph, Node, Value, numpy_type
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.passes.rules._common import is_float, is_plain


def peak_activation_bytes(graph: Graph) -> int | None:
    """Returns the peak memory in bytes: the largest sum of tensors that are live at one node, in file order; None for
    unknown shapes.

    A tensor is live from its producer to its last reader; inputs and outputs of the graph are always live.
    """
    last: dict[Value, int] = {}
    calls = list(_calls(graph))
    for position, values in enumerate(calls):
        for value in (*values[0], *values[1]):
            last[value] = position
    kept = {*graph.inputs, *graph.outputs}
    try:
        alive = sum(_bytes(value) for value in graph.inputs)
        peak = alive
        for position, (inputs, outputs) in enumerate(calls):
            alive += sum(_bytes(value) for value in outputs)
            peak = max(peak, alive)
            for value in dict.fromkeys((*inputs, *outputs)):
                if last[value] == position and value not in kept and not value.is_constant:
                    alive -= _bytes(value)
    except ValueError:
        return None
    return peak


def _calls(graph: Graph) -> Iterator[tuple[tuple[Value, ...], tuple[Value, ...]]]:
    """Yields the inputs and outputs of each kernel call. The runtime fuses a convolution with a residual add
    (plan/rewrite/residual_adds.h)."""
    first = {node: _summed_convolution(node, graph) for node in graph.nodes}
    fused = {*first.values()}
    for node in graph.nodes:
        convolution = first[node]
        if convolution is not None:
            others = (value for value in node.inputs if value.producer is not convolution)
            yield (*convolution.inputs, *others), node.outputs
        elif node not in fused:
            yield node.inputs, node.outputs


def _summed_convolution(node: Node, graph: Graph) -> Node | None:
    """Returns the convolution that the runtime fuses with this residual add, or None."""
    if not isinstance(node.op, AddFusion) or node.quant_type != 0 or len(node.inputs) != 2:
        return None
    for value, other in (node.inputs, node.inputs[::-1]):
        producer = value.producer
        if producer is None or not isinstance(producer.op, Conv2DFusion) or not is_plain(producer):
            continue
        is_alone = value.users == [node] and value not in graph.outputs and is_float(value)
        has_one_shape = not other.is_constant and other.shape == value.shape
        if is_alone and has_one_shape and producer.op.group in (0, 1):
            return producer
    return None


def _bytes(value: Value) -> int:
    """Returns the bytes of a tensor. Raises ValueError if its type or shape is unknown."""
    if value.shape is None or any(size < 0 for size in value.shape):
        raise ValueError(value.name)
    return math.prod(value.shape) * numpy_type(value.dtype).itemsize

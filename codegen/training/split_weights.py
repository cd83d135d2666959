"""Splits matmuls and convolutions with partly trained weights, so that the whole weight is never assembled in RAM.

The constant channels of a weight are read from flash, the trained ones from the variable. In the forward pass, the
channels are summed over: the operator becomes two, and their results are added. In the backward pass, the channels are
those of the result: it is computed in two parts, which are concatenated. An operator is split if its weight is larger
than its output.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.state import ReadVariable
from mslite.converter.mindir.ops.training import Conv2DBackpropInputFusion
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.training import Builder, shape_of

_WEIGHT = 1
"""Index of the weight among the inputs of a node."""


def split_partly_trained_weights(graph: Graph) -> None:
    """Splits the matmuls and convolutions of a graph in place."""
    build = Builder(graph)
    nodes, graph.nodes = graph.nodes, []
    for node in nodes:
        joined = _joined(node)
        if joined is None or not _is_worth_it(node):
            graph.nodes.append(node)
        elif _sums_over(node, joined):
            _add_both(build, node, joined)
        else:
            _join_both(build, node, joined)
    graph.nodes = live_nodes(graph)


def _joined(node: Node) -> Node | None:
    """Returns the Concat node that assembles a weight from its trained channels (first input) and its constant ones, or
    None if the node has no such weight."""
    op = node.op
    if isinstance(op, Conv2DFusion | Conv2DBackpropInputFusion):
        if (op.group or 1) != 1:
            return None  # depthwise weights are small
    elif not isinstance(op, FullConnection | MatMulFusion) or (isinstance(op, MatMulFusion) and op.transpose_a):
        return None
    made = node.inputs[_WEIGHT].producer
    if made is None or not isinstance(made.op, Concat) or len(made.inputs) != 2:
        return None
    trained, kept = made.inputs
    is_variable = trained.producer is not None and isinstance(trained.producer.op, ReadVariable)
    return made if is_variable and kept.is_constant else None


def _is_worth_it(node: Node) -> bool:
    return prod(shape_of(node.inputs[_WEIGHT])) > prod(shape_of(node.output))


def _sums_over(node: Node, joined: Node) -> bool:
    assert isinstance(joined.op, Concat)
    if isinstance(node.op, MatMulFusion):
        return joined.op.axis == (1 if node.op.transpose_b else 0)
    return not isinstance(node.op, Conv2DBackpropInputFusion)


def _add_both(build: Builder, node: Node, joined: Node) -> None:
    """Replaces a node by two and adds their results: one with zeros for the trained channels, one with these channels
    only."""
    assert isinstance(joined.op, Concat)
    trained, kept = joined.inputs
    result, x = node.output, node.inputs[0]
    axis = joined.op.axis
    count = shape_of(trained)[axis]
    zeros = np.zeros(shape_of(trained), np.float32)
    rest = build.constant(f"{node.name}/weight/rest", np.concatenate([zeros, kept.array()], axis=axis))
    bias = list(node.inputs[2:])
    node.set_inputs(())
    few = replace(node.op, in_channel=count) if isinstance(node.op, Conv2DFusion) else node.op
    first = _first_channels(build, x, count, node.name)
    of_rest = build.node(node.op, f"{node.name}/rest", [x, rest, *bias], shape_of(result))
    of_trained = build.node(few, f"{node.name}/trained", [first, trained], shape_of(result))
    build.graph.nodes.append(Node(AddFusion(), node.name, (of_rest, of_trained), (result,)))


def _first_channels(build: Builder, x: Value, count: int, name: str) -> Value:
    """Returns a slice of the first `count` channels of `x`, the same one as in the backward pass if there is one."""
    shape = (*shape_of(x)[:-1], count)
    for user in x.users:
        is_slice = isinstance(user.op, SliceFusion) and user in build.graph.nodes and user.output.shape == shape
        if is_slice and user.inputs[1].is_constant and not np.any(user.inputs[1].array()):
            return user.output
    return build.slice(x, (0,) * len(shape), shape, f"{name}/first_channels")


def _join_both(build: Builder, node: Node, joined: Node) -> None:
    """Replaces a node by two, for the gradients of the trained channels and of the others, and concatenates their
    results."""
    trained, kept = joined.inputs
    result, dy = node.output, node.inputs[0]
    shape = shape_of(result)
    assert isinstance(joined.op, Concat)
    node.set_inputs(())
    parts = []
    for name, weight in (("trained", trained), ("rest", kept)):
        count = shape_of(weight)[joined.op.axis]
        part = (*shape[:-1], count)
        inputs = [dy, weight]
        op = node.op
        if isinstance(op, Conv2DBackpropInputFusion):
            inputs.append(build.sizes(f"{node.name}/{name}/shape", part))
            op = replace(op, in_channel=count)
        parts.append(build.node(op, f"{node.name}/{name}", inputs, part))
    build.graph.nodes.append(Node(Concat(axis=len(shape) - 1), node.name, tuple(parts), (result,)))

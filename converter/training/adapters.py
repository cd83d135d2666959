"""Low-rank adapters (LoRA): the weight of a matmul is frozen, and two low-rank matrices that are added to it are
trained."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from zlib import crc32

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.training.builder import Builder
from mslite.converter.training.constants_by_name import named_constants
from mslite.converter.training.gradients import shape_of
from mslite.converter.training.settings import Lora

A, B, SCALE = ".lora_A", ".lora_B", "lora_scale"
"""Suffixes of the names of an adapter's constants, after the name of the weight, and the name of the scale, which all
adapters
share. The runtime finds them by these names."""


def add_adapters(graph: Graph, lora: Lora, frozen: Collection[Value], source: str) -> list[Value]:
    """Replaces the selected matmuls x W of a graph by x W + scale (x A^T) B^T, with A [rank, in] and B [out, rank].

    Returns the constants to train: A and B for each weight, and constants that are trained in full. A is initialized
    with random numbers, the same in every conversion, and B with zeros, so that the outputs of the model do not change.

    Raises ConversionError for unknown names, and if there is no matmul to adapt.
    """
    trained = [
        value for value in named_constants(graph.nodes, lora.trained, source, "lora_trained") if value not in frozen
    ]
    stay = {*trained, *frozen}
    chosen = set(named_constants(graph.nodes, lora.layers or ["*"], source, "lora_layers"))
    adapted: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        weight = node.inputs[1] if _is_adaptable(node) else None
        if weight is not None and weight in chosen - stay and _is_alike_everywhere(weight):
            adapted.setdefault(weight, []).append(node)
    if not adapted:
        raise ConversionError(
            f"{source}: there is no matmul with a constant weight that lora_rank could adapt",
            code=ReturnCode.NOT_SUPPORTED,
        )
    nodes, graph.nodes = graph.nodes, []
    build = Builder(Graph("", graph.inputs, graph.outputs, nodes))
    build.graph = graph
    scale = build.constant(SCALE, np.asarray([lora.scale], np.float32))
    pairs = {weight: _matrices(build, weight, users[0], lora.rank) for weight, users in adapted.items()}
    for node in nodes:
        graph.nodes.append(node)
        if len(node.inputs) > 1 and node in adapted.get(node.inputs[1], ()):
            _adapt(build, node, *pairs[node.inputs[1]], scale)
    return [*trained, *(value for pair in pairs.values() for value in pair)]


def _is_adaptable(node: Node) -> bool:
    """Returns whether a node is a matmul of rows with a constant matrix."""
    if not isinstance(node.op, MatMulFusion | FullConnection) or getattr(node.op, "transpose_a", False):
        return False
    weight = node.inputs[1]
    is_matrix = weight.data is not None and weight.dtype is DataType.FLOAT32 and len(shape_of(weight)) == 2
    return is_matrix and node.inputs[0] is not weight


def _is_turned(node: Node) -> bool:
    """Returns whether the weight of a matmul is [out, in]."""
    return isinstance(node.op, FullConnection) or bool(getattr(node.op, "transpose_b", False))


def _is_alike_everywhere(weight: Value) -> bool:
    """Returns whether all readers of the weight are such matmuls. Other uses, such as an embedding table, would change
    when the adapter
    is merged into the weight."""
    users = weight.users
    return all(_is_adaptable(user) for user in users) and len({_is_turned(user) for user in users}) == 1


def _sizes(node: Node) -> tuple[int, int]:
    """Returns the rows and columns of W: in, out."""
    first, second = shape_of(node.inputs[1])
    return (second, first) if _is_turned(node) else (first, second)


def _matrices(build: Builder, weight: Value, node: Node, rank: int) -> tuple[Value, Value]:
    """Returns A and B. A is uniform within ±1 / sqrt(in), like the initial weights of layers in PyTorch; B is zero."""
    rows, columns = _sizes(node)
    limit = rows**-0.5
    a = np.random.default_rng(crc32(weight.name.encode())).uniform(-limit, limit, (rank, rows))
    return (
        build.constant(weight.name + A, a.astype(np.float32)),
        build.constant(weight.name + B, np.zeros((columns, rank), np.float32)),
    )


def _adapt(build: Builder, node: Node, a: Value, b: Value, scale: Value) -> None:
    """Adds scale (x A^T) B^T to the output of a matmul."""
    x, result = node.inputs[0], node.output
    shape = shape_of(result)
    inner = (*shape[:-1], shape_of(a)[0])
    plain = Value(build.name(f"{node.name}/base"), DataType.FLOAT32, shape, format=result.format)
    node.outputs = (plain,)
    plain.producer = node
    op: Operator = MatMulFusion(transpose_b=True)
    if isinstance(node.op, FullConnection):  # it flattens its input to rows
        op = FullConnection(use_axis=node.op.use_axis, axis=node.op.axis)
    thin = build.node(op, f"{node.name}/lora/A", [x, a], inner)
    scaled = build.node(MulFusion(), f"{node.name}/lora/scaled", [thin, scale], inner)
    added = build.node(MatMulFusion(transpose_b=True), f"{node.name}/lora/B", [scaled, b], shape)
    build.graph.nodes.append(Node(AddFusion(), build.name(f"{node.name}/lora"), (plain, added), (result,)))


def others(nodes: Sequence[Node], trained: Collection[Value]) -> set[Value]:
    """Returns all float constants of a graph except `trained`, which are frozen if adapters are trained."""
    known = set(trained)
    return {
        value
        for node in nodes
        for value in node.inputs
        if value.data is not None and value.dtype is DataType.FLOAT32 and value not in known
    }

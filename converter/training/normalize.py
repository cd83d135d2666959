"""Normalizes an inference graph to the form that the gradient rules support.

Fused activations become separate nodes; batch normalization with the model's statistics and scales become
multiplications and additions; the batch size is changed if requested.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import Operator, activation, arithmetic
from mslite.converter.mindir.ops.control_flow import TensorListFromTensor, TensorListStack
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, QuantType
from mslite.converter.mindir.ops.normalization import BatchNorm, FusedBatchNorm
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.training import BatchNormTraining, Dropout
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import bypass
from mslite.converter.passes.pattern import Match
from mslite.converter.passes.rule import apply_rules
from mslite.converter.passes.rules import conv_scale


def with_rows(module: Module, rows: int) -> None:
    """Changes the batch size of the inputs to `rows`, also in constant shapes."""
    graph = module.main
    old = {value.shape[0] for value in graph.inputs if value.shape}
    for value in graph.inputs:
        if value.shape:
            value.shape = (rows, *value.shape[1:])
    for node in graph.nodes:
        for value in node.outputs:
            value.shape = None
        if not isinstance(node.op, Reshape) or len(node.inputs) < 2 or node.inputs[1].data is None:
            continue
        sizes = node.inputs[1].array().copy()
        if sizes.size and int(sizes[0]) in old:
            sizes[0] = rows
            fresh = constant(graph.unique_name(f"{node.name}/shape"), sizes, node.inputs[1].format)
            node.set_inputs([node.inputs[0], fresh])


def check_trainable(module: Module, source: str, has_integers: bool = False) -> None:
    """Raises ConversionError for control flow, dynamic dimensions, and quantized values outside of frozen layers."""
    if len(module.graphs) > 1:
        raise _refusal(source, "the model has control flow, whose gradient is not supported", "Train a part without it")
    for value in module.main.inputs:
        if not value.is_static:
            remedy = (
                f"Give its shape, in the layout of the source, as --inputShape={value.name}:32,...; batch_size in "
                "[train_param] "
                "sets the first dimension only"
            )
            raise _refusal(source, f"input '{value.name}' has dynamic dimensions", remedy)
    narrow = [node for node in module.main.nodes if int(node.quant_type) != 0 or any(v.quant for v in node.outputs)]
    if narrow and not has_integers:
        raise ConversionError(
            f"{source}: quantized models cannot be trained",
            tuple(
                Blocker(
                    node.name,
                    node.op.name,
                    "it is quantized",
                    "Train the float model, and quantize it afterwards, or name its last layers in [sparse_update]",
                )
                for node in narrow
            ),
            ReturnCode.NOT_SUPPORTED,
        )


def _refusal(source: str, reason: str, remedy: str) -> ConversionError:
    return ConversionError(f"{source}: {reason}. {remedy}", code=ReturnCode.NOT_SUPPORTED)


@dataclass
class Scales:
    """Constants from batch normalization and scales: `trained` ones, after layers with weights, and `statistics` of
    the model.

    `weights` are the constants of unrolled recurrent layers, which are always trained."""

    trained: set[Value] = field(default_factory=set)
    statistics: set[Value] = field(default_factory=set)
    weights: set[Value] = field(default_factory=set)


def split_fused_nodes(graph: Graph) -> Scales:
    """Splits fused activations, batch normalization and scales into separate nodes."""
    found = Scales()
    for node in list(graph.nodes):
        kind = getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION)
        has_quantized_nodes = node.quant_type is QuantType.QUANT_ALL  # quantized nodes are not changed
        if (
            not isinstance(node.op, activation.Activation)
            and kind is not ActivationType.NO_ACTIVATION
            and not has_quantized_nodes
        ):
            _split_activation(graph, node, kind)
    for node in list(graph.nodes):
        if isinstance(node.op, BatchNorm | FusedBatchNorm):
            _split_normalization(graph, node, found)
        if isinstance(node.op, arithmetic.ScaleFusion):
            _split_scale(graph, node, found)
    return found


def fold_frozen_norms(module: Module, frozen: set[Value], context: Context) -> None:
    """Folds batch normalization into the convolution before it if both are frozen; the new constants are frozen,
    too."""
    rule = conv_scale.BATCH_NORM

    def check(match: Match, context: Context) -> str | None:
        constants = [*match.node("conv").inputs[1:], *match.root.inputs[1:3]]
        return rule.check(match, context) if frozen.issuperset(constants) else "a constant is not frozen"

    def rewrite(match: Match, graph: Graph) -> None:
        rule.rewrite(match, graph)
        frozen.update(match.root.inputs[1:])

    apply_rules((replace(rule, check=check, rewrite=rewrite),), module, context)


def train_batch_norm(graph: Graph, frozen: set[Value]) -> None:
    """Makes batch normalization use the statistics of the batch, unless its scale is frozen."""
    for node in list(graph.nodes):
        op = node.op
        if not isinstance(op, FusedBatchNorm) or len(node.outputs) > 1 or node.inputs[1] in frozen:
            continue
        if any(value.data is None or value.dtype is not DataType.FLOAT32 for value in node.inputs[1:]):
            continue
        node.op = BatchNormTraining(epsilon=op.epsilon, momentum=op.momentum)
        results = [
            Value(graph.unique_name(f"{node.name}/{name}"), DataType.FLOAT32, node.inputs[3].shape, format=Format.NHWC)
            for name in ("mean", "variance", "saved_mean", "saved_variance")
        ]
        node.outputs = (node.outputs[0], *results)
        for value in results:
            value.producer = node
        if node.inputs[0].rank == 2:
            _as_pixels(graph, node)


def _as_pixels(graph: Graph, node: Node) -> None:
    """Reshapes the rows of a matrix to images of one pixel before a normalization: for matrices MindSpore's runtime
    stores the biased
    variance, while the source framework stores the unbiased variance."""
    x, y = node.inputs[0], node.outputs[0]
    assert x.shape is not None
    rows, channels = x.shape

    def reshape(name: str, before: Value, after: Value, sizes: tuple[int, ...]) -> Node:
        name = graph.unique_name(f"{node.name}/{name}")
        return Node(Reshape(), name, (before, constant(f"{name}/shape", np.asarray(sizes, np.int32))), (after,))

    pixels, normalized = (
        Value(graph.unique_name(f"{node.name}/{name}"), DataType.FLOAT32, (rows, 1, 1, channels), format=Format.NHWC)
        for name in ("pixels", "normalized")
    )
    node.set_inputs([pixels, *node.inputs[1:]])
    node.outputs = (normalized, *node.outputs[1:])
    normalized.producer = node
    place = graph.nodes.index(node)
    before = reshape("to_pixels", x, pixels, (rows, 1, 1, channels))
    graph.nodes[place : place + 1] = [before, node, reshape("to_rows", normalized, y, (rows, channels))]


def train_dropout(graph: Graph, drops: bool) -> None:
    """Gives each Dropout its own seed, or removes it."""
    layers = [node for node in graph.nodes if isinstance(node.op, Dropout)]
    for number, node in enumerate(layers):
        x, y = node.inputs[0], node.outputs[0]
        if not drops:
            if bypass(graph, node, x):
                graph.remove(node)
            continue
        seed = constant(graph.unique_name(f"{node.name}/seed"), np.asarray([number, 0], np.int32))
        node.set_inputs([x, seed])
        mask = Value(graph.unique_name(f"{node.name}/mask"), DataType.FLOAT32, y.shape, format=y.format)
        following = Value(graph.unique_name(f"{node.name}/next_seed"), DataType.INT32, (2,))
        node.outputs = (y, mask, following)
        mask.producer = following.producer = node


def remove_split_concat(graph: Graph) -> None:
    """Removes splits of tensors into lists that are joined again, which unrolled loops leave."""
    for node in list(graph.nodes):
        cut = node.inputs[0].producer if isinstance(node.op, TensorListStack) else None
        if cut is not None and isinstance(cut.op, TensorListFromTensor) and bypass(graph, node, cut.inputs[0]):
            graph.remove(node)


def duplicate_constants(graph: Graph) -> None:
    """Duplicates constants that exporters share between different layers because their initial values are equal (ones,
    zeros).

    Layers that are one layer in the source also share constants with different elements; these stay shared. A batch
    normalization shares all of its constants or none."""
    owners: dict[Value, tuple[Node, int]] = {}
    norms: dict[tuple[Value, ...], Node] = {}
    for node in graph.nodes:
        inputs, is_norm = list(node.inputs), isinstance(node.op, FusedBatchNorm)
        first = norms.setdefault(node.inputs[1:], node) if is_norm else node
        is_again = first is not node and first.op == node.op
        said = any(value.of_one_layer for value in node.inputs[1:3])
        if is_again and (said or _own_numbers(node) or _is_one_layer(first, node)):
            continue
        for place, value in enumerate(node.inputs):
            if value.data is None or value.dtype is not DataType.FLOAT32 or not value.shape:
                continue
            owner = owners.setdefault(value, (node, place))
            if owner != (node, place) and (
                is_norm or (_is_uniform(value) and not value.of_one_layer and not _is_one_layer(owner[0], node))
            ):
                roles = node.op.declaration.inputs
                role = roles[min(place, len(roles) - 1)].name
                inputs[place] = constant(graph.unique_name(f"{node.name}/{role}"), value.data, value.format)
                inputs[place].is_parameter = value.is_parameter
        if inputs != list(node.inputs):
            node.set_inputs(inputs)


def _is_uniform(value: Value) -> bool:
    data = value.array().reshape(-1)
    return data.size > 0 and bool((data == data[0]).all())


def _is_one_layer(first: Node, second: Node) -> bool:
    """Returns whether two nodes share non-uniform constants, or are both between nodes that do."""
    if _share_weights(first, second):
        return True
    pairs = ((_before(first), _before(second)), (_behind(first), _behind(second)))
    return all(_share_weights(*pair) for pair in pairs)


def _share_weights(first: Node | None, second: Node | None) -> bool:
    if first is None or second is None or first is second:
        return False
    return any(value in first.inputs for value in _own_numbers(second))


def _own_numbers(node: Node) -> list[Value]:
    return [
        value
        for value in node.inputs
        if value.data is not None and value.dtype is DataType.FLOAT32 and value.shape and not _is_uniform(value)
    ]


_NEAR = 8
"""Largest distance, in nodes, to a neighbor with constants."""


def _before(node: Node) -> Node | None:
    """Returns the nearest node before it with non-uniform constants."""
    for _ in range(_NEAR):
        producer = node.inputs[0].producer if node.inputs else None
        if producer is None or _own_numbers(producer):
            return producer
        node = producer
    return None


def _behind(node: Node) -> Node | None:
    for _ in range(_NEAR):
        user = next(iter(node.outputs[0].users), None) if node.outputs else None
        if user is None or _own_numbers(user):
            return user
        node = user
    return None


def _value(graph: Graph, name: str, like: Value) -> Value:
    return Value(graph.unique_name(name), DataType.FLOAT32, like.shape, format=like.format)


def _split_activation(graph: Graph, node: Node, kind: ActivationType) -> None:
    result = node.output
    plain = _value(graph, f"{node.name}/linear", result)
    position = graph.nodes.index(node)
    graph.nodes.remove(node)
    inputs = node.inputs
    node.set_inputs(())
    op = _changed(node.op, activation_type=ActivationType.NO_ACTIVATION)
    first = Node(op, node.name, inputs, (plain,))
    name = graph.unique_name(f"{node.name}/activation")
    second = Node(activation.Activation(activation_type=kind), name, (plain,), (result,))
    graph.nodes[position:position] = [first, second]


def _split_normalization(graph: Graph, node: Node, found: Scales) -> None:
    """Splits batch normalization: y = (x f + g) scale + offset, f = 1 / sqrt(variance + epsilon) and g = -mean f."""
    op = node.op
    assert isinstance(op, BatchNorm | FusedBatchNorm)
    x, *rest = node.inputs
    own = rest[:2] if isinstance(op, FusedBatchNorm) else []  # scale, offset
    mean, variance = (value.data for value in rest[len(own) : len(own) + 2])
    if mean is None or variance is None:
        return
    factor = 1 / np.sqrt(np.asarray(variance, np.float64) + op.epsilon)
    shift = -np.asarray(mean, np.float64) * factor
    statistics = [_constant(graph, f"{node.name}/factor", factor), _constant(graph, f"{node.name}/shift", shift)]
    found.statistics.update(statistics)
    found.trained.update(own)
    steps: list[tuple[Operator, Value]] = []
    for multiplied, added in (statistics, own)[: 1 + len(own) // 2]:
        steps += [(arithmetic.MulFusion(), multiplied), (arithmetic.AddFusion(), added)]
    _replace(graph, node, x, steps)


def _split_scale(graph: Graph, node: Node, found: Scales) -> None:
    x, *rest = node.inputs
    if x.shape is None or any(value.shape is not None and len(value.shape) > 1 for value in rest):
        return
    assert isinstance(node.op, arithmetic.ScaleFusion)
    if node.op.axis % len(x.shape) != len(x.shape) - 1:
        return
    found.trained.update(rest)
    steps: list[tuple[Operator, Value]] = [(arithmetic.MulFusion(), rest[0])]
    if len(rest) > 1:
        steps.append((arithmetic.AddFusion(), rest[1]))
    _replace(graph, node, x, steps)


def _changed(op: Operator, **attributes: object) -> Operator:
    known: Any = op  # a frozen dataclass, as all operators are
    return cast(Operator, replace(known, **attributes))


def _constant(graph: Graph, name: str, data: Array) -> Value:
    return constant(graph.unique_name(name), data.astype(np.float32), Format.NHWC)


def _replace(graph: Graph, node: Node, x: Value, steps: list[tuple[Operator, Value]]) -> None:
    result = node.outputs[0]
    position = graph.nodes.index(node)
    graph.nodes.remove(node)
    node.set_inputs(())
    fresh = []
    for number, (op, operand) in enumerate(steps):
        last = number == len(steps) - 1
        y = result if last else _value(graph, f"{node.name}/step_{number}", result)
        name = graph.unique_name(node.name if last else f"{node.name}/{op.name}_{number}")
        fresh.append(Node(op, name, (x, operand), (y,)))
        graph.nodes[position:position] = [fresh[-1]]
        position += 1
        x = y

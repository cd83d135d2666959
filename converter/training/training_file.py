"""Converts training graphs to MindSpore's form for `.ms` files, in which optimizers and assignments change constants
in place.

The inverse of `in_place.py`.
"""

from __future__ import annotations

from dataclasses import replace

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Module, Node, Value
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.normalization import FusedBatchNorm
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable
from mslite.converter.mindir.ops.training import Assign, BatchNormTraining, Dropout
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.passes.rules import conv_scale, matmul_scale, norm_scale
from mslite.converter.training.differentiation import TrainingGraph, training_graph
from mslite.converter.training.mindspore_graphs import STATES, is_training
from mslite.converter.training.recompute.memory import arena_bytes, fixed_bytes
from mslite.converter.training.recompute.memory_budget import copied, fitted
from mslite.converter.training.settings import TrainSettings

_NAMED = 8
"""Most names in a note."""


def disabled_in_training(settings: TrainSettings | None) -> frozenset[str]:
    """Returns the fusions that would fold trained constants or scale weights, which would change the training steps."""
    if settings is None:
        return frozenset()
    scales = frozenset({conv_scale.SCALE.name, matmul_scale.RULE.name})
    if not settings.trains_batch_norm:
        return scales
    return scales | {conv_scale.BATCH_NORM.name, norm_scale.BATCH_NORM.name}


def trained(module: Module, settings: TrainSettings, source: str, context: Context) -> TrainingGraph:
    """Returns the training graph of a module, with optimizers that files support. Raises ConversionError."""
    if is_training(module):
        raise ConversionError(
            f"{source}: the model already has gradients and an optimizer. It can be trained without --trainModel: "
            "build it with a TrainCfg",
            code=ReturnCode.NOT_SUPPORTED,
        )
    training = training_graph(module, settings, source, optimizers_only=True)
    labels = module.main.inputs[-1]
    context.note(
        f"trains {len(training.parameters)} constants with {settings.optimizer.value}; the labels are '{labels.name}', "
        f"{labels.dtype.name.lower()} {list(labels.shape or ())}"
    )
    if training.kept:
        more = "" if len(training.kept) <= _NAMED else ", …"
        names = ", ".join(f"'{name}'" for name in training.kept[:_NAMED])
        context.note(f"constants after trained layers that are not trained, unless trained= names them: {names}{more}")
    if settings.memory is None:
        return training
    module.memory_pool = settings.memory
    fit = fitted(training, settings.memory, source, _memory)
    context.note(fit.said(settings.memory))
    module.graphs = fit.training.module.graphs
    return replace(fit.training, module=module)


def _memory(training: TrainingGraph) -> int:
    """Returns the bytes that a step uses in the runtime."""
    module = store_in_place(copied(training))
    return fixed_bytes(module) + arena_bytes(module)


def store_in_place(training: TrainingGraph) -> Module:
    """Replaces the variables of the module by constants of the same names, and returns the module.

    The outputs are the losses. The outputs of inference are the inputs of the losses, or of a last Softmax or sigmoid
    after these."""
    module = training.module
    graph = module.main
    constants: dict[str, Value] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        if isinstance(node.op, ReadVariable):
            (constant,) = node.inputs
            constant.name = node.op.variable or constant.name
            constants[constant.name] = constant
            graph.replace_uses(node.output, constant)
            node.set_inputs(())
        else:
            nodes.append(node)
    _leave_statistics(nodes)
    _go_on(nodes)
    nodes = [node for node in nodes if not _is_own_result(node)]
    graph.nodes = _optimizers_last([_changing(node, constants) for node in nodes], training.parameters)
    # A last Softmax or sigmoid is kept although nothing reads it: it is an output of inference.
    graph.nodes = live_nodes(graph)
    graph.outputs = graph.outputs[: training.losses]
    module.outputs = None
    return module


def _optimizers_last(nodes: list[Node], parameters: tuple[str, ...]) -> list[Node]:
    """Moves the optimizers to the end, in the order of the parameters, which `GetTrainableParams` returns. The runtime
    runs each as soon
    as its gradient is complete."""
    steps = {node.inputs[0].name: node for node in nodes if node.op.name in STATES}
    others = [node for node in nodes if node.op.name not in STATES]
    return [*others, *(steps[name] for name in parameters)]


def _leave_statistics(nodes: list[Node]) -> None:
    """Gives recomputed batch normalization the statistics of the batch, so that it does not update the running
    statistics again."""
    firsts: dict[Value, Node] = {}
    for node in nodes:
        if not isinstance(node.op, BatchNormTraining):
            continue
        first = firsts.setdefault(node.inputs[3], node)
        if first is not node:
            node.set_inputs([*node.inputs[:3], *first.outputs[3:]])


def _go_on(nodes: list[Node]) -> None:
    """Makes repeated applications of a batch normalization update the same constants as the first."""
    for node in nodes:
        if isinstance(node.op, BatchNormTraining):
            before = [value.producer for value in node.inputs[3:]]
            kept = [
                made.inputs[place] if made is not None and value is made.outputs[place - 2] else value
                for place, (value, made) in enumerate(zip(node.inputs[3:], before, strict=True), 3)
            ]
            node.set_inputs([*node.inputs[:3], *kept])


def _is_own_result(node: Node) -> bool:
    """Returns whether a node assigns the output of an optimizer or a layer that now updates its input in place."""
    made = node.inputs[0].producer if isinstance(node.op, AssignVariable) else None
    return made is not None and (made.op.name in STATES or isinstance(made.op, BatchNormTraining | Dropout))


def _changing(node: Node, constants: dict[str, Value]) -> Node:
    """Gives optimizers and assignments a single output that nothing reads; returns other nodes unchanged."""
    if isinstance(node.op, AssignVariable):
        target = constants[node.op.variable or ""]
        inputs = (target, *node.inputs)
        node.set_inputs(())
        return Node(Assign(), node.name, inputs, (_unread(node.name),))
    if isinstance(node.op, BatchNormTraining):
        node.op = FusedBatchNorm(epsilon=node.op.epsilon, momentum=node.op.momentum, mode=1)
    if isinstance(node.op, Dropout):
        node.outputs = node.outputs[:2]  # the seed is updated in place
    if node.op.name in STATES:
        node.outputs = (_unread(node.name),)
        node.outputs[0].producer = node
    return node


def _unread(name: str) -> Value:
    return Value(name, DataType.FLOAT32, (1,), format=Format.NHWC)

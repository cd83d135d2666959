"""Converts MindSpore's training graphs, in which optimizers and assignments change constants in place, to graphs with
variables."""

from __future__ import annotations

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Module, Node, Value, constant
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.training.builder import Builder
from mslite.converter.training.differentiation import TrainingGraph
from mslite.converter.training.losses import loss_nodes
from mslite.converter.training.lstm_gradients import join_lstm_gradients
from mslite.converter.training.training_passes import with_steps
from mslite.converter.training.variables import LEARNING_RATE, Variables

STATES = {"SGD": (3, 5), "ApplyMomentum": (1,), "Adam": (1, 2), "AdamWeightDecay": (1, 2)}
"""Optimizer -> the inputs that it changes besides the weight, in the order of its outputs."""
_RATES = {"SGD": 2, "ApplyMomentum": 2, "Adam": 5, "AdamWeightDecay": 3}
_SHAPED = ("Conv2DBackpropInputFusion", "Conv2DBackpropFilterFusion", "DeConv2DGradFilter")
_CHANNELS_FIRST = (Format.NCHW, Format.KCHW)


def is_training(module: Module) -> bool:
    """Returns whether a module has optimizers that change their inputs."""
    return any(
        node.op.name in STATES and len(node.outputs) <= len(STATES[node.op.name])
        for graph in module.graphs
        for node in graph.nodes
    )


def with_variables_for_constants(module: Module, source: str = "the model") -> TrainingGraph:
    """Converts a module with gradients and optimizers to a training graph with variables, in place, and returns it.

    The outputs are the losses of the graph, then the inputs of the loss: the outputs of inference.

    Raises ConversionError if it has no loss, or an optimizer changes a value that is not a constant.
    """
    graph = module.main
    losses = loss_nodes(graph.nodes)
    if not losses:
        raise ConversionError(
            f"{source}: the loss was not found: the name of its node must contain 'loss_fct', '_loss_fn' or "
            "'SigmoidCrossEntropy'",
            code=ReturnCode.NOT_SUPPORTED,
        )
    made = {id(value) for node in losses for value in node.outputs}
    given = {id(value) for value in graph.inputs}
    results = [v for node in losses for v in node.inputs if not v.is_constant and id(v) not in made | given]
    dummies = {id(value) for node in graph.nodes if node.op.name in (*STATES, "Assign") for value in node.outputs}
    outputs = [value for value in graph.outputs if id(value) not in dummies] or [losses[-1].outputs[0]]
    join_lstm_gradients(graph, source)
    trained = _Adoption(module, source).run()
    graph.outputs = [*outputs, *dict.fromkeys(value for value in results if value not in outputs)]
    graph.nodes = live_nodes(graph)
    infer_shapes(module, Context())
    return TrainingGraph(module, len(outputs), trained)


class _Adoption:
    def __init__(self, module: Module, source: str) -> None:
        self.graph, self.source = module.main, source
        self.build = Builder(self.graph)
        self.variables = Variables(self.build)
        self.reads: dict[Value, Value] = {}

    def run(self) -> tuple[str, ...]:
        """Rewrites the nodes and returns the names of the weights."""
        nodes = list(self.graph.nodes)
        self.graph.nodes = []
        changing = [node for node in nodes if node.op.name in (*STATES, "Assign", "AssignAdd")]
        for node in changing:
            states = STATES.get(node.op.name, ())
            for value in [node.inputs[0], *(node.inputs[place] for place in states)]:
                self.variable(node, value, value.name)
            if node.op.name in _RATES and node.inputs[_RATES[node.op.name]].is_constant:
                self.variable(node, node.inputs[_RATES[node.op.name]], LEARNING_RATE)
        self.graph.nodes += [node for node in nodes if node not in changing]
        for node in nodes:
            self.shape_of_result(node)
        trained = []
        others, steps = self.graph.nodes, []
        for node in changing:
            self.graph.nodes = []
            if node.op.name in STATES:
                trained.append(self.name_of(node.inputs[0]))
                self.optimizer(node)
            else:
                self.assignment(node)
            steps.append(self.graph.nodes)
        self.graph.nodes = with_steps(others, steps)
        return tuple(dict.fromkeys(trained))

    def variable(self, node: Node, value: Value, name: str) -> None:
        """Makes all readers of the constant `value` read a variable."""
        if value in self.reads.values():
            return
        if value.data is None or value.dtype is not DataType.FLOAT32:
            raise ConversionError(
                f"{self.source}: {node.op.name} '{node.name}' changes '{value.name}', which is not a float32 constant",
                code=ReturnCode.NOT_SUPPORTED,
            )
        if name in self.variables.first:
            name = self.build.name(name)
        users = list(dict.fromkeys(value.users))
        if not value.shape:  # a scalar is stored as a vector of one element
            flat = constant(self.build.name(f"{value.name}/flat"), np.asarray(value.data).reshape(1), Format.NHWC)
            read = self.variables.read(name, flat)
        else:
            read = self.variables.read(name, value)
        self.reads[value] = read
        for user in users:
            user.replace_input(value, read)

    def name_of(self, read: Value) -> str:
        assert read.producer is not None
        return str(getattr(read.producer.op, "variable", read.name))

    def optimizer(self, node: Node) -> None:
        """Adds the outputs of an optimizer, and assigns them to variables."""
        states = [node.inputs[0], *(node.inputs[place] for place in STATES[node.op.name])]
        shapes = [value.shape or (1,) for value in states]
        inputs = list(node.inputs)
        node.set_inputs(())
        results = self.build.nodes(node.op, node.name, inputs, shapes)
        for read, value in zip(states, results, strict=True):
            self.variables.assign(self.name_of(read), value)

    def assignment(self, node: Node) -> None:
        target, value = node.inputs[:2]
        shape = target.shape or (1,)
        node.set_inputs(())
        if node.op.name == "AssignAdd":
            value = self.build.node(AddFusion(), node.name, [target, value], shape)
        self.variables.assign(self.name_of(target), self.build.reshaped(value, shape, f"{node.name}/shaped"))

    def shape_of_result(self, node: Node) -> None:
        """Converts shape inputs of gradients to channels last, which the kernels need."""
        if node.op.name == "FlattenGrad":
            node.op = Reshape()
        if node.op.name not in _SHAPED or len(node.inputs) < 3 or node.inputs[2].data is None:
            return
        sizes = node.inputs[2]
        if sizes.format in _CHANNELS_FIRST and sizes.array().size == 4:
            fresh = self.build.constant(f"{sizes.name}/nhwc", sizes.array().reshape(-1)[[0, 2, 3, 1]].astype(np.int32))
            node.set_inputs([*node.inputs[:2], fresh])

"""Makes the training graph of an inference graph: reverse-mode differentiation over MindIR."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Shape, Value
from mslite.converter.mindir.ops.activation import PReLUFusion
from mslite.converter.mindir.ops.arithmetic import AddFusion, AddN, BiasAdd, MulFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.normalization import (
    ChannelsLastInstanceNorm,
    GroupNormFusion,
    InstanceNorm,
    LayerNormFusion,
    RmsNorm,
)
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.training import BatchNormTraining, Dropout
from mslite.converter.mindir.ops.unary import Round
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.rule import apply_rules
from mslite.converter.passes.rules import transposed_norm
from mslite.converter.training.builder import Builder
from mslite.converter.training.frozen import frozen_constants
from mslite.converter.training.gradients import RULES, RULES_OF_SEVERAL, Call, NoGradientError, shape_of
from mslite.converter.training.losses import LossNodes, add_loss
from mslite.converter.training.normalise import (
    Scales,
    check_trainable,
    own_constants,
    take_apart,
    train_batch_norm,
    train_dropout,
    with_rows,
)
from mslite.converter.training.optimizers import Steps, Variables, clipped
from mslite.converter.training.settings import BatchNorm, TrainSettings

_PRODUCTS = (Conv2DFusion, Conv2dTransposeFusion, MatMulFusion, FullConnection)
_NORMS = (LayerNormFusion, RmsNorm, InstanceNorm, ChannelsLastInstanceNorm, GroupNormFusion)
_WITH_WEIGHTS = (*_PRODUCTS, *_NORMS, PReLUFusion, BatchNormTraining)
_STATISTICS = (3, 4)
"""Operands of BatchNormTraining that it moves itself: results 1 and 2."""
_WITHOUT_GRADIENT = ("LSTM", "GRU", "RNNSequence", "LSTMSequence", "GRUSequence")
"""Operators whose weights are trained elsewhere."""


def _without_ones(shape: Shape) -> Shape:
    """Without the dimensions of size 1 that it begins with."""
    first = next((i for i, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


@dataclass
class TrainingGraph:
    """`module`: outputs are `losses` losses, then the outputs of inference. `parameters`: the names of the variables that are
    trained; each is the name of the constant in the inference model. `kept`: those of constants that stay although nobody froze
    them, because nothing tells them from what is no parameter."""

    module: Module
    losses: int
    parameters: tuple[str, ...]
    kept: tuple[str, ...] = ()


def training_graph(
    module: Module, settings: TrainSettings, source: str = "the model", optimizers_only: bool = False
) -> TrainingGraph:
    """The training graph of `module`, which it becomes. `optimizers_only`: each step is one of MindSpore's optimisers, even where
    simpler nodes would do.

    Raises ConversionError, with all nodes that stand in the way.
    """
    if settings.batch is not None:
        with_rows(module, settings.batch)
    check_trainable(module, source)
    context = Context()
    infer_shapes(module, context)
    graph = module.main
    _choose_output(module, settings.output, source)
    apply_rules((transposed_norm.RULE,), module, context)
    train_dropout(graph, settings.dropout)
    trains_batch_norm = settings.batch_norm is BatchNorm.TRAIN
    if trains_batch_norm:
        own_constants(graph)
    frozen = frozen_constants(graph.nodes, settings.frozen, source)
    if trains_batch_norm:
        train_batch_norm(graph, frozen)
    scales = take_apart(graph)
    infer_shapes(module, context)
    return _Differentiation(module, settings, source, scales, frozen).run(context, optimizers_only)


def _choose_output(module: Module, name: str, source: str) -> None:
    """Leaves the output of this name, or the only one. Raises ConversionError."""
    graph = module.main
    chosen = [value for value in graph.outputs if not name or value.name == name]
    if len(chosen) != 1:
        names = ", ".join(f"'{value.name}'" for value in graph.outputs)
        reason = f"'{name}' is none of its outputs" if name else "a loss is computed of one output; it has several"
        raise ConversionError(
            f"{source}: {reason}: {names}. Choose one with output=NAME in [train_param]",
            code=ReturnCode.INPUT_PARAMETER_INVALID if name else ReturnCode.NOT_SUPPORTED,
        )
    graph.outputs = chosen
    module.outputs = None
    graph.nodes = live_nodes(graph)


def _layer_states(node: Node) -> list[tuple[int, Value]]:
    """The operands that a layer moves itself, and what it makes of them."""
    if isinstance(node.op, BatchNormTraining):
        return list(zip(_STATISTICS, node.outputs[1:3], strict=True))
    return [(1, node.outputs[2])] if isinstance(node.op, Dropout) and len(node.inputs) > 1 else []


class _Differentiation:
    def __init__(
        self, module: Module, settings: TrainSettings, source: str, scales: Scales, frozen: set[Value]
    ) -> None:
        self.module, self.settings, self.source, self.scales = module, settings, source, scales
        self.graph: Graph = module.main
        self.forward = list(self.graph.nodes)
        self.output = self.graph.outputs[0]
        self.frozen = frozen
        self.behind_weights: set[Node] = set()
        for node in self.forward:
            before = {value.producer for value in node.inputs}
            if isinstance(node.op, _WITH_WEIGHTS) or self.behind_weights & before:
                self.behind_weights.add(node)

    def run(self, context: Context, optimizers_only: bool) -> TrainingGraph:
        parameters = self.parameters()
        kept = self.kept(parameters)
        self.graph.nodes = []
        build = Builder(self._whole())
        build.graph = self.graph
        variables = Variables(build)
        reads = {}
        for value in parameters:
            readers = list(dict.fromkeys(value.users))
            reads[value.name] = variables.read(value.name, value)
            for node in readers:
                node.replace_input(value, reads[value.name])
        moved = self.read_layer_states(variables)
        self.graph.nodes.extend(self.forward)
        for name, value in moved.items():
            variables.assign(name, value)
        loss = add_loss(build, self.settings.loss, self.output, self.source)
        gradients = self.backward(build, loss, set(reads.values()))
        trained = [value for value in reads.values() if value in gradients]
        if self.settings.clip_norm is not None:
            shorter = clipped(build, [gradients[value] for value in trained], self.settings.clip_norm)
            gradients.update(zip(trained, shorter, strict=True))
        steps = Steps(build, variables, self.settings, optimizers_only)
        for name, value in reads.items():
            gradient = gradients.get(value)
            if gradient is not None:
                steps.add(name, value, gradient)
        self.graph.outputs = [loss.loss, self.output]
        self.graph.nodes = live_nodes(self.graph)
        infer_shapes(self.module, context)
        names = tuple(name for name, value in reads.items() if value in gradients)
        return TrainingGraph(self.module, 1, names, kept)

    def _whole(self) -> Graph:
        """For the names that are taken."""
        return Graph("", self.graph.inputs, self.graph.outputs, self.forward)

    def read_layer_states(self, variables: Variables) -> dict[str, Value]:
        """Lets layers read running statistics and seeds from variables; what these hold afterwards."""
        after = {}
        for node in self.forward:
            for place, result in _layer_states(node):
                before = node.inputs[place]
                node.set_inputs(
                    [variables.read(before.name, before) if i == place else v for i, v in enumerate(node.inputs)]
                )
                after[before.name] = result
        return after

    # ---- which constants are trained ----

    def parameters(self) -> list[Value]:
        """Weights and biases of convolutions and products, scales and offsets of normalisation, or what the settings name, in the
        order of their use."""
        found: dict[Value, None] = {}
        for node in self.forward:
            for place, value in enumerate(node.inputs):
                if self._is_parameter(node, place, value) and value not in self.frozen:
                    found[value] = None
        if not found:
            what = "has nothing to train" if not self.frozen else "has nothing to train beside what is frozen"
            raise ConversionError(f"{self.source}: the model {what}", code=ReturnCode.NOT_SUPPORTED)
        return list(found)

    def kept(self, parameters: list[Value]) -> tuple[str, ...]:
        """Of the numbers that are computed with behind layers with weights: those that are no parameters."""
        known = {*parameters, *self.frozen, *self.scales.statistics}
        found = [
            value.name
            for node in self.forward
            for place, value in enumerate(node.inputs)
            if node in self.behind_weights
            and not (isinstance(node.op, BatchNormTraining) and place in _STATISTICS)
            and value.data is not None
            and value.dtype is DataType.FLOAT32
            and value.data.size > 1
            and value not in known
        ]
        return tuple(dict.fromkeys(found))

    def _is_parameter(self, node: Node, place: int, value: Value) -> bool:
        if value.data is None or value.dtype is not DataType.FLOAT32:
            return False
        if self.settings.trained:
            return value.name in self.settings.trained
        if not place:  # only a table of embeddings is a first operand
            return isinstance(node.op, Gather)
        if isinstance(node.op, BatchNormTraining) and place in _STATISTICS:
            return False
        if isinstance(node.op, _WITH_WEIGHTS):
            return True
        if value in self.scales.trained:
            return node in self.behind_weights
        if value in self.scales.statistics:
            return False
        # What is added to or multiplied with channels, or heads of them: a bias, or what is left of a normalisation.
        own = _without_ones(shape_of(value))
        is_vector = own != () and shape_of(node.outputs[0])[-len(own) :] == own
        before = node.inputs[0].producer
        return (
            isinstance(node.op, AddFusion | BiasAdd | MulFusion)
            and is_vector
            and before is not None
            and self._comes_of_product(before, prod(own))
        )

    def _comes_of_product(self, node: Node, channels: int) -> bool:
        """Whether it comes out of a product with so many channels, directly, in another shape, or by other such vectors."""
        if isinstance(node.op, _PRODUCTS):
            return shape_of(node.outputs[0])[-1] == channels
        before = node.inputs[0].producer if node.inputs else None
        is_between = isinstance(node.op, AddFusion | MulFusion | BiasAdd | Reshape)
        return is_between and before is not None and self._comes_of_product(before, channels)

    def untrainable(self) -> list[Blocker]:
        """Layers whose weights would stay what they are, and are not said to be frozen."""
        if self.settings.trained:
            return []  # who names what is trained knows what is not
        found = []
        for node in self.forward:
            weights = [
                value.name
                for value in node.inputs
                if value.is_constant and value.dtype is DataType.FLOAT32 and value not in self.frozen
            ]
            if node.op.name in _WITHOUT_GRADIENT and weights:
                reason = "its weights have no gradient here"
                found.append(Blocker(node.name, node.op.name, reason, f"Train the rest, frozen={','.join(weights)}"))
        return found

    # ---- gradients ----

    def backward(self, build: Builder, loss: LossNodes, parameters: set[Value]) -> dict[Value, Value]:
        """The gradient of the loss for every value that a parameter leads to, parameters among them."""
        needed = set(parameters)
        for node in self.forward:
            if any(value in needed for value in node.inputs):
                needed.update(node.outputs)
        gradients: dict[Value, Value] = {loss.of: loss.gradient}
        if loss.of not in needed:
            raise ConversionError(f"{self.source}: the output depends on no parameter", code=ReturnCode.NOT_SUPPORTED)
        blockers = self.untrainable()
        parts: dict[Value, list[Value]] = {loss.of: [loss.gradient]}
        for node in reversed(self.forward):
            known = [self._total(build, value, parts) for value in node.outputs]
            if not any(known) or not any(value in needed for value in node.inputs):
                continue
            try:
                found = self._gradients(build, node, known, needed)
            except NoGradientError as error:
                blockers.append(Blocker(node.name, node.op.name, error.reason, error.remedy))
                found = list(node.inputs)  # whatever has the shape: the search for blockers goes on
            for value, gradient in zip(node.inputs, found, strict=True):
                if gradient is not None and value in needed:
                    parts.setdefault(value, []).append(gradient)
        if blockers:
            raise ConversionError(
                f"{self.source}: {len(blockers)} node(s) have no gradient", tuple(blockers), ReturnCode.NOT_SUPPORTED
            )
        for value in parameters:
            total = self._total(build, value, parts)
            if total is not None:
                gradients[value] = total
        return gradients

    def _gradients(
        self, build: Builder, node: Node, known: list[Value | None], needed: set[Value]
    ) -> list[Value | None]:
        if self.settings.straight_through and isinstance(node.op, Round):
            return [known[0]]
        call = Call(node, build, tuple(value in needed for value in node.inputs))
        of_several = RULES_OF_SEVERAL.get(node.op.name)
        if of_several is not None:
            return of_several(call, known)
        rule = RULES.get(node.op.name)
        if rule is None or any(known[1:]) or known[0] is None:
            raise NoGradientError("this operator has no gradient here")
        return rule(call, known[0])

    def _total(self, build: Builder, value: Value, parts: dict[Value, list[Value]]) -> Value | None:
        """The sum of what all readers of a value say."""
        found = parts.get(value, [])
        if len(found) > 1:
            op = AddFusion() if len(found) == 2 else AddN()
            found[:] = [build.node(op, f"Gradients/{value.name}/sum", found, shape_of(value))]
        return found[0] if found else None

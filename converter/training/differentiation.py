"""Makes a training graph from an inference graph by reverse-mode differentiation of MindIR."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Shape, Value
from mslite.converter.mindir.ops.activation import PReLUFusion
from mslite.converter.mindir.ops.arithmetic import AddFusion, AddN, BiasAdd, MulFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather, GatherNd
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.normalization import (
    ChannelsLastInstanceNorm,
    GroupNormFusion,
    InstanceNorm,
    LayerNormFusion,
    RmsNorm,
)
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.training import BatchNormTraining, Dropout
from mslite.converter.mindir.ops.unary import Round
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.rule import apply_rules
from mslite.converter.passes.rules import transposed_norm
from mslite.converter.training.adapters import add_adapters, others
from mslite.converter.training.builder import Builder
from mslite.converter.training.constants_by_name import named_constants
from mslite.converter.training.gradients import RULES, RULES_OF_SEVERAL, Call, NoGradientError, shape_of
from mslite.converter.training.losses import LossNodes, add_loss
from mslite.converter.training.normalize import (
    Scales,
    check_trainable,
    duplicate_constants,
    fold_frozen_norms,
    remove_split_concat,
    split_fused_nodes,
    train_batch_norm,
    train_dropout,
    with_rows,
)
from mslite.converter.training.optimizers import Steps, check_numbers, clipped
from mslite.converter.training.outer_products import (
    MAX_ROWS,
    MIN_PRODUCTS,
    is_small_matmul,
    merged_matmul,
    rows_of,
)
from mslite.converter.training.quantized_backbone import dequantize_trained_part, has_quantized_nodes
from mslite.converter.training.recurrent import unroll_layers
from mslite.converter.training.settings import TrainSettings
from mslite.converter.training.sparse_embeddings import check_settings, check_tables
from mslite.converter.training.sparse_update import (
    Candidate,
    Chosen,
    Slice,
    TrainableLayer,
    add_gate_masks,
    choose,
    gate_gradient,
    layers_of,
    sliced,
)
from mslite.converter.training.training_passes import Passes, with_steps
from mslite.converter.training.variables import Variables

_PRODUCTS = (Conv2DFusion, Conv2dTransposeFusion, MatMulFusion, FullConnection)
_NORMS = (LayerNormFusion, RmsNorm, InstanceNorm, ChannelsLastInstanceNorm, GroupNormFusion)
_WITH_WEIGHTS = (*_PRODUCTS, *_NORMS, PReLUFusion, BatchNormTraining)
_STATISTICS = (3, 4)
"""Inputs of BatchNormTraining that it updates itself: the running statistics, outputs 1 and 2."""
_MAX_PARTS = 8
"""Most gradients of a value that are kept before they are added: a recurrent weight has one for each step."""
_WITHOUT_GRADIENT = ("LSTM", "GRU", "RNNSequence", "LSTMSequence", "GRUSequence")
"""Recurrent operators whose weights cannot be trained unless the layers are unrolled."""


def _without_ones(shape: Shape) -> Shape:
    """Returns the shape without leading dimensions of 1."""
    first = next((i for i, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


@dataclass
class TrainingGraph:
    """A training graph.

    The outputs of `module` are `losses` losses, then the outputs of inference. `parameters` are the names of the
    trained variables: the name of the constant in the inference model, or `name/trained` if only some of its channels
    are trained. `kept` are the names of constants that are not trained because they could not be recognized as
    parameters."""

    module: Module
    losses: int
    parameters: tuple[str, ...]
    kept: tuple[str, ...] = ()
    passes: Passes = field(default_factory=Passes)


def training_graph(
    module: Module, settings: TrainSettings, source: str = "the model", optimizers_only: bool = False
) -> TrainingGraph:
    """Converts `module` to a training graph, in place, and returns it.

    `optimizers_only`: each step is an optimizer operator of MindSpore, even if simpler nodes are sufficient.

    Raises ConversionError, with all unsupported nodes.
    """
    context = Context()
    return _prepared(module, settings, source, context).run(context, optimizers_only)


def trainable_layers(module: Module, settings: TrainSettings, source: str = "the model") -> list[TrainableLayer]:
    """Returns the layers that [sparse_update] can name, in the order of the forward pass. Changes `module`. Raises
    ConversionError."""
    if has_quantized_nodes(module):
        dequantize_trained_part(module, None)
    return layers_of(_prepared(module, replace(settings, sparse=()), source, Context()).candidates())


def _prepared(module: Module, settings: TrainSettings, source: str, context: Context) -> _Differentiation:
    """Normalizes the inference graph to the form that the gradient rules support."""
    if settings.batch is not None:
        with_rows(module, settings.batch)
    if settings.sparse and has_quantized_nodes(module):
        infer_shapes(module, context)
        dequantize_trained_part(module, [name for name, _ in settings.sparse])
        check_trainable(module, source, has_integers=True)
    else:
        check_trainable(module, source)
    infer_shapes(module, context)
    graph = module.main
    _choose_output(module, settings.output, source)
    apply_rules((transposed_norm.RULE,), module, context)
    train_dropout(graph, settings.dropout)
    remove_split_concat(graph)
    if not settings.only:  # with `only`, the caller decides which constants are shared
        duplicate_constants(graph)
    frozen = set(named_constants(graph.nodes, settings.frozen, source, "frozen"))
    named = set(named_constants(graph.nodes, settings.trained, source, "trained"))
    unrolled = unroll_layers(graph, frozen, context)
    graph.nodes = live_nodes(graph)
    if settings.trains_batch_norm:
        fold_frozen_norms(module, frozen, context)
        train_batch_norm(graph, frozen)
    scales = split_fused_nodes(graph)
    scales.weights |= unrolled.weights
    scales.statistics |= unrolled.masks
    infer_shapes(module, context)
    if settings.lora is not None:
        frozen = others(graph.nodes, add_adapters(graph, settings.lora, frozen, source))
    return _Differentiation(module, settings, source, scales, frozen, named)


def _choose_output(module: Module, name: str, source: str) -> None:
    """Removes all outputs except that of this name, or the only one. Raises ConversionError."""
    graph = module.main
    chosen = [value for value in graph.outputs if not name or value.name == name]
    if len(chosen) != 1:
        names = ", ".join(f"'{value.name}'" for value in graph.outputs)
        reason = f"'{name}' is not an output" if name else "a loss needs one output, but the model has several"
        raise ConversionError(
            f"{source}: {reason}: {names}. Choose one with output=NAME in [train_param]",
            code=ReturnCode.INPUT_PARAMETER_INVALID if name else ReturnCode.NOT_SUPPORTED,
        )
    if not chosen[0].is_static:
        raise ConversionError(
            f"{source}: the shape of output '{chosen[0].name}' depends on the data, but a loss needs a fixed shape. "
            "Choose "
            "another output with output=NAME in [train_param], or train a part that ends before it",
            code=ReturnCode.NOT_SUPPORTED,
        )
    graph.outputs = chosen
    module.outputs = None
    graph.nodes = live_nodes(graph)


def _layer_states(node: Node) -> list[tuple[int, Value]]:
    """Returns the inputs that a layer updates itself (index), and the outputs with the new values."""
    if isinstance(node.op, BatchNormTraining):
        return list(zip(_STATISTICS, node.outputs[1:3], strict=True))
    return [(1, node.outputs[2])] if isinstance(node.op, Dropout) and len(node.inputs) > 1 else []


class _Differentiation:
    def __init__(
        self,
        module: Module,
        settings: TrainSettings,
        source: str,
        scales: Scales,
        frozen: set[Value],
        named: set[Value],
    ) -> None:
        self.module, self.settings, self.source, self.scales = module, settings, source, scales
        self.graph: Graph = module.main
        self.forward = list(self.graph.nodes)
        self.output = self.graph.outputs[0]
        self.frozen, self.named = frozen, named
        self.passes = Passes(self.forward)
        self.chosen = Chosen()
        self.gates: dict[Node, Value] = {}
        self.slices: dict[Node, Slice] = {}
        self.channels = self._channels()
        self.behind_weights: set[Node] = set()
        for node in self.forward:
            before = {value.producer for value in node.inputs}
            is_table = isinstance(node.op, Gather | GatherNd) and node.inputs[0].data is not None
            weighs = is_table or isinstance(node.op, _WITH_WEIGHTS) or not scales.weights.isdisjoint(node.inputs)
            if weighs or self.behind_weights & before:
                self.behind_weights.add(node)

    def run(self, context: Context, optimizers_only: bool) -> TrainingGraph:
        parameters = self.parameters()
        kept = self.kept(parameters)
        check_numbers(self.settings, self.source)
        check_settings(self.settings, optimizers_only, self.source)
        self.graph.nodes = []
        build = Builder(self._whole())
        build.graph = self.graph
        variables = Variables(build)
        reads = {}
        for value in parameters:
            if value in self.chosen.channels:
                part = self.cut(build, variables, value)
                reads[part.name] = part.trained
                continue
            readers = list(dict.fromkeys(value.users))
            reads[value.name] = variables.read(value.name, value)
            for node in readers:
                node.replace_input(value, reads[value.name])
        moved = self.read_layer_states(variables)
        self.graph.nodes.extend(self.forward)
        for name, value in moved.items():
            variables.assign(name, value)
        steps = Steps(build, variables, self.settings, optimizers_only)
        needed = self.needed(set(reads.values()))
        if self.settings.sparse:
            self.gates = add_gate_masks(build, needed)
        loss = add_loss(build, self.settings.loss, self.output, self.source, self.settings.gradient_scale)
        gradients = self.backward(build, loss, set(reads.values()), needed)
        trained = [value for value in reads.values() if value in gradients]
        if not trained:
            raise ConversionError(
                f"{self.source}: nothing can be trained: no gradient reaches a weight, because Round, comparisons "
                "and similar operators have no "
                "gradient. Train a part without them, for example up to an output=NAME before them in [train_param]",
                code=ReturnCode.NOT_SUPPORTED,
            )
        if self.settings.clip_norm is not None:
            shorter = clipped(build, [gradients[value] for value in trained], self.settings.clip_norm)
            gradients.update(zip(trained, shorter, strict=True))
        before_steps, self.graph.nodes = self.graph.nodes, []
        for name, value in reads.items():
            gradient = gradients.get(value)
            if gradient is not None:
                first = len(self.graph.nodes)
                steps.add(name, value, gradient)
                self.passes.steps.append(self.graph.nodes[first:])
        check_tables(self.settings, steps.sparse, self.source)
        self.graph.outputs = [loss.loss, self.output]
        self.graph.nodes = with_steps(before_steps, self.passes.steps)
        self.graph.nodes = live_nodes(self.graph)
        infer_shapes(self.module, context)
        names = tuple(name for name, value in reads.items() if value in gradients)
        return TrainingGraph(self.module, 1, names, kept, self.passes)

    def cut(self, build: Builder, variables: Variables, weight: Value) -> Slice:
        """Splits a weight of which only some channels are trained."""
        node, count = self.chosen.channels[weight]
        first = len(self.graph.nodes)
        self.slices[node] = sliced(build, variables, node, weight, count)
        place = self.forward.index(node)
        self.forward[place:place] = self.graph.nodes[first:]
        del self.graph.nodes[first:]
        return self.slices[node]

    def _whole(self) -> Graph:
        """Returns a graph with all nodes, for unique names."""
        return Graph("", self.graph.inputs, self.graph.outputs, self.forward)

    def read_layer_states(self, variables: Variables) -> dict[str, Value]:
        """Makes layers read running statistics and seeds from variables. Returns the new value of each variable.

        A layer that is applied several times continues with its updated state."""
        after: dict[str, Value] = {}
        for node in self.forward:
            for place, result in _layer_states(node):
                before = node.inputs[place]
                state = after[before.name] if before.name in after else variables.read(before.name, before)
                node.set_inputs([state if i == place else v for i, v in enumerate(node.inputs)])
                after[before.name] = result
        return after

    # ---- which constants are trained ----

    def parameters(self) -> list[Value]:
        """Returns the trained constants, in the order of use: weights and biases of convolutions and matmuls, scales
        and offsets of
        normalizations, or the constants that the settings name."""
        candidates = self.candidates()
        found = dict.fromkeys(value for _, _, value in candidates)
        if self.settings.sparse:
            self.chosen = choose(candidates, self.settings.sparse, self.source)
            trained = {*self.chosen.whole, *self.chosen.channels}
            constants = {value for node in self.forward for value in node.inputs if value.is_constant}
            self.frozen |= constants - trained
            found = {value: None for value in found if value in trained}
        if not found:
            what = "has no parameters" if not self.frozen else "has no parameters that are not frozen"
            raise ConversionError(f"{self.source}: the model {what}", code=ReturnCode.NOT_SUPPORTED)
        return list(found)

    def candidates(self) -> list[Candidate]:
        return [
            (node, place, value)
            for node in self.forward
            for place, value in enumerate(node.inputs)
            if self._is_parameter(node, place, value) and value not in self.frozen
        ]

    def kept(self, parameters: list[Value]) -> tuple[str, ...]:
        """Returns the names of constants after layers with weights that could not be recognized as parameters."""
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
            and value.is_parameter is None
            and value not in known
        ]
        return tuple(dict.fromkeys(found))

    def _is_parameter(self, node: Node, place: int, value: Value) -> bool:
        if value.data is None or value.dtype is not DataType.FLOAT32:
            return False
        if self.settings.only:
            return value.name in self.settings.only
        if value in self.named or value in self.scales.weights:
            return True
        if value.is_parameter is not None:
            return value.is_parameter
        if isinstance(node.op, Gather | GatherNd):
            return not place  # an embedding table
        if isinstance(node.op, BatchNormTraining) and place in _STATISTICS:
            return False
        if isinstance(node.op, _WITH_WEIGHTS):
            return place > 0
        if value in self.scales.trained:
            return node in self.behind_weights
        if value in self.scales.statistics:
            return False
        # A vector that is added to or multiplied with channels or heads: a bias, or a part of a normalization.
        own = _without_ones(shape_of(value))
        is_vector = own != () and shape_of(node.outputs[0])[-len(own) :] == own
        if not isinstance(node.op, AddFusion | BiasAdd | MulFusion) or not is_vector:
            return False
        return any(prod(own) in self.channels.get(other, ()) for other in node.inputs if other is not value)

    def _channels(self) -> dict[Value, frozenset[int]]:
        """Returns for each value the channel counts of the matmuls and convolutions that it comes from, through
        reshapes and vectors."""
        found: dict[Value, frozenset[int]] = {}
        for node in self.forward:
            if isinstance(node.op, _PRODUCTS):
                found[node.outputs[0]] = frozenset({shape_of(node.outputs[0])[-1]})
            elif isinstance(node.op, AddFusion | MulFusion | BiasAdd | Reshape | Transpose):
                found[node.outputs[0]] = frozenset().union(*(found.get(value, ()) for value in node.inputs))
        return found

    def untrainable(self) -> list[Blocker]:
        """Returns layers with weights that cannot be trained and are not frozen."""
        if self.settings.trained:
            return []  # the user names the trained constants
        found = []
        for node in self.forward:
            weights = [
                value.name
                for value in node.inputs
                if value.is_constant and value.dtype is DataType.FLOAT32 and value not in self.frozen
            ]
            if node.op.name in _WITHOUT_GRADIENT and weights:
                reason = "training of its weights is not supported"
                found.append(Blocker(node.name, node.op.name, reason, f"Train the rest, frozen={','.join(weights)}"))
        return found

    # ---- gradients ----

    def needed(self, parameters: set[Value]) -> set[Value]:
        """Returns the parameters and all values that depend on them."""
        needed = set(parameters)
        for node in self.forward:
            if any(value in needed for value in node.inputs):
                needed.update(node.outputs)
        return needed

    def backward(
        self, build: Builder, loss: LossNodes, parameters: set[Value], needed: set[Value]
    ) -> dict[Value, Value]:
        """Returns the gradients of the loss for the values in `needed`. Raises ConversionError with all nodes without
        a gradient."""
        gradients: dict[Value, Value] = {loss.of: loss.gradient}
        if loss.of not in needed:
            raise ConversionError(
                f"{self.source}: the output does not depend on a parameter", code=ReturnCode.NOT_SUPPORTED
            )
        blockers = self.untrainable()
        parts: dict[Value, list[Value]] = {loss.of: [loss.gradient]}
        for node in reversed(self.forward):
            first = len(self.graph.nodes)
            known = [self._total(build, value, parts) for value in node.outputs]
            if not any(known) or not any(value in needed for value in node.inputs):
                continue
            try:
                found = self._gradients(build, node, known, needed, parts)
            except NoGradientError as error:
                blockers.append(Blocker(node.name, node.op.name, error.reason, error.remedy))
                found = list(node.inputs)  # placeholders of the right shape, to find further blockers
            for value, gradient in zip(node.inputs, found, strict=True):
                if gradient is not None and value in needed:
                    own = parts.setdefault(value, [])
                    own.append(gradient)
                    if not blockers:
                        self._add_up(build, value, own)
            self.passes.gradients.update(dict.fromkeys(self.graph.nodes[first:], node))
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
        self,
        build: Builder,
        node: Node,
        known: list[Value | None],
        needed: set[Value],
        parts: dict[Value, list[Value]],
    ) -> list[Value | None]:
        if not all(value.is_static for value in (*node.inputs, *node.outputs)):
            raise NoGradientError("its shape depends on the data")
        if self.settings.straight_through and isinstance(node.op, Round):
            return [known[0]]
        call = Call(node, build, tuple(value in needed for value in node.inputs))
        of_several = RULES_OF_SEVERAL.get(node.op.name)
        if of_several is not None:
            return of_several(call, known)
        rule = RULES.get(node.op.name)
        if rule is None or any(known[1:]) or known[0] is None:
            raise NoGradientError("its gradient is not supported")
        if node in self.gates:
            return gate_gradient(call, known[0], self.gates[node])
        if node in self.slices:
            part = self.slices[node]
            found, of_channels = part.gradients(call, known[0])
            parts[part.trained] = [of_channels]
            return found
        return rule(call, known[0])

    def _add_up(self, build: Builder, value: Value, found: list[Value]) -> None:
        """Adds up gradients early if keeping them would need much memory."""
        name = f"Gradients/{value.name}/sum"
        waiting = [part for part in found if is_small_matmul(part)]
        if sum(rows_of(part) for part in waiting) >= MAX_ROWS:
            self._join(build, found, name)
        elif len(found) - len(waiting) >= _MAX_PARTS:
            others = [part for part in found if part not in waiting]
            found[:] = [*waiting, build.node(AddN(), name, others, shape_of(value))]

    def _join(self, build: Builder, found: list[Value], name: str) -> None:
        """Merges the small matmuls among the gradients of a value into one."""
        products = [part for part in found if is_small_matmul(part)]
        if len(products) >= MIN_PRODUCTS:
            others = [part for part in found if part not in products]
            found[:] = [*others, merged_matmul(build, products, name)]

    def _total(self, build: Builder, value: Value, parts: dict[Value, list[Value]]) -> Value | None:
        """Returns the sum of the gradients from all readers of a value, or None."""
        found = parts.get(value, [])
        if len(found) > 1:
            name = f"Gradients/{value.name}/sum"
            self._join(build, found, name)
            if len(found) > 1:
                op = AddFusion() if len(found) == 2 else AddN()
                found[:] = [build.node(op, name, found, shape_of(value))]
        return found[0] if found else None

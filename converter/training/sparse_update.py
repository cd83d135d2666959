"""Sparse updates: only the biases of some layers, or the weights of some of their input channels, are trained.

After Lin et al. 2022, "On-Device Training Under 256KB Memory". A weight with trained channels is stored as two
constants, which are concatenated before its layer: the trained channels, which come first, and the others. The
gradient needs only the same channels of the layer's input, so that only these are kept for the backward pass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.layer_names import is_named
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops import arithmetic
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.training import GateGrad, GateMask
from mslite.converter.spelling import meant
from mslite.converter.training.builder import Builder
from mslite.converter.training.gradients import RULES, Call, shape_of
from mslite.converter.training.gradients.rule import Gradients
from mslite.converter.training.settings import LayerUpdate
from mslite.converter.training.variables import Variables

SECTION = "sparse_update"
_FORM = (
    "write weights, weights:1/4 (a share of the input channels), weights:8 (a number of them), bias, or two of "
    "these with a comma"
)

Candidate = tuple[Node, int, Value]
"""A constant that could be trained: the layer, the index of the input, and the constant."""


def layer_updates(keys: Mapping[str, str]) -> tuple[tuple[str, LayerUpdate], ...]:
    """Returns the settings of [sparse_update]: names of layers, and the trained part of each. Raises UsageError."""
    if not keys:
        raise UsageError(f"INPUT ILLEGAL: [{SECTION}] needs the name of a layer, such as layer=weights:1/4,bias")
    return tuple((name, _layer_update(name, text)) for name, text in keys.items())


def _layer_update(name: str, text: str) -> LayerUpdate:
    found = LayerUpdate()
    for part in text.split(","):
        is_weights = re.fullmatch(r"weights(:(\d+(/\d+|\.\d+)?))?", part) is not None
        if part == "bias" and not found.bias:
            found = replace(found, bias=True)
        elif is_weights and not found.trains_weights:
            found = _with_amount(found, name, part)
        else:
            raise UsageError(f"INPUT ILLEGAL: [{SECTION}] {name}={text}: '{part}' is not valid; {_FORM}")
    return found


def _with_amount(update: LayerUpdate, name: str, part: str) -> LayerUpdate:
    number = part.partition(":")[2]
    if number.isdecimal():
        if int(number) > 0:
            return replace(update, channels=int(number))
    else:
        try:
            share = Fraction(number or 1)
        except ZeroDivisionError:
            share = Fraction(0)
        if 0 < share <= 1:
            return replace(update, share=share)
    raise UsageError(
        f"INPUT ILLEGAL: [{SECTION}] {name}: {part} must be a share above 0 and up to 1, or a number of channels"
    )


@dataclass
class Chosen:
    """The trained constants: `whole` ones; `channels` maps those with some trained channels to the layer and the
    number."""

    whole: dict[Value, None] = field(default_factory=dict)
    channels: dict[Value, tuple[Node, int]] = field(default_factory=dict)


def choose(candidates: Sequence[Candidate], updates: Sequence[tuple[str, LayerUpdate]], source: str) -> Chosen:
    """Returns the constants that the configuration selects. Raises ConversionError with all problems."""
    found = Chosen()
    problems = []
    for name, update in updates:
        own = [one for one in candidates if is_named(one[0].name, name) or is_named(one[2].name, name)]
        if not own:
            known = {node.name for node, _, _ in candidates}
            problems.append(f"'{name}' is not a layer with weights{meant(name, known)}")
            continue
        layers = dict.fromkeys(node for node, _, _ in own)
        every = [one for one in candidates if one[0] in layers]
        problems += _add(found, every, name, update)
    if problems:
        raise ConversionError(
            "\n".join([f"{source}: [{SECTION}] does not match the model:", *(f"  {one}" for one in problems)]),
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )
    return found


@dataclass(frozen=True)
class TrainableLayer:
    """A layer that [sparse_update] can name. `channels`: its input channels; 0 if they cannot be trained separately."""

    name: str
    has_weights: bool
    has_bias: bool
    channels: int


def layers_of(candidates: Sequence[Candidate]) -> list[TrainableLayer]:
    """Returns the layers with constants that could be trained."""
    layers: dict[Node, list[Candidate]] = {}
    for one in candidates:
        layers.setdefault(one[0], []).append(one)
    return [_layer(node, own) for node, own in layers.items()]


def _layer(node: Node, own: Sequence[Candidate]) -> TrainableLayer:
    weights = [value for _, place, value in own if not is_bias(node, place)]
    axis = channel_axis(node)
    apart = axis is not None and len(weights) == 1 and len(weights[0].users) == 1
    return TrainableLayer(
        node.name,
        bool(weights),
        any(is_bias(node, place) for _, place, _ in own),
        shape_of(weights[0])[axis] if apart and axis is not None else 0,
    )


def as_text(update: LayerUpdate) -> str:
    """Returns an update in the syntax of [sparse_update]."""
    parts = []
    if update.trains_weights:
        amount = update.channels or ("" if update.share == 1 else update.share)
        parts.append(f"weights:{amount}" if amount else "weights")
    return ",".join([*parts, *(["bias"] if update.bias else [])])


def is_bias(node: Node, place: int) -> bool:
    """Returns whether this input of a layer is the bias."""
    return place == 2 or isinstance(node.op, arithmetic.AddFusion | arithmetic.BiasAdd)


def _add(found: Chosen, own: Sequence[Candidate], name: str, update: LayerUpdate) -> list[str]:
    """Adds the trained constants of these layers to `found`. Returns problems."""
    biases = [value for node, place, value in own if is_bias(node, place)]
    weights = [(node, value) for node, place, value in own if not is_bias(node, place)]
    problems = []
    if update.bias and not biases:
        problems.append(f"'{name}' has no bias: leave out bias")
    if update.bias:
        found.whole.update(dict.fromkeys(biases))
    if update.trains_weights and not weights:
        problems.append(f"'{name}' has no weights: leave out weights")
    for node, value in weights if update.trains_weights else ():
        axis = channel_axis(node)
        if axis is None and update.share != 1:
            problems.append(
                f"'{node.name}' ({node.op.name}) does not support training of single channels: write weights or bias"
            )
            continue
        size = 1 if axis is None else shape_of(value)[axis]
        count = update.channels or max(1, round(update.share * size))
        if count > size:
            problems.append(f"'{node.name}' has {size} input channels, not {count}")
        elif count == size:
            found.whole[value] = None
        elif len(value.users) > 1:
            problems.append(f"'{node.name}' shares its weights with other layers: train all of its channels, or none")
        else:
            found.channels[value] = node, count
    return problems


def channel_axis(node: Node) -> int | None:
    """Returns the dimension of the input channels in the weight; None if channels cannot be trained separately."""
    if len(node.inputs) < 2 or node.inputs[1].shape is None:
        return None
    rank = len(node.inputs[1].shape)
    op = node.op
    if isinstance(op, Conv2DFusion):
        if is_depthwise(node):
            return 0
        return 3 if (op.group or 1) == 1 else None
    if isinstance(op, FullConnection):
        return 1 if shape_of(node.inputs[0])[-1] == shape_of(node.inputs[1])[1] else None
    if isinstance(op, MatMulFusion) and rank == 2 and not op.transpose_a and len(shape_of(node.inputs[0])) > 1:
        return 1 if op.transpose_b else 0
    return None


def is_depthwise(node: Node) -> bool:
    """Returns whether a node is a depthwise convolution with one filter per channel."""
    op = node.op
    if not isinstance(op, Conv2DFusion):
        return False
    channels = shape_of(node.inputs[0])[-1]
    return channels > 1 and op.group == channels == shape_of(node.inputs[1])[0]


@dataclass
class Slice:
    """A layer with the first `count` input channels of its weight trained: their variable, the constant of the other
    channels, and
    the same channels of the layer's input."""

    node: Node
    name: str
    """Name of the variable."""
    axis: int
    count: int
    trained: Value
    kept: Value
    x: Value

    def joined(self, build: Builder, name: str) -> Value:
        """Adds the concatenation of the whole weight, for each use, so that it is not kept in memory in between."""
        sizes = list(shape_of(self.kept))
        sizes[self.axis] += self.count
        return build.node(Concat(axis=self.axis), name, [self.trained, self.kept], tuple(sizes))

    def gradients(self, call: Call, dy: Value) -> tuple[Gradients, Value]:
        """Returns the gradients of the inputs, with None for the weight, and the gradient of the trained channels."""
        rule = RULES[self.node.op.name]
        inputs = list(self.node.inputs)
        if call.wanted[0]:
            inputs[1] = self.joined(call.build, call.name("weight/joined"))
        whole = Node(self.node.op, self.node.name, tuple(inputs), (_like(self.node.output),))
        wanted = (call.wanted[0], False, *call.wanted[2:])
        found = rule(replace(call, node=whole, wanted=wanted), dy)
        op = self.node.op
        part = dy
        if isinstance(op, Conv2DFusion):
            op = replace(op, in_channel=self.count)
            if is_depthwise(self.node):
                op = replace(op, out_channel=self.count, group=self.count)
                part = first_channels(call.build, dy, self.count, call.name("dy/first"))
        few = Node(op, self.node.name, (self.x, self.trained), (_like(part),))
        trained = rule(replace(call, node=few, wanted=(False, True)), part)[1]
        for stand_in in (whole, few):
            stand_in.set_inputs(())
        assert trained is not None
        return found, trained


_GATES = {ActivationType.RELU: (0.0, math.inf), ActivationType.RELU6: (0.0, 6.0), ActivationType.RELU1: (-1.0, 1.0)}
"""Range of outputs in which the derivative of these activations is 1; it is 0 elsewhere."""


def add_gate_masks(build: Builder, passed: set[Value]) -> dict[Node, Value]:
    """Adds a mask after each clamping activation that gradients pass through, one bit per element.

    The backward pass then reads the mask instead of the output of the activation."""
    masks = {}
    for node in list(build.graph.nodes):
        gate = _GATES.get(node.op.activation_type) if isinstance(node.op, Activation) else None
        if gate is None or node.output not in passed:
            continue
        shape = ((math.prod(shape_of(node.output)) + 7) // 8,)
        mask = build.node(GateMask(low=gate[0], high=gate[1]), f"{node.name}/gate", [node.output], shape)
        mask.dtype = DataType.UINT8
        build.graph.nodes.insert(build.graph.nodes.index(node) + 1, build.graph.nodes.pop())
        masks[node] = mask
    return masks


def gate_gradient(call: Call, dy: Value, mask: Value) -> Gradients:
    return [call.add(GateGrad(), "x", [dy, mask], call.shape(0))]


def _like(value: Value) -> Value:
    return Value(value.name, value.dtype, value.shape, format=value.format)


def first_channels(build: Builder, value: Value, count: int, name: str) -> Value:
    shape = shape_of(value)
    return build.slice(value, (0,) * len(shape), (*shape[:-1], count), name)


def sliced(build: Builder, variables: Variables, node: Node, value: Value, count: int) -> Slice:
    """Splits the weight `value` of `node` into a variable and a constant, and adds the nodes that join them."""
    axis = channel_axis(node)
    assert axis is not None
    first, rest = np.split(value.array(), [count], axis=axis)
    trained = build.constant(f"{value.name}/trained", np.ascontiguousarray(first))
    kept = build.constant(f"{value.name}/kept", np.ascontiguousarray(rest))
    read = variables.read(trained.name, trained)
    x = first_channels(build, node.inputs[0], count, f"{node.name}/first_channels")
    found = Slice(node, trained.name, axis, count, read, kept, x)
    node.replace_input(value, found.joined(build, f"{node.name}/weight"))
    return found

"""Adds losses: the mean loss of a step, and its gradient with respect to the model's output."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops import activation, arithmetic, training
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, ReduceMode
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Abs, Sign
from mslite.converter.training.builder import Builder
from mslite.converter.training.gradients import shape_of
from mslite.converter.training.settings import Loss

PREFIX = "Default/_loss_fn-"
"""Prefix of the names of loss nodes, by which MindSpore's runtime finds them."""


@dataclass
class LossNodes:
    """The `loss` [1] for `labels` and the value `of`, and its gradient with respect to `of`."""

    loss: Value
    labels: Value
    of: Value
    gradient: Value


def add_loss(build: Builder, kind: Loss, output: Value, source: str, scale: float = 1.0) -> LossNodes:
    """Adds the loss of the model's output, its labels, and the gradient multiplied by `scale`.

    Raises ConversionError if the output has the wrong shape or type."""
    of = _before_probabilities(kind, _channels_last(kind, output))
    shape = shape_of(of)
    if kind in (Loss.SOFTMAX, Loss.SPARSE_SOFTMAX) and len(shape) < 2:
        raise ConversionError(
            f"{source}: {kind.value} needs an output of rows and classes; '{of.name}' has the shape {list(shape)}",
            code=ReturnCode.SHAPE_ERROR,
        )
    makers = {
        Loss.SPARSE_SOFTMAX: _sparse,
        Loss.SOFTMAX: _dense,
        Loss.SQUARED: _squared,
        Loss.ABSOLUTE: _absolute,
    }
    made = makers.get(kind, _elementwise)(build, kind, of)
    if scale != 1.0:
        made.gradient = _scaled(build, made.gradient, scale)
    return made


def _channels_last(kind: Loss, output: Value) -> Value:
    """Returns the input of a last Transpose to channels first: the classes must be the last dimension."""
    if kind not in (Loss.SOFTMAX, Loss.SPARSE_SOFTMAX) or len(shape_of(output)) < 3:
        return output
    node = output.producer
    if node is not None and node.op.name in ("Squeeze", "Reshape") and _larger(node.inputs[0]) == _larger(output):
        node = node.inputs[0].producer  # the Reshape of a sequence, which is an image of one row
    if node is None or node.op.name != "Transpose" or node.inputs[1].data is None:
        return output
    rank, order = len(shape_of(node.output)), [int(axis) for axis in node.inputs[1].array().reshape(-1)]
    return node.inputs[0] if order == [0, rank - 1, *range(1, rank - 1)] else output


def _larger(value: Value) -> list[int]:
    """Returns the dimensions that are not 1."""
    return [size for size in shape_of(value) if size != 1]


def _before_probabilities(kind: Loss, output: Value) -> Value:
    """Returns the logits, which cross entropies need: the input of a last Softmax or sigmoid, else the output."""
    node = output.producer
    if node is None:
        return output
    rank = len(shape_of(output))
    if kind in (Loss.SOFTMAX, Loss.SPARSE_SOFTMAX) and isinstance(node.op, activation.Softmax):
        axis = node.op.axis[0] if node.op.axis else -1
        return node.inputs[0] if axis % rank == rank - 1 else output
    if kind is Loss.SIGMOID and isinstance(node.op, activation.Activation):
        return node.inputs[0] if node.op.activation_type is ActivationType.SIGMOID else output
    return output


def _labels(build: Builder, shape: tuple[int, ...], dtype: DataType = DataType.FLOAT32) -> Value:
    labels = Value(build.name("label"), dtype, shape, format=Format.NHWC)
    build.graph.inputs.append(labels)
    return labels


def _rows(build: Builder, of: Value) -> Value:
    shape = shape_of(of)
    return build.reshaped(of, (prod(shape[:-1]), shape[-1]), f"{PREFIX}logits")


def _sparse(build: Builder, kind: Loss, of: Value) -> LossNodes:
    logits = _rows(build, of)
    rows, classes = shape_of(logits)
    labels = _labels(build, (rows,), DataType.INT32)
    op = training.SparseSoftmaxCrossEntropyWithLogits()
    loss = build.node(op, f"{PREFIX}{kind.value}", [logits, labels], (1,))
    op = training.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)
    gradient = build.node(op, f"Gradients/{PREFIX}{kind.value}", [logits, labels], (rows, classes))
    return LossNodes(loss, labels, of, build.reshaped(gradient, shape_of(of), "Gradients/logits"))


def _dense(build: Builder, kind: Loss, of: Value) -> LossNodes:
    logits = _rows(build, of)
    rows, classes = shape_of(logits)
    labels = _labels(build, (rows, classes))
    op = training.SoftmaxCrossEntropyWithLogits()
    losses, all_rows = build.nodes(op, f"{PREFIX}{kind.value}", [logits, labels], [(rows, 1), (rows, classes)])
    gradient = _scaled(build, all_rows, 1 / rows)
    return LossNodes(_mean(build, losses), labels, of, build.reshaped(gradient, shape_of(of), "Gradients/logits"))


def _squared(build: Builder, kind: Loss, of: Value) -> LossNodes:
    shape = shape_of(of)
    labels = _labels(build, shape)
    difference = build.node(arithmetic.SubFusion(), f"{PREFIX}{kind.value}/difference", [of, labels], shape)
    squares = build.node(arithmetic.MulFusion(), f"{PREFIX}{kind.value}", [difference, difference], shape)
    return LossNodes(_mean(build, squares), labels, of, _scaled(build, difference, 2 / prod(shape)))


def _absolute(build: Builder, kind: Loss, of: Value) -> LossNodes:
    shape = shape_of(of)
    labels = _labels(build, shape)
    difference = build.node(arithmetic.SubFusion(), f"{PREFIX}{kind.value}/difference", [of, labels], shape)
    distances = build.node(Abs(), f"{PREFIX}{kind.value}", [difference], shape)
    sign = build.node(Sign(), f"Gradients/{PREFIX}sign", [difference], shape)
    return LossNodes(_mean(build, distances), labels, of, _scaled(build, sign, 1 / prod(shape)))


def _elementwise(build: Builder, kind: Loss, of: Value) -> LossNodes:
    shape = shape_of(of)
    labels = _labels(build, shape)
    sigmoid = kind is Loss.SIGMOID
    op = training.SigmoidCrossEntropyWithLogits() if sigmoid else training.SmoothL1Loss(beta=1.0)
    slope = training.SigmoidCrossEntropyWithLogitsGrad() if sigmoid else training.SmoothL1LossGrad(beta=1.0)
    losses = build.node(op, f"{PREFIX}{kind.value}", [of, labels], shape)
    share = build.constant(f"Gradients/{PREFIX}share", np.asarray([1 / prod(shape)], np.float32))
    gradient = build.node(slope, f"Gradients/{PREFIX}{kind.value}", [of, labels, share], shape)
    return LossNodes(_mean(build, losses), labels, of, gradient)


def _mean(build: Builder, losses: Value) -> Value:
    count = prod(shape_of(losses))
    flat = build.reshaped(losses, (count,), f"{PREFIX}flat")
    axes = build.sizes(f"{PREFIX}axis", (0,))
    op = ReduceFusion(mode=ReduceMode.ReduceMean, keep_dims=True, coeff=1.0)
    return build.node(op, f"{PREFIX}mean", [flat, axes], (1,))


def _scaled(build: Builder, value: Value, factor: float) -> Value:
    scale = build.constant(f"Gradients/{PREFIX}factor", np.float32(factor))
    return build.node(arithmetic.MulFusion(), f"Gradients/{PREFIX}scaled", [value, scale], shape_of(value))


_FRAGMENTS = ("loss_fct", "_loss_fn", "SigmoidCrossEntropy")


def loss_nodes(nodes: list[Node]) -> list[Node]:
    """Returns the loss nodes, by MindSpore's names."""
    return [node for node in nodes if of_training(node) and "Gradients" not in node.name]


def of_training(node: Node) -> bool:
    """Returns whether a node is part of the loss or of gradients, by its name."""
    return any(fragment in node.name for fragment in _FRAGMENTS)

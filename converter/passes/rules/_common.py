"""What several rules need: per-channel constants, replacing a node in place, activation limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.unary import Clip

Float = npt.NDArray[np.float32]

FUSED_ACTIVATIONS = (ActivationType.RELU, ActivationType.RELU6)
"""What MindSpore Lite's convolution, matrix and arithmetic kernels can do to their result."""


def become(node: Node, op: Operator, inputs: Sequence[Value], name: str | None = None) -> None:
    """Lets `node` compute its result by another operator."""
    node.op = op
    node.set_inputs(inputs)
    if name is not None:
        node.name = name


def activation_of(node: Node) -> ActivationType:
    """The activation that an operator has built in."""
    return ActivationType(getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION))


def has_no_activation(node: Node) -> bool:
    """No built-in activation; the weights may be quantized."""
    return activation_of(node) is ActivationType.NO_ACTIVATION


def is_plain(node: Node) -> bool:
    """No built-in activation and no quantization."""
    return activation_of(node) is ActivationType.NO_ACTIVATION and node.quant_type == 0


def clamp_of(node: Node) -> ActivationType | None:
    """RELU or RELU6 when that is what the node computes."""
    if isinstance(node.op, Activation) and node.op.activation_type in FUSED_ACTIVATIONS:
        return node.op.activation_type
    if isinstance(node.op, Clip) and len(node.inputs) == 1:
        return clamp_from_limits(node.op.min, node.op.max)
    return None


def clamp_from_limits(low: float, high: float) -> ActivationType | None:
    """RELU for [0, no limit), RELU6 for [0, 6]."""
    if low == 0 and high == 6:
        return ActivationType.RELU6
    if low == 0 and high >= np.finfo(np.float32).max:
        return ActivationType.RELU
    return None


def per_channel(data: Array, channels: int) -> Float | None:
    """A float32 constant that broadcasts along the last dimension only, as a vector of `channels`; else None."""
    if data.dtype != np.float32 or data.size not in (1, channels):
        return None
    if data.size == channels and channels > 1 and data.shape[-1] != channels:
        return None
    return np.ascontiguousarray(np.broadcast_to(data.reshape(-1), (channels,)).astype(np.float32))


def bias_value(added: Value, channels: int, own: Float | None, name: str) -> Value:
    """The bias of a layer whose `own` one, if any, and the constant behind it become one: that constant itself where it is all
    of it."""
    vector = per_channel(added.array(), channels)
    assert vector is not None
    if own is None and added.shape == (channels,):
        return added
    return float_value(name, vector if own is None else own + vector)


def last_dimension(value: Value) -> int | None:
    """The size of the last dimension where it is known."""
    return value.shape[-1] if value.shape and value.shape[-1] >= 0 else None


def broadcast_keeps_rank(node: Node, constant_value: Value) -> bool:
    """True when combining with the constant does not raise the rank of the other operand."""
    rank = node.outputs[0].rank
    return rank is not None and constant_value.rank is not None and constant_value.rank <= rank


def float_value(name: str, data: npt.ArrayLike) -> Value:
    return constant(name, np.ascontiguousarray(np.asarray(data, np.float32)))


def as_float(value: Value) -> Float:
    """The contents of a float32 constant."""
    return value.array().astype(np.float32, copy=False)


def is_float(value: Value) -> bool:
    return value.dtype is DataType.FLOAT32


def single(data: Array) -> float:
    """The number in a constant with one element."""
    return float(data.reshape(-1)[0].astype(np.float64))


def inverse_deviation(variance: Float, epsilon: float) -> Float:
    """1 / sqrt(variance + epsilon), rounded once."""
    roots = [1.0 / math.sqrt(float(item) + epsilon) for item in variance]
    return np.array(roots, np.float32)

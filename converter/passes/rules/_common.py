"""Functions for rules: per-channel constants, replacing a node in place, limits of activations."""

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
"""Activations that MindSpore Lite's convolution, matmul and arithmetic kernels can fuse."""


def replace_operator(node: Node, op: Operator, inputs: Sequence[Value], name: str | None = None) -> None:
    """Replaces the operator and the inputs of `node`, and its name if given."""
    node.op = op
    node.set_inputs(inputs)
    if name is not None:
        node.name = name


def activation_of(node: Node) -> ActivationType:
    """Returns the fused activation of a node."""
    return ActivationType(getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION))


def has_no_activation(node: Node) -> bool:
    """Returns whether a node has no fused activation; its weights may be quantized."""
    return activation_of(node) is ActivationType.NO_ACTIVATION


def is_plain(node: Node) -> bool:
    """Returns whether a node has no fused activation and is not quantized."""
    return activation_of(node) is ActivationType.NO_ACTIVATION and node.quant_type == 0


def relu_type(node: Node) -> ActivationType | None:
    """Returns RELU or RELU6 if the node computes it, else None."""
    if isinstance(node.op, Activation) and node.op.activation_type in FUSED_ACTIVATIONS:
        return node.op.activation_type
    if isinstance(node.op, Clip) and len(node.inputs) == 1:
        return clamp_from_limits(node.op.min, node.op.max)
    return None


def clamp_from_limits(low: float, high: float) -> ActivationType | None:
    """Returns RELU for [0, no limit), RELU6 for [0, 6], else None."""
    if low == 0 and high == 6:
        return ActivationType.RELU6
    if low == 0 and high >= np.finfo(np.float32).max:
        return ActivationType.RELU
    return None


def per_channel(data: Array, channels: int) -> Float | None:
    """Returns a float32 constant that varies along the last dimension only as a vector of `channels`, else None."""
    if data.dtype != np.float32 or data.size not in (1, channels):
        return None
    if data.size == channels and channels > 1 and data.shape[-1] != channels:
        return None
    return np.ascontiguousarray(np.broadcast_to(data.reshape(-1), (channels,)).astype(np.float32))


def bias_value(added: Value, channels: int, own: Float | None, name: str) -> Value:
    """Returns the bias of a layer: the added constant, plus the layer's `own` bias if it has one.

    The constant itself is returned if it can be used unchanged."""
    vector = per_channel(added.array(), channels)
    assert vector is not None
    if own is None and added.shape == (channels,):
        return added
    return float_value(name, vector if own is None else own + vector)


def last_dimension(value: Value) -> int | None:
    """Returns the size of the last dimension, or None if it is unknown."""
    return value.shape[-1] if value.shape and value.shape[-1] >= 0 else None


def broadcast_keeps_rank(node: Node, constant_value: Value) -> bool:
    """Returns whether broadcasting with the constant keeps the rank of the other input."""
    rank = node.outputs[0].rank
    return rank is not None and constant_value.rank is not None and constant_value.rank <= rank


def float_value(name: str, data: npt.ArrayLike) -> Value:
    return constant(name, np.ascontiguousarray(np.asarray(data, np.float32)))


def as_float(value: Value) -> Float:
    """Returns the elements of a constant as float32."""
    return value.array().astype(np.float32, copy=False)


def is_float(value: Value) -> bool:
    return value.dtype is DataType.FLOAT32


def single(data: Array) -> float:
    """Returns the element of a constant with one element."""
    return float(data.reshape(-1)[0].astype(np.float64))


def inverse_deviation(variance: Float, epsilon: float) -> Float:
    """Returns 1 / sqrt(variance + epsilon), computed in float64 and rounded once."""
    roots = [1.0 / math.sqrt(float(item) + epsilon) for item in variance]
    return np.array(roots, np.float32)

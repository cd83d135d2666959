"""Decompositions of activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.activation import Activation, Celu, Elu, HardSigmoid, LeakyRelu, Selu, Shrink
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, Minimum, MulFusion, SubFusion
from mslite.converter.mindir.ops.comparison import Greater
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.unary import Abs, Clip, Erf, Sign
from mslite.converter.passes.target.decompositions.float_arithmetic import (
    REMEDY,
    activation,
    as_number,
    clamp,
    linear,
    number,
    require_float,
    sign,
    softsign,
)
from mslite.converter.passes.target.writer import Writer, decomposes

_SELU = (1.6732632423543772, 1.0507009873554805)


def _elu(x: Value, alpha: float, writer: Writer, version: Version) -> Value:
    """Emits ELU: an operator in 1.3, a type of Activation in later versions."""
    if version is Version.V1_3:
        return writer.emit(Elu(alpha=alpha), x)
    return activation(ActivationType.ELU, x, writer, alpha=alpha)


def _selu(x: Value, alpha: float, gamma: float, writer: Writer, version: Version) -> Value:
    return linear(_elu(x, alpha, writer, version), gamma, 0, writer)


def _gelu(x: Value, writer: Writer) -> Value:
    """Emits GELU with the error function, because Activation computes the approximation with tanh."""
    share = linear(writer.emit(Erf(), linear(x, math.sqrt(0.5), 0, writer)), 0.5, 0.5, writer)
    return writer.emit(MulFusion(), x, share)


def _above(x: Value, threshold: float, writer: Writer) -> Value:
    """Emits 1 for elements above the threshold, else 0."""
    return as_number(writer.emit(Greater(), x, number(threshold, x, writer)), writer)


_Written = Callable[[Value, Activation, Writer, Version], Value]

_KINDS: dict[ActivationType, _Written] = {
    ActivationType.NO_ACTIVATION: lambda x, op, writer, version: writer.emit(MulFusion(), x, number(1, x, writer)),
    ActivationType.LINEAR: lambda x, op, writer, version: writer.emit(MulFusion(), x, number(1, x, writer)),
    ActivationType.ELU: lambda x, op, writer, version: _elu(x, op.alpha, writer, version),
    ActivationType.ABS: lambda x, op, writer, version: writer.emit(Abs(), x),
    ActivationType.RELU1: lambda x, op, writer, version: clamp(x, -1, 1, writer),
    ActivationType.HARD_TANH: lambda x, op, writer, version: clamp(x, op.min_val, op.max_val, writer),
    ActivationType.SOFTSIGN: lambda x, op, writer, version: softsign(x, writer),
    ActivationType.SELU: lambda x, op, writer, version: _selu(x, *_SELU, writer, version),
    ActivationType.THRESHOLDRELU: lambda x, op, writer, version: writer.emit(
        MulFusion(), x, _above(x, op.alpha, writer)
    ),
    ActivationType.SIGN: lambda x, op, writer, version: writer.emit(Sign(), x),
    ActivationType.GELU: lambda x, op, writer, version: _gelu(x, writer),
    ActivationType.FAST_GELU: lambda x, op, writer, version: writer.emit(
        Activation(activation_type=ActivationType.GELU, approximate=True), x
    ),
}


@decomposes("Activation")
def of_another_kind(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Activation)
    if x.quant or node.outputs[0].quant:
        raise Blocked("it is quantized", REMEDY)
    if x.dtype is DataType.INT32:
        return [_of_integers(x, op.activation_type, writer)]
    require_float(x)
    if op.activation_type not in _KINDS:
        raise Blocked(f"there is no decomposition of {op.activation_type.name}", REMEDY)
    return [_KINDS[op.activation_type](x, op, writer, version)]


def _of_integers(x: Value, kind: ActivationType, writer: Writer) -> Value:
    if kind is ActivationType.ABS:
        return writer.emit(Abs(), x)
    if kind is ActivationType.RELU:
        return writer.emit(Maximum(), x, number(0, x, writer))
    bounds = {ActivationType.RELU6: (0, 6), ActivationType.RELU1: (-1, 1)}
    if kind not in bounds:
        raise Blocked(f"there is no decomposition of {kind.name} for integers", REMEDY)
    return clamp(x, *bounds[kind], writer)


@decomposes("LeakyRelu")
def leaky_relu(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    assert isinstance(node.op, LeakyRelu)
    require_float(node.inputs[0])
    return [activation(ActivationType.LEAKY_RELU, node.inputs[0], writer, alpha=node.op.negative_slope)]


@decomposes("Elu")
def elu(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    assert isinstance(node.op, Elu)
    require_float(node.inputs[0])
    return [_elu(node.inputs[0], node.op.alpha, writer, version)]


@decomposes("Selu")
def selu(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    assert isinstance(node.op, Selu)
    require_float(node.inputs[0])
    return [_selu(node.inputs[0], node.op.alpha, node.op.gamma, writer, version)]


@decomposes("Celu")
def celu(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """CELU is alpha * ELU(x / alpha)."""
    x, op = node.inputs[0], node.op
    assert isinstance(op, Celu)
    require_float(x)
    if op.alpha <= 0:
        raise Blocked(f"alpha is {op.alpha:g}", REMEDY)
    return [linear(_elu(linear(x, 1 / op.alpha, 0, writer), 1, writer, version), op.alpha, 0, writer)]


@decomposes("Mish")
def mish(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = node.inputs[0]
    require_float(x)
    inner = activation(ActivationType.TANH, activation(ActivationType.SOFTPLUS, x, writer), writer)
    return [writer.emit(MulFusion(), x, inner)]


@decomposes("HardSigmoid")
def hard_sigmoid(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    assert isinstance(node.op, HardSigmoid)
    require_float(node.inputs[0])
    return [clamp(linear(node.inputs[0], node.op.alpha, node.op.beta, writer), 0, 1, writer)]


@decomposes("Shrink")
def shrink(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Shrink is x - bias * sign(x) outside of the threshold, else 0."""
    x, op = node.inputs[0], node.op
    assert isinstance(op, Shrink)
    require_float(x)
    if op.threshold < 0:
        raise Blocked(f"its threshold is {op.threshold:g}", REMEDY)
    moved = writer.emit(AddFusion(), x, linear(sign(x, writer), -op.bias, 0, writer)) if op.bias else x
    return [writer.emit(MulFusion(), moved, _above(writer.emit(Abs(), x), op.threshold, writer))]


@decomposes("Clip")
def clip(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers Clip; the bounds are inputs, or both are attributes."""
    op, (x, *bounds) = node.op, node.inputs
    assert isinstance(op, Clip)
    if x.quant:
        raise Blocked("it is quantized", REMEDY)
    if x.dtype is not DataType.INT32:
        require_float(x)
    if not bounds:
        return [clamp(x, op.min, op.max, writer)]
    known = [float(value.data.reshape(-1)[0]) for value in bounds if value.data is not None and value.data.size == 1]
    if len(known) == 2:
        return [clamp(x, known[0], known[1], writer)]
    y = x
    for kind, bound in zip((Maximum(), Minimum()), bounds, strict=False):
        y = writer.emit(kind, y, bound)
    return [y]


@decomposes("PReLUFusion")
def prelu(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """PReLU is max(x, 0) + slope * min(x, 0), for slopes of any shape."""
    x, slope = node.inputs
    require_float(x)
    below = writer.emit(MulFusion(), writer.emit(Minimum(), x, number(0, x, writer)), slope)
    return [writer.emit(AddFusion(), activation(ActivationType.RELU, x, writer), below)]


@decomposes("Sign")
def sign_of(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = node.inputs[0]
    if x.dtype is DataType.INT32:
        return [clamp(x, -1, 1, writer)]
    require_float(x)
    return [sign(x, writer)]


@decomposes("Neg")
def negative(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = node.inputs[0]
    if x.dtype is not DataType.INT32:
        require_float(x)
    return [writer.emit(SubFusion(), number(0, x, writer), x)]


@decomposes("Abs")
def absolute(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = node.inputs[0]
    if x.dtype is not DataType.INT32:
        raise Blocked(f"there is no decomposition for {x.dtype.name.lower()}", REMEDY)
    return [writer.emit(Maximum(), x, writer.emit(SubFusion(), number(0, x, writer), x))]

"""Activation functions and softmax."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import activation as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, Minimum, MulFusion
from mslite.converter.mindir.ops.comparison import Greater, Where
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.rearrange import Flatten, Reshape, Shape

from .call import Call
from .casting import cast
from .registry import onnx_operator

_PLAIN = {
    "Relu": ActivationType.RELU,
    "Sigmoid": ActivationType.SIGMOID,
    "Softplus": ActivationType.SOFTPLUS,
    "Softsign": ActivationType.SOFTSIGN,
    "Tanh": ActivationType.TANH,
    "HardSwish": ActivationType.HSWISH,
}


@onnx_operator(*_PLAIN)
def plain(call: Call) -> Value:
    call.ignore("consumed_inputs")
    return call.emit(ops.Activation(activation_type=_PLAIN[call.node.op_type]), call.input(0))


@onnx_operator("LeakyRelu")
def leaky_relu(call: Call) -> Value:
    call.ignore("consumed_inputs")
    op = ops.Activation(activation_type=ActivationType.LEAKY_RELU, alpha=call.real("alpha", 0.01))
    return call.emit(op, call.input(0))


@onnx_operator("Elu")
def elu(call: Call) -> Value:
    call.ignore("consumed_inputs")
    op = ops.Activation(activation_type=ActivationType.ELU, alpha=call.real("alpha", 1.0))
    return call.emit(op, call.input(0))


@onnx_operator("Celu")
def celu(call: Call) -> Value:
    return call.emit(ops.Celu(alpha=call.real("alpha", 1.0)), call.input(0))


@onnx_operator("Selu")
def selu(call: Call) -> Value:
    call.ignore("consumed_inputs")
    early = call.version < 6
    alpha = call.real("alpha", 1.6732 if early else 1.67326319217681884765625)
    gamma = call.real("gamma", 1.0507 if early else 1.05070102214813232421875)
    return call.emit(ops.Selu(alpha=alpha, gamma=gamma), call.input(0))


@onnx_operator("HardSigmoid")
def hard_sigmoid(call: Call) -> Value:
    """Slope 1/6 and offset 0.5 become MindSpore Lite's HSIGMOID activation, as in MobileNetV3."""
    call.ignore("consumed_inputs")
    alpha, beta = call.real("alpha", 0.2), call.real("beta", 0.5)
    if np.float32(alpha) == np.float32(1 / 6) and beta == 0.5:
        return call.emit(ops.Activation(activation_type=ActivationType.HSIGMOID), call.input(0))
    return call.emit(ops.HardSigmoid(alpha=alpha, beta=beta), call.input(0))


@onnx_operator("Mish")
def mish(call: Call) -> Value:
    return call.emit(ops.Mish(), call.input(0))


@onnx_operator("Shrink")
def shrink(call: Call) -> Value:
    return call.emit(ops.Shrink(bias=call.real("bias", 0.0), threshold=call.real("lambd", 0.5)), call.input(0))


@onnx_operator("Gelu")
def gelu(call: Call) -> Value:
    approximate = call.choice("approximate", call.text("approximate", "none"), {"none": False, "tanh": True})
    return call.emit(ops.Activation(activation_type=ActivationType.GELU, approximate=approximate), call.input(0))


@onnx_operator("Swish")
def swish(call: Call) -> Value:
    x, alpha = call.input(0), call.real("alpha", 1.0)
    if alpha == 1.0:
        return call.emit(ops.Activation(activation_type=ActivationType.SWISH), x)
    scaled = call.emit(MulFusion(), x, call.like(alpha, x))
    return call.emit(MulFusion(), x, call.emit(ops.Activation(activation_type=ActivationType.SIGMOID), scaled))


@onnx_operator("ThresholdedRelu")
def thresholded_relu(call: Call) -> Value:
    """Returns x if it is greater than alpha, else 0."""
    x = call.input(0)
    above = call.emit(Greater(), x, call.like(call.real("alpha", 1.0), x))
    return call.emit(Where(), above, x, call.like(0, x))


@onnx_operator("PRelu")
def prelu(call: Call) -> Value:
    """One slope in total or per channel becomes PReLUFusion; all other slopes max(x, 0) + slope * min(x, 0)."""
    call.ignore("consumed_inputs")
    x, slope = call.input(0), call.input(1)
    shape, rank, data = call.static_shape(slope), call.rank(x), slope.data
    if data is not None and data.size == 1:
        return call.emit(ops.PReLUFusion(channel_shared=True), x, call.const(data.reshape(-1)))
    if data is not None and shape is not None and rank == 4:
        leading_ones = call.version < 7 or shape[-2:] == (1, 1) or len(shape) == 0
        channels = shape[-3] if len(shape) >= 3 else data.size
        if leading_ones and data.size == channels:
            return call.emit(ops.PReLUFusion(), x, call.const(data.reshape(-1)))
    if call.version < 7 and shape is not None and len(shape) == 1 and shape[0] > 1:
        ones = (1,) * (call.require_rank(x) - 2)
        slope = call.emit(Reshape(), slope, call.ints((shape[0], *ones)))
    zero = call.like(0, x)
    negative = call.emit(MulFusion(), slope, call.emit(Minimum(), x, zero))
    return call.emit(AddFusion(), call.emit(Maximum(), x, zero), negative)


def _along_axis(call: Call, axis: int) -> Value:
    name = call.node.op_type
    x = call.input(0)
    if name == "Softmax" and call.dtype(x) is DataType.FLOAT64:  # the kernel computes float32
        return cast(call, call.emit(ops.Softmax(axis=(axis,)), cast(call, x, DataType.FLOAT32)), DataType.FLOAT64)
    if name == "Softmax":
        return call.emit(ops.Softmax(axis=(axis,)), x)
    if name == "LogSoftmax":
        return call.emit(ops.LogSoftmax(axis=axis), x)
    return call.emit(ops.Hardmax(axis=axis), x)


@onnx_operator("Softmax", "LogSoftmax", "Hardmax", since=13)
def softmax(call: Call) -> Value:
    return _along_axis(call, call.integer("axis", -1))


@onnx_operator("Softmax", "LogSoftmax", "Hardmax", since=1)
def softmax_of_matrix(call: Call) -> Value:
    """Before version 13, softmax works on a matrix: the dimensions from `axis` on are flattened into one."""
    x = call.input(0)
    axis, rank = call.integer("axis", 1), call.rank(x)
    if axis == -1:
        return _along_axis(call, -1)
    if rank is None:
        rank = call.require_rank(x)
    axis = call.axis(axis, rank)
    if axis == rank - 1:
        return _along_axis(call, axis)
    shape = call.static_shape(x)
    if shape is not None and (0 in shape or all(dim == 1 for dim in shape[axis + 1 :])):
        return _along_axis(call, axis)
    matrix = call.emit(Flatten(axis=axis), x)
    kinds = {"Softmax": ops.Softmax(axis=(-1,)), "LogSoftmax": ops.LogSoftmax(axis=-1), "Hardmax": ops.Hardmax(axis=-1)}
    result = call.emit(kinds[call.node.op_type], matrix)
    target = call.emit(Shape(), x) if shape is None else call.ints(shape)
    return call.emit(Reshape(), result, target)

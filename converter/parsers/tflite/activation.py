"""Activation functions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mslite.converter.mindir.graph import Value, constant
from mslite.converter.mindir.ops.activation import Activation, LogSoftmax, PReLUFusion, Softmax
from mslite.converter.mindir.ops.arithmetic import AddFusion, Minimum, MulFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.ops.unary import Clip
from mslite.converter.mindir.quantized import is_quantized

from .call import Call
from .registry import tflite_operator

_FLOAT_MAX = float(np.finfo(np.float32).max)

_FUNCTIONS = {
    "RELU": Activation(activation_type=ActivationType.RELU, max_val=_FLOAT_MAX),
    "RELU6": Activation(activation_type=ActivationType.RELU6, max_val=6.0),
    "RELU_N1_TO_1": Clip(min=-1.0, max=1.0),
    "RELU_0_TO_1": Clip(min=0.0, max=1.0),
    "TANH": Activation(activation_type=ActivationType.TANH),
    "LOGISTIC": Activation(activation_type=ActivationType.SIGMOID),
    "HARD_SWISH": Activation(activation_type=ActivationType.HSWISH),
    "ELU": Activation(activation_type=ActivationType.ELU, alpha=1.0),
    "LOG_SOFTMAX": LogSoftmax(axis=-1),
}


@tflite_operator(*_FUNCTIONS)
def function(call: Call) -> Value:
    return call.emit(_FUNCTIONS[call.node.name], call.input(0))


@tflite_operator("LEAKY_RELU")
def leaky_relu(call: Call) -> Value:
    op = Activation(activation_type=ActivationType.LEAKY_RELU, alpha=call.options.real("alpha"))
    return call.emit(op, call.input(0))


@tflite_operator("GELU")
def gelu(call: Call) -> Value:
    approximate = bool(call.options.integer("approximate"))
    return call.emit(Activation(activation_type=ActivationType.GELU, approximate=approximate), call.input(0))


@tflite_operator("SOFTMAX")
def softmax(call: Call) -> Value:
    """Converts SOFTMAX: softmax(beta * x) over the last dimension."""
    x, beta = call.input(0), call.options.real("beta")
    if beta > 0 and beta != 1.0 and is_quantized(x) and len(x.quant) == 1:
        x = _in_larger_steps(call, x, beta)
    elif beta != 1.0:
        x = call.emit(MulFusion(), x, call.const(beta, np.float32))
    return call.emit(Softmax(axis=(-1,)), x)


def _in_larger_steps(call: Call, x: Value, factor: float) -> Value:
    """Returns `factor` times a quantized x: a multiplication by the quantized value 1, with `factor` in the scales."""
    ones = np.ones(1, np.int16 if x.dtype is DataType.INT16 else np.int8)
    one = constant(call.scope.session.values.unique(f"{call.name}/factor"), ones)
    one.quant = (QuantParam(scale=factor, numBits=8 * ones.itemsize),)
    result = call.emit(MulFusion(), x, one)
    result.dtype, result.quant = x.dtype, (replace(x.quant[0], scale=x.quant[0].scale * factor),)
    return result


@tflite_operator("PRELU")
def prelu(call: Call) -> Value:
    """Converts PRELU: to PReLUFusion for a slope per channel, else to relu(x) + slope * min(x, 0) on float values."""
    x, slope = call.input(0), call.weight(1)
    shape = call.shape(1)
    if slope.data is not None and slope.data.size == (shape[-1] if shape else 1):
        flat = call.scope.derived(slope, "flat", slope.data.reshape(-1))
        flat.quant = slope.quant
        return call.emit(PReLUFusion(channel_shared=flat.data is not None and flat.data.size == 1), x, flat)
    # PReLUFusion reads a slope tensor with as many elements as channels as one slope per channel.
    if not call.is_float() and slope.data is not None and call.shape(0)[-1:] != (slope.data.size,):
        return call.emit(PReLUFusion(), x, slope)
    positive = call.emit(Activation(activation_type=ActivationType.RELU), x)
    negative = call.emit(Minimum(), x, call.const(0.0, np.float32))
    return call.emit(AddFusion(), positive, call.emit(MulFusion(), negative, slope))

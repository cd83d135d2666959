"""Activation functions."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation, LogSoftmax, Softmax
from mslite.converter.mindir.ops.arithmetic import Maximum
from mslite.converter.mindir.ops.enums import ActivationType, DataType

from .call import Call
from .registry import tf_operator

_FLOAT_MAX = float(np.finfo(np.float32).max)

RELU = Activation(activation_type=ActivationType.RELU, max_val=_FLOAT_MAX)
RELU6 = Activation(activation_type=ActivationType.RELU6, max_val=6.0)

_FUNCTIONS: dict[str, Operator] = {
    "Elu": Activation(activation_type=ActivationType.ELU, alpha=1.0),
    "LogSoftmax": LogSoftmax(axis=-1),
    "Relu6": RELU6,
    "Selu": Activation(activation_type=ActivationType.SELU),
    "Sigmoid": Activation(activation_type=ActivationType.SIGMOID),
    "Softmax": Softmax(axis=(-1,)),
    "Softplus": Activation(activation_type=ActivationType.SOFTPLUS),
    "Softsign": Activation(activation_type=ActivationType.SOFTSIGN),
    "Tanh": Activation(activation_type=ActivationType.TANH),
}


@tf_operator(*_FUNCTIONS)
def function(call: Call) -> Value:
    return call.emit(_FUNCTIONS[call.operator], call.input(0))


@tf_operator("Relu")
def relu(call: Call) -> Value:
    x = call.input(0)
    if x.dtype not in (DataType.FLOAT32, DataType.FLOAT16):
        return call.emit(Maximum(), x, call.like(0, x))
    return call.emit(RELU, x)


@tf_operator("LeakyRelu")
def leaky_relu(call: Call) -> Value:
    op = Activation(activation_type=ActivationType.LEAKY_RELU, alpha=call.real("alpha", 0.2))
    return call.emit(op, call.input(0))

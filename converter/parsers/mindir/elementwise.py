"""Element-wise activations and arithmetic."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops.activation import Activation, LogSoftmax, PReLUFusion, Softmax
from mslite.converter.mindir.ops.comparison import Where
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.unary import Cast, ExpFusion, Reciprocal, Rsqrt

from .call import Call
from .entries import Entry, Immediate
from .generic import cast_to_common_type, emit_in_model_layout
from .registry import primitive

_ACTIVATIONS = {
    "ReLU": ActivationType.RELU,
    "ReLU6": ActivationType.RELU6,
    "Sigmoid": ActivationType.SIGMOID,
    "Tanh": ActivationType.TANH,
    "HSigmoid": ActivationType.HSIGMOID,
    "HSwish": ActivationType.HSWISH,
    "Softplus": ActivationType.SOFTPLUS,
    "SeLU": ActivationType.SELU,
    "SiLU": ActivationType.SWISH,
    "Swish": ActivationType.SWISH,
    "Softsign": ActivationType.SOFTSIGN,
    "InplaceReLU": ActivationType.RELU,
    "InplaceSigmoid": ActivationType.SIGMOID,
    "InplaceSiLU": ActivationType.SWISH,
    "InplaceTanh": ActivationType.TANH,
    "SeLUExt": ActivationType.SELU,
}


@primitive(*_ACTIVATIONS, operators="Activation", arguments="input")
def activation(call: Call) -> Value:
    return call.emit(Activation(activation_type=_ACTIVATIONS[call.operator]), call.input(0))


@primitive("GeLU", operators="Activation", arguments="input approximate")
def gelu(call: Call) -> Value:
    """Converts GeLU, which is the approximation with tanh in MindSpore."""
    return call.emit(Activation(activation_type=ActivationType.GELU, approximate=True), call.input(0))


@primitive("Elu", "EluExt", "InplaceElu", operators="Activation", arguments="input_x alpha")
def elu(call: Call) -> Value:
    return call.emit(Activation(activation_type=ActivationType.ELU, alpha=call.real("alpha", 1.0)), call.input(0))


@primitive("LeakyReLU", "LeakyRelu", operators="Activation", arguments="input negative_slope")
def leaky_relu(call: Call) -> Value:
    slope = call.real("negative_slope", 0.2, "alpha")
    return call.emit(Activation(activation_type=ActivationType.LEAKY_RELU, alpha=slope), call.input(0))


@primitive("PReLU", operators="PReLUFusion", arguments="x weight")
def prelu(call: Call) -> Value:
    weight = call.shape(call.input(1))
    op = PReLUFusion(channel_shared=weight in ((1,), ()))
    return call.value(emit_in_model_layout(call, op, [call.input(0), call.input(1)]))


@primitive("Softmax", operators="Softmax", arguments="input axis")
def softmax(call: Call) -> Value:
    return call.emit(Softmax(axis=call.integers("axis") or (-1,)), call.input(0))


@primitive("LogSoftmax", operators="LogSoftmax", arguments="logits axis")
def log_softmax(call: Call) -> Value:
    return call.emit(LogSoftmax(axis=call.integer("axis", -1)), call.input(0))


_BINARY: dict[str, type[Operator]] = {
    "Add": ops.AddFusion,
    "TensorAdd": ops.AddFusion,
    "Sub": ops.SubFusion,
    "Mul": ops.MulFusion,
    "Div": ops.DivFusion,
}


@primitive(*_BINARY, operators="AddFusion SubFusion MulFusion DivFusion")
def binary(call: Call) -> Value:
    return call.emit(_BINARY[call.operator](), *cast_to_common_type(call, *both(call)))


@primitive("BiasAdd", operators="BiasAdd", arguments="input_x bias data_format")
def bias_add(call: Call) -> Entry:
    """Converts BiasAdd of MindSpore 2.4 and later, which has the layout as its third argument."""
    return emit_in_model_layout(call, ops.BiasAdd(), [call.input(0), call.input(1)])


@primitive("Pow", operators="PowFusion")
def power(call: Call) -> Value:
    return call.emit(ops.PowFusion(scale=1.0, shift=0.0), *cast_to_common_type(call, *both(call)))


def both(call: Call) -> tuple[Value, Value]:
    """Returns two operands of the same data type: a scalar gets the type of the tensor; for a floating-point scalar, an
    integer tensor is cast to float32."""
    if len(call.entries) < 2:
        raise call.block("it has fewer than two operands")
    first, second = call.entries[0], call.entries[1]
    for number, tensor in ((first, second), (second, first)):
        if isinstance(number, Immediate) and isinstance(number.contents, bool | int | float):
            value = call.value(tensor)
            dtype = call.dtype(value)
            if dtype is DataType.UNKNOWN:
                break
            if isinstance(number.contents, float) and numpy_type(dtype).kind != "f":
                value = call.cast(value, DataType.FLOAT32)
                made = call.const(number.contents, np.float32)
            else:
                made = call.like(number.contents, value)
            return (made, value) if number is first else (value, made)
    return call.input(0), call.input(1)


@primitive("Exp", "InplaceExp", operators="ExpFusion", arguments="input")
def exponential(call: Call) -> Value:
    return call.emit(ExpFusion(base=-1.0, scale=1.0, shift=0.0), call.input(0))


@primitive("Inv", operators="Reciprocal")
def reciprocal(call: Call) -> Value:
    return call.emit(Reciprocal(), call.input(0))


@primitive("ReciprocalSqrt", operators="Rsqrt")
def reciprocal_square_root(call: Call) -> Value:
    return call.emit(Rsqrt(), call.input(0))


@primitive("Cast", operators="Cast", arguments="input_x dtype")
def cast(call: Call) -> Value:
    """Converts Cast. The target type is an operand (a type or its TypeId) or an attribute."""
    entry = call.entries[1] if len(call.entries) > 1 else None
    wanted = entry.contents if isinstance(entry, Immediate) else call.attribute("dst_type")
    if wanted is None:
        wanted = call.attribute("DstT")
    if wanted == DataType.BFLOAT16 and not call.scope.session.written_by_mslite:
        wanted = DataType.FLOAT32  # bfloat16 is computed in float32
    if isinstance(wanted, DataType):
        return call.emit(Cast(), call.input(0), call.ints(int(wanted)))
    if isinstance(wanted, int):
        return call.emit(Cast(), call.input(0), call.ints(wanted))
    return call.emit(Cast(), call.input(0), call.input(1))


@primitive("AddN", "AccumulateNV2", operators="AddN")
def add_n(call: Call) -> Value:
    return call.emit(ops.AddN(), *call.tensors())


@primitive("Select", "SelectV2", operators="Where Select")
def select(call: Call) -> Value:
    values = call.tensors()
    if len(values) != 3:
        raise call.block(f"it has {len(values)} operands instead of 3")
    return call.emit(Where(), values[0], *cast_to_common_type(call, values[1], values[2]))

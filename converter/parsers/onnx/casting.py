"""Type conversions, and Identity."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Bitcast
from mslite.converter.mindir.ops.unary import Cast

from .call import Call
from .parameters import is_state
from .registry import onnx_operator
from .tensors import UnsupportedTensor, data_type


def cast(call: Call, value: Value, dtype: DataType) -> Value:
    """Returns `value` with elements of `dtype`, unchanged if it has this type."""
    if call.dtype(value) is dtype:
        return value
    return call.emit(Cast(), value, call.ints(int(dtype)))


def as_type(call: Call, value: Value, dtype: DataType) -> Value:
    """As `cast`, but converts a constant at once. For inputs such as shapes and axes."""
    if value.data is not None and value.dtype is not dtype:
        array = value.data
        if array.dtype.kind == "f" and numpy_type(dtype).kind in "iu":
            array = np.nan_to_num(array.astype(np.float64), nan=0.0)  # malformed file: sizes and axes must be integers
        if dtype is DataType.INT32:
            array = np.clip(array, -(2**31), 2**31 - 1)
        with np.errstate(over="ignore", invalid="ignore"):
            return call.const(array.astype(numpy_type(dtype)))
    return cast(call, value, dtype)


def to_int64(call: Call, value: Value) -> Value:
    """Casts an index or size, which MindIR computes as int32, to the int64 that ONNX defines."""
    return call.emit(Cast(), value, call.ints(int(DataType.INT64)))


def _target(call: Call, element_type: int) -> DataType:
    try:
        dtype = data_type(element_type)
    except UnsupportedTensor as error:
        raise call.block(str(error), "Cast to another type", "to") from None
    if dtype is DataType.STRING:
        raise call.block("casts to strings are not supported", "Move text processing out of the model", "to")
    return dtype


@onnx_operator("Cast")
def cast_operator(call: Call) -> Value:
    if call.version < 6:
        name = call.text("to")
        known = TensorProto.DataType.keys()
        element_type = TensorProto.DataType.Value(name) if name in known else 0
    else:
        element_type = call.integer("to")
    call.ignore("saturate", "round_mode")  # only for 8-bit floats
    if call.dtype(call.input(0)) is DataType.STRING:
        raise call.block("casts from strings are not supported", "Move text processing out of the model")
    return call.emit(Cast(), call.input(0), call.ints(int(_target(call, element_type))))


@onnx_operator("BitCast")
def bit_cast(call: Call) -> Value:
    """Reinterprets the bits as another type of the same width."""
    dtype, source = _target(call, call.integer("to")), call.require_dtype(call.input(0))
    if source is DataType.STRING or numpy_type(source).itemsize != numpy_type(dtype).itemsize:
        raise call.block("the types have different widths", "Export the model again", "to")
    return call.emit(Bitcast(data_type=int(dtype)), call.input(0))


@onnx_operator("CastLike")
def cast_like(call: Call) -> Value:
    call.ignore("saturate", "round_mode")
    return call.emit(Cast(), call.input(0), call.ints(int(call.require_dtype(call.input(1)))))


def _own_parameter(call: Call, value: Value) -> Value:
    """Returns a separate copy of a parameter if the model is trained.

    PyTorch's exporter stores equal parameters once and adds Identity nodes for the other names. Layers with equal
    initial values differ after training.
    """
    scope, name = call.scope, call.output_name()
    if not (scope.session.trains and scope.model.keeps_parameters and is_state(name) and value.data is not None):
        return value
    copy = make_constant(name, value.data)
    copy.is_parameter = value.is_parameter
    return copy


@onnx_operator("Identity")
def identity(call: Call) -> Value | tuple[Value, ...]:
    known = call.deferred_input(0, own=True)
    if known is None:
        value = call.tensor_or_sequence(0)
        return _own_parameter(call, value) if isinstance(value, Value) else value
    call.scope.defer(call.output_name(), known)
    return ()

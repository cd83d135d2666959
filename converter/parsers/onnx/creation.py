"""Operators that create tensors: constants, ranges, random values."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Value, data_type_of
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.mindir.ops import creation as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.comparison import Less
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Shape, Unsqueeze
from mslite.converter.mindir.ops.reduction import ArgMaxFusion
from mslite.converter.mindir.ops.unary import Cast, Log, Neg

from .call import Call
from .casting import as_type
from .registry import onnx_operator
from .tensors import UnsupportedTensor, data_type


@onnx_operator("Constant")
def constant(call: Call) -> Value:
    """Converts a constant to a value named like the node's output. It is not shared with equal constants."""
    array: Array
    if call.has_attribute("value"):
        tensor = call.tensor("value")
        assert tensor is not None
        array = tensor
    elif call.has_attribute("value_float"):
        array = np.array(call.real("value_float"), np.float32)
    elif call.has_attribute("value_int"):
        array = np.array(call.integer("value_int"), np.int64)
    elif call.has_attribute("value_floats"):
        array = np.array(call.reals("value_floats"), np.float32)
    elif call.has_attribute("value_ints"):
        array = np.array(call.integers("value_ints"), np.int64)
    else:
        raise call.block("only dense numeric constants are supported", "Export the model without sparse or text ones")
    value = make_constant(call.output_name(), array)
    if call.scope.session.trains and call.scope.model.keeps_parameters:
        value.is_parameter = False
    return value


@onnx_operator("ConstantOfShape")
def constant_of_shape(call: Call) -> Value:
    value = call.tensor("value")
    if value is None:
        value = np.zeros(1, np.float32)
    if value.size != 1:
        raise call.block("holds more than one element", "Export the model again", "value")
    shape = as_type(call, call.input(0), DataType.INT32)
    number = float(value.reshape(-1)[0])
    if value.dtype in (np.float32, np.int32) and float(np.float32(number)) == number:
        op = ops.ConstantOfShape(data_type=int(data_type_of(value)), value=(number,))
        return call.emit(op, shape)
    return call.emit(ops.Fill(), call.const(value.reshape(())), shape)


@onnx_operator("Range")
def arange(call: Call) -> Value:
    call.ignore("stash_type")  # the precision of an intermediate result
    start, limit, delta = call.input(0), call.input(1), call.input(2)
    kind = call.dtype(start)
    d_type = DataType.FLOAT32 if kind in (DataType.FLOAT32, DataType.UNKNOWN) else kind
    return call.emit(ops.Range(d_type=int(d_type)), start, limit, delta)


def _dtype_attribute(call: Call, default: DataType) -> DataType:
    """Returns the attribute `dtype`."""
    if not call.has_attribute("dtype"):
        return default
    try:
        return data_type(call.integer("dtype"))
    except UnsupportedTensor as error:
        raise call.block(str(error), "Use another type", "dtype") from None


@onnx_operator("EyeLike")
def eye_like(call: Call) -> Value:
    dtype = _dtype_attribute(call, DataType.UNKNOWN)
    return call.emit(ops.EyeLike(data_type=int(dtype), k=call.integer("k", 0)), call.input(0))


def _random_shape(call: Call) -> Value:
    if call.node.op_type.endswith("Like"):
        return call.emit(Shape(), call.input(0))
    shape = call.integers("shape")
    if shape is None:
        raise call.block("is missing", "Export the model again", "shape")
    return call.ints(shape)


def _random_type(call: Call) -> DataType:
    like = call.node.op_type.endswith("Like")
    return _dtype_attribute(call, call.require_dtype(call.input(0)) if like else DataType.FLOAT32)


@onnx_operator("RandomNormal", "RandomNormalLike")
def random_normal(call: Call) -> Value:
    """The values differ from those of other runtimes; ONNX only defines their distribution."""
    op = ops.RandomNormal(seed=call.real("seed"), mean=call.real("mean", 0.0), scale=call.real("scale", 1.0))
    return _converted(call, call.emit(op, _random_shape(call)))


@onnx_operator("RandomUniform", "RandomUniformLike")
def random_uniform(call: Call) -> Value:
    low, high = call.real("low", 0.0), call.real("high", 1.0)
    unit = call.emit(ops.UniformReal(seed=int(call.real("seed"))), _random_shape(call))
    scaled = call.emit(MulFusion(), unit, call.const(np.float32(high - low)))
    return _converted(call, call.emit(AddFusion(), scaled, call.const(np.float32(low))))


def _converted(call: Call, value: Value) -> Value:
    dtype = _random_type(call)
    return value if dtype is DataType.FLOAT32 else call.emit(Cast(), value, call.ints(int(dtype)))


@onnx_operator("Bernoulli")
def bernoulli(call: Call) -> Value:
    """Returns 1 with probability x, else 0. The values differ from those of other runtimes."""
    x = call.input(0)
    dtype = _dtype_attribute(call, call.require_dtype(x))
    uniform = call.emit(ops.UniformReal(seed=int(call.real("seed"))), call.emit(Shape(), x))
    chances = as_type(call, x, DataType.FLOAT32)
    return call.emit(Cast(), call.emit(Less(), uniform, chances), call.ints(int(dtype)))


@onnx_operator("Multinomial")
def multinomial(call: Call) -> Value:
    """Draws classes: the largest sum of log-probability and Gumbel noise, -log(-log(uniform)).

    The values differ from those of other runtimes; ONNX only defines their distribution.
    """
    x, count, dtype = call.input(0), call.integer("sample_size", 1), _dtype_attribute(call, DataType.INT32)
    if count < 1 or dtype not in (DataType.INT32, DataType.INT64):
        raise call.block("the number or type of samples is invalid", "Export the model again", "sample_size")
    own = call.emit(Shape(), x)
    batch, classes = (call.emit(Gather(), own, call.ints((index,)), call.ints(0)) for index in (0, 1))
    shape = call.emit(Concat(axis=0), batch, call.ints((count,)), classes)
    uniform = call.emit(ops.UniformReal(seed=int(call.real("seed"))), shape)
    # Strictly between 0 and 1, which keeps the logarithms finite.
    narrowed = call.emit(MulFusion(), uniform, call.const(np.float32(1 - 2.0**-20)))
    inner = call.emit(Log(), call.emit(AddFusion(), narrowed, call.const(np.float32(2.0**-22))))
    noise = call.emit(Neg(), call.emit(Log(), call.emit(Neg(), inner)))
    logits = call.emit(AddFusion(), call.emit(Unsqueeze(axis=(1,)), x), noise)
    drawn = call.emit(ArgMaxFusion(axis=2, keep_dims=False, top_k=1), logits)
    return drawn if dtype is DataType.INT32 else call.emit(Cast(), drawn, call.ints(int(dtype)))

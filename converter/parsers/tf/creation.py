"""Filled tensors, ranges, random values."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import creation as ops
from mslite.converter.mindir.ops.enums import DataType

from .call import Call
from .registry import tf_operator


@tf_operator("Fill")
def fill(call: Call) -> Value:
    """Converts Fill. The source's inputs are dims, value; mslite's are value, dims."""
    return call.emit(ops.Fill(), call.input(1), call.int32(0))


@tf_operator("Range")
def number_range(call: Call) -> Value:
    start, limit, delta = call.inputs(0, 3)
    return call.emit(ops.Range(d_type=int(start.dtype), delta=1), start, limit, delta)


@tf_operator("LinSpace")
def lin_space(call: Call) -> Value:
    return call.emit(ops.LinSpace(), call.input(0), call.input(1), call.int32(2))


@tf_operator("RandomUniform", "RandomStandardNormal")
def random(call: Call) -> Value:
    """Converts random operators. The values differ from TensorFlow's; only the distribution is the same."""
    cls = ops.UniformReal if call.operator == "RandomUniform" else ops.RandomStandardNormal
    numbers = call.emit(cls(seed=call.integer("seed"), seed2=call.integer("seed2")), call.int32(0))
    return call.as_type(numbers, call.type("dtype", DataType.FLOAT32))


@tf_operator("Multinomial", "ParameterizedTruncatedNormal", "RandomUniformInt", "TruncatedNormal", "RandomShuffle")
def random_draw(call: Call) -> Value:
    raise call.block("this distribution is unsupported", "Replace the operator by its expected value")

"""MatMulInteger, ConvInteger and DynamicQuantizeLinear: integer operators with zero points as inputs."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.arithmetic import SubFusion
from mslite.converter.mindir.ops.convolution import ConvInteger
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.matmul import MatMulInteger
from mslite.converter.mindir.ops.quantization import DynamicQuantizeLinear
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.unary import Cast

from .call import Call
from .convolution import group_of, kernel_of, weight_of
from .quantized import as_float
from .registry import onnx_operator
from .spatial import lift, lower, read_window
from .volumes import conv_volume

_BYTES = (DataType.INT8, DataType.UINT8)


def _operands(call: Call) -> tuple[Value, Value, Value, Value]:
    """Returns both matrices and their zero points (default 0)."""
    a, b = call.input(0), call.input(1)
    points = []
    for index, value in enumerate((a, b)):
        dtype = call.require_dtype(value)
        if dtype not in _BYTES:
            raise call.block(f"input {index} has the type {dtype.name}", "Quantize to 8-bit integers")
        point = call.optional(2 + index)
        points.append(call.const(np.zeros((), numpy_type(dtype))) if point is None else point)
    return a, b, points[0], points[1]


@onnx_operator("MatMulInteger")
def matmul_integer(call: Call) -> Value:
    """Inputs: a, b, [zero point of a, per row], [zero point of b, per column]. Output: int32."""
    result = call.emit(MatMulInteger(), *_operands(call))
    result.dtype = DataType.INT32
    return result


@onnx_operator("ConvInteger")
def conv_integer(call: Call) -> Value:
    """Inputs: x, w, [zero point of x], [zero point of w, per output channel]. Output: int32."""
    x, weight, x_point, w_point = _operands(call)
    if call.rank(weight) == 5:
        return _volume(call, x, weight, x_point, w_point)
    stored, shape = weight_of(call)
    window = read_window(call, x, kernel_of(call, shape))
    op = ConvInteger(
        format=Format.NCHW,
        kernel_size=window.kernel,
        stride=window.stride,
        dilation=window.dilation,
        pad_mode=window.pad_mode,
        pad_list=window.pads,
        group=group_of(call, shape[0]),
    )
    result = call.emit(op, lift(call, x, window.dimensions), stored, x_point, w_point)
    result.dtype = DataType.INT32
    return lower(call, result, window.dimensions)


def _volume(call: Call, x: Value, weight: Value, x_point: Value, w_point: Value) -> Value:
    """Computes a 3-D convolution with floats, which is exact if sums are below 2^24."""
    shape = call.require_shape(weight, "a convolution")
    kernel_of(call, shape)
    point = call.emit(Reshape(), as_float(call, w_point), call.ints((-1, 1, 1, 1, 1)))
    real_weight = call.same_type(call.emit(SubFusion(), as_float(call, weight), point), weight)
    real_weight.dtype = DataType.FLOAT32
    real = call.same_type(call.emit(SubFusion(), as_float(call, x), as_float(call, x_point)), x)
    real.dtype = DataType.FLOAT32
    y = conv_volume(call, real, real_weight, None, group_of(call, shape[0]))
    return call.emit(Cast(), y, call.ints(int(DataType.INT32)))


@onnx_operator("DynamicQuantizeLinear")
def dynamic_quantize(call: Call) -> tuple[Value, ...]:
    """Outputs: y, scale, zero point."""
    results = call.emit_many(DynamicQuantizeLinear(), (call.input(0),), 3)
    for value, dtype in zip(results, (DataType.UINT8, DataType.FLOAT32, DataType.UINT8), strict=True):
        value.dtype = dtype
    return results

"""MatMul and Gemm."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.matmul import MatMulFusion

from .call import Call
from .casting import cast
from .elementwise import broadcast_operand
from .registry import onnx_operator


@onnx_operator("MatMul")
def matmul(call: Call) -> Value:
    return call.emit(MatMulFusion(), call.stored_weight(0), call.stored_weight(1))


def _scaled(call: Call, value: Value, factor: float) -> Value:
    """Scales a value: at conversion if it is a small constant."""
    if value.data is not None and value.data.dtype.kind == "f" and value.data.size <= 65536:
        return call.const(np.multiply(value.data, factor, dtype=value.data.dtype))
    return call.emit(MulFusion(), value, call.like(factor, value))


_INTEGERS = (DataType.INT32, DataType.UINT32, DataType.INT64, DataType.UINT64)


def _scaled_integers(call: Call, product: Value, alpha: float, c: Value | None, beta: float, dtype: DataType) -> Value:
    """Applies factors that are not integers: computes in float64 and truncates the sum to integers."""
    total = call.emit(MulFusion(), cast(call, product, DataType.FLOAT64), call.const(np.float64(alpha), np.float64))
    if c is not None:
        addend = call.emit(MulFusion(), cast(call, c, DataType.FLOAT64), call.const(np.float64(beta), np.float64))
        total = call.emit(AddFusion(), total, addend)
    return cast(call, total, dtype)


@onnx_operator("Gemm")
def gemm(call: Call) -> Value:
    """Converts alpha * A * B + beta * C. C may have any shape that broadcasts to the matmul's."""
    a, b = call.input(0), call.stored_weight(1)
    alpha, beta = call.real("alpha", 1.0), call.real("beta", 1.0)
    op = MatMulFusion(transpose_a=call.boolean("transA"), transpose_b=call.boolean("transB"))
    call.ignore("broadcast", "axis")  # before version 7; later versions always broadcast
    shape_b = call.shape(b)
    columns = None if shape_b is None or len(shape_b) != 2 else shape_b[0 if op.transpose_b else 1]
    if call.has_input(2) and alpha == 1.0 and beta == 1.0:
        bias = call.stored_weight(2)
        if bias.quant and bias.shape == (columns,):
            return call.emit(op, a, b, bias)
    if beta == 0.0:
        call.ignore_inputs(2)
    c = None if beta == 0.0 else call.optional(2)
    if c is not None and beta != 1.0:
        c = _scaled(call, c, beta)
    if c is not None and alpha == 1.0 and c.data is not None and columns is not None and c.data.size == columns:
        if c.data.shape == (columns,):
            return call.emit(op, a, b, c)
        if c.data.shape == (1, columns):
            return call.emit(op, a, b, call.const(np.ascontiguousarray(c.data.reshape(columns))))
    product = call.emit(op, a, b)
    dtype = call.dtype(a)
    if dtype in _INTEGERS and not (alpha.is_integer() and beta.is_integer()):
        return _scaled_integers(call, product, alpha, call.optional(2), beta, dtype)
    if alpha != 1.0:
        product = call.emit(MulFusion(), product, call.like(alpha, a))
    return product if c is None else call.emit(AddFusion(), product, broadcast_operand(call, a, c))

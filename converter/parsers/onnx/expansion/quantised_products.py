"""Quantised convolutions and matrix products, of the standard and of onnxruntime.

Sums of products of 8-bit integers are exact in float32 up to 2^24, and within one part in 2^24 beyond.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from .body import Body
from .quantised_parts import (
    bias_scale,
    channels_first,
    channels_last,
    dequantised,
    operand,
    optional,
    output,
    plain_result,
    quantised_result,
)
from .registry import STANDARD, expands

_MOST_CHANNELS = 1 << 20
_CONV_ATTRIBUTES = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


def _conv(body: Body, x: str, weight: str, bias: str = "") -> str:
    body.ignore(*_CONV_ATTRIBUTES)
    inputs = [x, weight, *([bias] if bias else [])]
    name = body.many("Conv", inputs, 1)[0]
    kept = [attribute for attribute in body.node.attribute if attribute.name in _CONV_ATTRIBUTES]
    body.nodes[-1].attribute.extend(kept)
    return name


@expands("QLinearConv", domain=STANDARD)
@expands("QLinearConv")
def qlinear_conv(body: Body) -> None:
    """Inputs x, its scale and zero point, w with theirs (per output channel), scale and zero point of y, [int32 bias]."""
    last = body.boolean("channels_last")
    x, rank, bias = operand(body, 0), body.rank(body.input(0)) if last else 0, ""
    if body.has_input(8):
        bias = dequantised(body, body.input(8), bias_scale(body, body.input(1), body.input(4)), axis=0)
    y = _conv(body, channels_first(body, x, rank) if last else x, operand(body, 3, 0), bias)
    quantised_result(body, channels_last(body, y, rank) if last else y, 6)


def _integers(body: Body, index: int, point: str, axis: int | None = None) -> str:
    """x - zero point as real numbers."""
    return dequantised(body, body.input(index), body.const(1.0, np.float32), point, axis)


@expands("ConvInteger", domain=STANDARD)
@expands("ConvInteger")
def conv_integer(body: Body) -> None:
    """Inputs x, w, [zero point of x], [zero point of w, per output channel]; int32."""
    x, weight = _integers(body, 0, optional(body, 2)), _points_integers(body, 1, optional(body, 3), 0)
    plain_result(body, _conv(body, x, weight), "Cast", to=TensorProto.INT32)


def _points_integers(body: Body, index: int, point: str, axis: int) -> str:
    """x - zero point, with one zero point or one per index of `axis`: then there is a scale of 1 for each."""
    dims = body.dims(point) if point else []
    count = dims[0] if dims and len(dims) == 1 else 1
    if count == 1 or not count:
        return _integers(body, index, point)
    if count > _MOST_CHANNELS:
        raise body.block(f"{count} zero points are too many", "Export the model again")
    ones = body.const(np.ones(count, np.float32), np.float32)
    return dequantised(body, body.input(index), ones, point, axis)


@expands("MatMulInteger", domain=STANDARD)
@expands("MatMulInteger")
def matmul_integer(body: Body) -> None:
    """Inputs a, b, [zero point of a, per row], [zero point of b, per column]; int32."""
    a = _points_integers(body, 0, optional(body, 2), -2)
    b = _points_integers(body, 1, optional(body, 3), -1)
    plain_result(body, body.op("MatMul", a, b), "Cast", to=TensorProto.INT32)


@expands("QLinearMatMul", domain=STANDARD)
@expands("QLinearMatMul")
def qlinear_matmul(body: Body) -> None:
    """Inputs a with scale and zero point (per row), b with theirs (per column), scale and zero point of y."""
    a, b = operand(body, 0, -2), operand(body, 3, -1)
    quantised_result(body, body.op("MatMul", a, b), 6)


@expands("MatMulIntegerToFloat")
def matmul_integer_to_float(body: Body) -> None:
    """Inputs a, b, scales of a and b (per column), [zero points of a and b], [bias]; real numbers."""
    a = dequantised(body, body.input(0), body.input(2), optional(body, 4))
    b = dequantised(body, body.input(1), body.input(3), optional(body, 5), -1)
    _with_bias(body, body.op("MatMul", a, b), 6)


def _with_bias(body: Body, y: str, index: int) -> None:
    if body.has_input(index):
        plain_result(body, y, "Add", body.input(index))
    else:
        plain_result(body, y)


@expands("DynamicQuantizeMatMul")
def dynamic_matmul(body: Body) -> None:
    """Inputs a (real numbers), b, scale of b (per column), [zero point of b], [bias]."""
    stored, scale, point = body.many("DynamicQuantizeLinear", [body.input(0)], 3)
    a = dequantised(body, stored, scale, point)
    b = dequantised(body, body.input(1), body.input(2), optional(body, 3), -1)
    _with_bias(body, body.op("MatMul", a, b), 4)


@expands("QGemm")
def qgemm(body: Body) -> None:
    """Inputs a and b with scales and zero points, [int32 bias], [scale and zero point of y]: else y is real."""
    alpha = body.real("alpha", 1.0)
    transposed = body.boolean("transB")
    a, b = operand(body, 0), operand(body, 3, 0 if transposed else 1)
    product = body.op("Gemm", a, b, alpha=alpha, transA=body.integer("transA"), transB=int(transposed))
    if body.has_input(6):
        factors = [body.input(1), body.input(4)]
        if alpha != 1.0:
            factors.append(body.const(alpha, np.float32))
        rank = len(body.dims(body.input(6)) or ())
        bias = dequantised(body, body.input(6), bias_scale(body, *factors), axis=rank - 1 if rank else None)
        if alpha == 1.0 and rank == 1:
            body.nodes[:] = [node for node in body.nodes if node.output[0] != product]
            product = body.op("Gemm", a, b, bias, transA=body.integer("transA"), transB=int(transposed))
        else:
            product = body.op("Add", product, bias)
    if body.has_input(7):
        quantised_result(body, product, 7)
    else:
        plain_result(body, product)


@expands("DynamicQuantizeLinear", domain=STANDARD)
@expands("DynamicQuantizeLinear")
def dynamic_quantize(body: Body) -> None:
    """8 unsigned bits over the range of x and zero; outputs y, scale, zero point. Where all is zero the scale is 1."""
    x, zero = body.input(0), body.const(0.0, np.float32)
    # Type inference does not know that reductions over everything give single numbers, where the rank is unknown.
    high, low = (body.op("Reshape", body.op(name, x, keepdims=0), body.ints()) for name in ("ReduceMax", "ReduceMin"))
    high, low = body.op("Max", high, zero), body.op("Min", low, zero)
    width = body.op("Sub", high, low)
    step = body.op("Div", width, body.const(255.0, np.float32))
    scale = body.op("Where", body.op("Equal", width, zero), body.const(1.0, np.float32), step)
    nearest = body.op("Round", body.op("Div", body.op("Neg", low), scale))
    point = body.cast(body.op("Max", body.op("Min", nearest, body.const(255.0, np.float32)), zero), TensorProto.UINT8)
    name = output(body)
    body.nodes.append(helper.make_node("QuantizeLinear", [x, scale, point], [name], name=name))
    body.result(1, scale)
    body.result(2, point)

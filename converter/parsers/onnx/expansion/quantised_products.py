"""Quantised convolutions, matrix products and attention, of the standard and of onnxruntime."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from .body import Body
from .microsoft_attention import Operands, self_attention
from .quantised_parts import (
    bias_scale,
    channels_first,
    channels_last,
    dequantised,
    operand,
    optional,
    plain_result,
    quantised_result,
)
from .registry import STANDARD, expands

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


@expands("ConvInteger", "MatMulInteger", "DynamicQuantizeLinear")
def integers(body: Body) -> None:
    """As in the standard: onnxruntime knew them before it."""
    if body.node.op_type == "ConvInteger":
        body.ignore(*_CONV_ATTRIBUTES)
    body.standard()
    body.nodes[-1].attribute.extend(body.node.attribute)


@expands("QLinearMatMul", domain=STANDARD)
@expands("QLinearMatMul")
def qlinear_matmul(body: Body) -> None:
    """Inputs a with scale and zero point (per row), b with theirs (per column), scale and zero point of y."""
    a, b = operand(body, 0, -2), operand(body, 3, -1)
    quantised_result(body, body.op("MatMul", a, b), 6)


def real_product(body: Body, a: str, b: str, scales: tuple[str, str], points: tuple[str, str], bias: str = "") -> str:
    """The product of integers as real numbers: its sum times both scales, plus the bias. A point "" is 0."""
    inputs = [a, b, *points]
    while not inputs[-1]:
        inputs.pop()
    sums = body.cast(body.op("MatMulInteger", *inputs), TensorProto.FLOAT)
    real = body.op("Mul", sums, bias_scale(body, *scales))
    return body.op("Add", real, bias) if bias else real


@expands("MatMulIntegerToFloat")
def matmul_integer_to_float(body: Body) -> None:
    """Inputs a, b, scales of a and b (per column), [zero points of a and b], [bias]; real numbers."""
    scales, points = (body.input(2), body.input(3)), (optional(body, 4), optional(body, 5))
    plain_result(body, real_product(body, body.input(0), body.input(1), scales, points, optional(body, 6)))


@expands("DynamicQuantizeMatMul")
def dynamic_matmul(body: Body) -> None:
    """Inputs a (real numbers), b, scale of b (per column), [zero point of b], [bias]."""
    stored, scale, point = body.many("DynamicQuantizeLinear", [body.input(0)], 3)
    scales, points = (scale, body.input(2)), (point, optional(body, 3))
    plain_result(body, real_product(body, stored, body.input(1), scales, points, optional(body, 4)))


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


@expands("QAttention")
def attention(body: Body) -> None:
    """Inputs x, weights, [bias], scales of x and weights, [mask], [zero points of x and weights], [past]."""
    scales, points = (body.input(3), body.input(4)), (optional(body, 6), optional(body, 7))
    projected = real_product(body, body.input(0), body.input(1), scales, points, optional(body, 2))
    self_attention(body, projected, Operands(past=8, mask=5, like=(body.input(3),)))

"""Expansions of quantized convolutions, matmuls and attention, of the ONNX standard and of onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from .body import Body
from .microsoft_attention import Operands, self_attention
from .quantized_parts import (
    bias_scale,
    channels_first,
    channels_last,
    dequantized,
    operand,
    optional,
    set_first_output,
    set_quantized_result,
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
    """Inputs: x, x_scale, x_zero, w, w_scale, w_zero (per output channel), y_scale, y_zero, [int32 bias]."""
    last = body.boolean("channels_last")
    x, rank, bias = operand(body, 0), body.rank(body.input(0)) if last else 0, ""
    if body.has_input(8):
        bias = dequantized(body, body.input(8), bias_scale(body, body.input(1), body.input(4)), axis=0)
    y = _conv(body, channels_first(body, x, rank) if last else x, operand(body, 3, 0), bias)
    set_quantized_result(body, channels_last(body, y, rank) if last else y, 6)


@expands("ConvInteger", "MatMulInteger", "DynamicQuantizeLinear")
def integers(body: Body) -> None:
    """Turns onnxruntime's operators into the standard ones of the same name, which were added to ONNX later."""
    if body.node.op_type == "ConvInteger":
        body.ignore(*_CONV_ATTRIBUTES)
    body.standard()
    body.nodes[-1].attribute.extend(body.node.attribute)


@expands("QLinearMatMul", domain=STANDARD)
@expands("QLinearMatMul")
def qlinear_matmul(body: Body) -> None:
    """Inputs: a, a_scale, a_zero (per row), b, b_scale, b_zero (per column), y_scale, y_zero."""
    a, b = operand(body, 0, -2), operand(body, 3, -1)
    set_quantized_result(body, body.op("MatMul", a, b), 6)


def integer_matmul_as_float(
    body: Body,
    a: str,
    b: str,
    scales: Sequence[str],
    points: tuple[str, str],
    bias: str = "",
    stored_bias: str = "",
) -> str:
    """Returns an integer matmul as floats: (a @ b + stored_bias) * scales + bias. An empty name means 0."""
    inputs = [a, b, *points]
    while not inputs[-1]:
        inputs.pop()
    sums = body.op("MatMulInteger", *inputs)
    if stored_bias:
        sums = body.op("Add", sums, stored_bias)
    real = body.op("Mul", body.cast(sums, TensorProto.FLOAT), bias_scale(body, *scales))
    return body.op("Add", real, bias) if bias else real


@expands("MatMulIntegerToFloat")
def matmul_integer_to_float(body: Body) -> None:
    """Inputs: a, b, a_scale, b_scale (per column), [a_zero], [b_zero], [bias]. The output is float."""
    scales, points = (body.input(2), body.input(3)), (optional(body, 4), optional(body, 5))
    set_first_output(
        body, integer_matmul_as_float(body, body.input(0), body.input(1), scales, points, optional(body, 6))
    )


@expands("DynamicQuantizeMatMul")
def dynamic_matmul(body: Body) -> None:
    """Inputs: a (float), b, b_scale (per column), [b_zero], [bias]."""
    stored, scale, point = body.many("DynamicQuantizeLinear", [body.input(0)], 3)
    scales, points = (scale, body.input(2)), (point, optional(body, 3))
    set_first_output(body, integer_matmul_as_float(body, stored, body.input(1), scales, points, optional(body, 4)))


@expands("QGemm")
def qgemm(body: Body) -> None:
    """Inputs: a, a_scale, a_zero, b, b_scale, b_zero, [int32 bias], [y_scale, y_zero]. Without y_scale, y is float."""
    alpha = body.real("alpha", 1.0)
    transposed = body.boolean("transA"), body.boolean("transB")
    factors = [body.input(1), body.input(4)]
    if alpha != 1.0:
        factors.append(body.const(alpha, np.float32))
    if body.has_input(7):
        set_quantized_result(body, _gemm(body, alpha, factors, transposed), 7)
        return
    a, b = (
        body.op("Transpose", value, perm=[1, 0]) if turned else value
        for value, turned in zip((body.input(0), body.input(3)), transposed, strict=True)
    )
    points = optional(body, 2), optional(body, 5)
    set_first_output(body, integer_matmul_as_float(body, a, b, factors, points, stored_bias=optional(body, 6)))


def _gemm(body: Body, alpha: float, factors: list[str], transposed: tuple[bool, bool]) -> str:
    """Returns the matmul of the dequantized matrices, for a quantized output."""
    turns = {"transA": int(transposed[0]), "transB": int(transposed[1])}
    a, b = operand(body, 0), operand(body, 3, 0 if transposed[1] else 1)
    if not body.has_input(6):
        return body.op("Gemm", a, b, alpha=alpha, **turns)
    rank = len(body.dims(body.input(6)) or ())
    bias = dequantized(body, body.input(6), bias_scale(body, *factors), axis=rank - 1 if rank else None)
    if alpha == 1.0 and rank == 1:
        return body.op("Gemm", a, b, bias, **turns)
    return body.op("Add", body.op("Gemm", a, b, alpha=alpha, **turns), bias)


@expands("QAttention")
def attention(body: Body) -> None:
    """Inputs: x, weights, [bias], x_scale, weight_scale, [mask], [x_zero], [weight_zero], [past]."""
    scales, points = (body.input(3), body.input(4)), (optional(body, 6), optional(body, 7))
    projected = integer_matmul_as_float(body, body.input(0), body.input(1), scales, points, optional(body, 2))
    self_attention(body, projected, Operands(past=8, mask=5, like=(body.input(3),)))

"""What the expansions of quantized operators have in common: float values between DequantizeLinear and QuantizeLinear."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from .body import Body


def optional(body: Body, index: int) -> str:
    """The name of an input, "" when it is left out."""
    return body.input(index) if body.has_input(index) else ""


def output(body: Body) -> str:
    """The name of the first output, which must be there."""
    if not body.has_output(0):
        raise body.block("it has no output", "The model breaks the definition of the operator; export it again")
    return str(body.node.output[0])


def dequantized(body: Body, x: str, scale: str, point: str = "", axis: int | None = None) -> str:
    """scale * (x - point), per tensor or along `axis`."""
    attributes = {} if axis is None else {"axis": axis}
    return body.op("DequantizeLinear", *((x, scale, point) if point else (x, scale)), **attributes)


def operand(body: Body, index: int, axis: int | None = None) -> str:
    """Float values of the three inputs tensor, scale, zero point that begin at `index`."""
    return dequantized(body, body.input(index), body.input(index + 1), optional(body, index + 2), axis)


def quantized_result(body: Body, y: str, index: int, like: int = 0) -> None:
    """Output 0 is y, quantized with the scale and zero point that begin at input `index`, as input `like` is."""
    inputs = [y, body.input(index)]
    if body.has_input(index + 1):
        inputs.append(body.input(index + 1))
    elif body.element_type(body.input(like)) == TensorProto.INT8:
        inputs.append(body.const(0, np.int8))
    name = output(body)
    body.nodes.append(helper.make_node("QuantizeLinear", inputs, [name], name=name))


def plain_result(body: Body, y: str, op_type: str = "Identity", *others: str, **attributes: Any) -> None:
    """Output 0 is op_type(y, others)."""
    name = output(body)
    body.nodes.append(helper.make_node(op_type, [y, *others], [name], name=name, **attributes))


def bias_scale(body: Body, *scales: str) -> str:
    """The product of scales, a constant when they are."""
    arrays = [body.contents(scale) for scale in scales]
    if all(array is not None for array in arrays):
        product = np.ones((), np.float32)
        for array in arrays:
            product = np.asarray(product * np.asarray(array, np.float32), np.float32)
        return body.const(product)
    result = scales[0]
    for scale in scales[1:]:
        result = body.op("Mul", result, scale)
    return result


def channels_first(body: Body, x: str, rank: int) -> str:
    """x [n, h, w, c] as [n, c, h, w]."""
    return body.transpose(x, 0, rank - 1, *range(1, rank - 1))


def channels_last(body: Body, y: str, rank: int) -> str:
    return body.transpose(y, 0, *range(2, rank), 1)

"""Functions for quantized operators, which are expanded to floats between DequantizeLinear and QuantizeLinear."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from .body import Body


def optional(body: Body, index: int) -> str:
    """Returns the name of an input, "" if it is missing."""
    return body.input(index) if body.has_input(index) else ""


def output(body: Body) -> str:
    """Returns the name of the first output, which must be present."""
    if not body.has_output(0):
        raise body.block("it has no output", "The model breaks the definition of the operator; export it again")
    return str(body.node.output[0])


def dequantized(body: Body, x: str, scale: str, point: str = "", axis: int | None = None) -> str:
    """Returns scale * (x - point), per-tensor or per-channel along `axis`."""
    attributes = {} if axis is None else {"axis": axis}
    return body.op("DequantizeLinear", *((x, scale, point) if point else (x, scale)), **attributes)


def operand(body: Body, index: int, axis: int | None = None) -> str:
    """Returns the floats of a quantized input: tensor, scale and zero point are three inputs from `index` on."""
    return dequantized(body, body.input(index), body.input(index + 1), optional(body, index + 2), axis)


def set_quantized_result(body: Body, y: str, index: int, like: int = 0) -> None:
    """Quantizes y to output 0.

    `index`: the input with the scale; the zero point follows. `like`: the input whose type y gets without a zero point.
    """
    inputs = [y, body.input(index)]
    if body.has_input(index + 1):
        inputs.append(body.input(index + 1))
    elif body.element_type(body.input(like)) == TensorProto.INT8:
        inputs.append(body.const(0, np.int8))
    name = output(body)
    body.nodes.append(helper.make_node("QuantizeLinear", inputs, [name], name=name))


def set_first_output(body: Body, y: str, op_type: str = "Identity", *others: str, **attributes: Any) -> None:
    """Creates output 0 as op_type(y, others)."""
    name = output(body)
    body.nodes.append(helper.make_node(op_type, [y, *others], [name], name=name, **attributes))


def bias_scale(body: Body, *scales: str) -> str:
    """Returns the product of scales, as a constant if they are constant."""
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
    """Transposes x [n, h, w, c] to [n, c, h, w]."""
    return body.transpose(x, 0, rank - 1, *range(1, rank - 1))


def channels_last(body: Body, y: str, rank: int) -> str:
    return body.transpose(y, 0, *range(2, rank), 1)

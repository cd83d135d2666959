"""Quantized operators of onnxruntime other than matmuls and convolutions: floats between dequantize and quantize."""

from __future__ import annotations

from .body import Body
from .quantized_parts import (
    channels_first,
    channels_last,
    operand,
    set_quantized_result,
)
from .registry import expands

_POOL_ATTRIBUTES = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides", "dilations")


@expands("QLinearAdd", "QLinearMul")
def qlinear_binary(body: Body) -> None:
    """Inputs: a, b, y: a and b with a scale and a zero point each, then scale and zero point of y."""
    name = body.node.op_type.removeprefix("QLinear")
    set_quantized_result(body, body.op(name, operand(body, 0), operand(body, 3)), 6)


@expands("QLinearSigmoid")
def qlinear_sigmoid(body: Body) -> None:
    set_quantized_result(body, body.op("Sigmoid", operand(body, 0)), 3)


@expands("QLinearLeakyRelu")
def qlinear_leaky_relu(body: Body) -> None:
    set_quantized_result(body, body.op("LeakyRelu", operand(body, 0), alpha=body.real("alpha", 0.01)), 3)


@expands("QLinearSoftmax")
def qlinear_softmax(body: Body) -> None:
    """Before operator set 13, softmax flattens all dimensions from `axis` on; `opset` selects the version."""
    flattens = body.integer("opset", 13) < 13
    axis = body.integer("axis", 1 if flattens else -1)
    x = operand(body, 0)
    rank = body.rank(body.input(0))
    axis += rank if axis < 0 else 0
    if not 0 <= axis < max(rank, 1):
        raise body.block(f"{axis} is out of range for rank {rank}", "Export the model again", "axis")
    if (flattens and axis != rank - 1) == (body.version < 13) or axis == rank - 1:
        y = body.op("Softmax", x, axis=axis)
    elif flattens:
        flat = body.op("Softmax", body.op("Flatten", x, axis=axis), axis=1)
        y = body.op("Reshape", flat, body.op("Shape", x))
    else:
        perm = [index for index in range(rank) if index != axis] + [axis]
        inverse = [perm.index(index) for index in range(rank)]
        y = body.transpose(body.op("Softmax", body.transpose(x, *perm), axis=rank - 1), *inverse)
    set_quantized_result(body, y, 3)


@expands("QLinearConcat")
def qlinear_concat(body: Body) -> None:
    """Inputs: scale and zero point of y, then tensor, scale and zero point for each part."""
    count = len(body.node.input)
    if count < 5 or (count - 2) % 3:
        raise body.block(f"{count} inputs are not two parameters and triples", "Export the model again")
    parts = [operand(body, index) for index in range(2, count, 3)]
    set_quantized_result(body, body.op("Concat", *parts, axis=body.integer("axis", 1)), 0, like=2)


def _spatial(body: Body, op_type: str, inherited: tuple[str, ...]) -> str:
    last = body.boolean("channels_last")
    rank = body.rank(body.input(0)) if last else 0
    x = operand(body, 0)
    y = body.op(op_type, channels_first(body, x, rank) if last else x)
    body.ignore(*inherited)
    body.nodes[-1].attribute.extend(entry for entry in body.node.attribute if entry.name in inherited)
    return channels_last(body, y, rank) if last else y


@expands("QLinearGlobalAveragePool")
def qlinear_global_average(body: Body) -> None:
    set_quantized_result(body, _spatial(body, "GlobalAveragePool", ()), 3)


@expands("QLinearAveragePool")
def qlinear_average(body: Body) -> None:
    set_quantized_result(body, _spatial(body, "AveragePool", _POOL_ATTRIBUTES), 3)


@expands("QLinearReduceMean")
def qlinear_reduce_mean(body: Body) -> None:
    axes = body.integers("axes")
    keep = body.integer("keepdims", 1)
    x = operand(body, 0)
    if axes is None:
        y = body.op("ReduceMean", x, keepdims=keep)
    elif body.version >= 18:
        y = body.op("ReduceMean", x, body.ints(*axes), keepdims=keep)
    else:
        y = body.op("ReduceMean", x, axes=axes, keepdims=keep)
    set_quantized_result(body, y, 3)


@expands("QLinearWhere")
def qlinear_where(body: Body) -> None:
    """Inputs: condition, a and b with scales and zero points, scale and zero point of y."""
    set_quantized_result(body, body.op("Where", body.input(0), operand(body, 1), operand(body, 4)), 7, like=1)


@expands("QuantizeLinear", "DequantizeLinear")
def linear(body: Body) -> None:
    """Becomes the standard operator; onnxruntime supported some of its types earlier."""
    body.standard(**{name: body.integer(name) for name in ("axis", "block_size") if body.has_attribute(name)})

"""Matmuls and convolutions of onnxruntime with fused activations, biases or transpositions."""

from __future__ import annotations

from onnx.helper import make_attribute

from .body import Body
from .formulas import activation
from .registry import expands

_WINDOW = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


def _conv(body: Body, x: str, weight: str, bias: str, op_type: str = "Conv") -> str:
    """Adds a convolution with the window attributes of the node."""
    body.ignore(*_WINDOW, "output_padding", "output_shape")
    inputs = [x, weight, bias] if bias else [x, weight]
    result = body.op(op_type, *inputs)
    names = _WINDOW if op_type == "Conv" else (*_WINDOW, "output_padding", "output_shape")
    body.nodes[-1].attribute.extend(entry for entry in body.node.attribute if entry.name in names)
    return result


def _activated(body: Body, x: str) -> str:
    """Applies the activation of FusedConv: a name and a list of parameters."""
    parameters = dict(enumerate(body.reals("activation_params") or ()))
    return activation(body, x, body.text("activation"), parameters)


@expands("FusedConv")
def fused_conv(body: Body) -> None:
    """Returns activation(Conv(x, w, b) + z)."""
    bias = body.input(2) if body.has_input(2) else ""
    result = _conv(body, body.input(0), body.input(1), bias)
    if body.has_input(3):
        result = body.op("Add", result, body.input(3))
    body.result(0, _activated(body, result))


@expands("NhwcConv")
def nhwc_conv(body: Body) -> None:
    """Channels last: x [n, h, w, c], weight [m, kh, kw, c / group]."""
    x = body.transpose(body.input(0), 0, 3, 1, 2)
    weight = body.transpose(body.input(1), 0, 3, 1, 2)
    result = _conv(body, x, weight, body.input(2) if body.has_input(2) else "")
    body.result(0, body.transpose(_activated(body, result), 0, 2, 3, 1))


@expands("NhwcMaxPool")
def nhwc_max_pool(body: Body) -> None:
    body.ignore(*_WINDOW, "ceil_mode")
    pooled = body.op("MaxPool", body.transpose(body.input(0), 0, 3, 1, 2))
    body.nodes[-1].attribute.extend(body.node.attribute)
    body.result(0, body.transpose(pooled, 0, 2, 3, 1))


@expands("ConvTransposeWithDynamicPads")
def conv_transpose_with_dynamic_pads(body: Body) -> None:
    """The pads are an input, which must be constant."""
    bias = body.input(3) if body.has_input(3) else ""
    result = _conv(body, body.input(0), body.input(1), bias, "ConvTranspose")
    if body.has_input(2):
        pads = body.contents(body.input(2))
        if pads is None:
            raise body.block("the pads are computed at run time", "Give them as a constant")
        node = body.nodes[-1]
        kept = [entry for entry in node.attribute if entry.name != "pads"]
        del node.attribute[:]
        node.attribute.extend([*kept, make_attribute("pads", [int(pad) for pad in pads.reshape(-1)])])
    body.result(0, result)


def _turned(body: Body, x: str, transposed: bool, batch_transposed: bool) -> str:
    """Transposes [batch..., rows, columns]: the matrices, or the rows to the first dimension, or both."""
    if not transposed and not batch_transposed:
        return x
    rank = body.rank(x)
    if rank < 2:
        return x
    order = list(range(rank))
    if batch_transposed:
        order = [*range(1, rank - 1), 0, rank - 1]
    if transposed:
        order[-2:] = [order[-1], order[-2]]
    return body.transpose(x, *order)


@expands("FusedMatMul", "TransposeMatMul", "FusedMatMulActivation")
def fused_matmul(body: Body) -> None:
    """Returns activation(alpha * A * B)."""
    a = _turned(body, body.input(0), body.boolean("transA"), body.boolean("transBatchA"))
    b = _turned(body, body.input(1), body.boolean("transB"), body.boolean("transBatchB"))
    result, alpha = body.op("MatMul", a, b), body.real("alpha", 1.0)
    if alpha != 1.0:
        result = body.op("Mul", result, body.number(alpha, body.input(0), body.input(1)))
    if body.node.op_type == "FusedMatMulActivation":
        result = _named_activation(body, result)
    body.result(0, result)


def _named_activation(body: Body, x: str) -> str:
    """Applies the activation of a matmul: its parameters are attributes named alpha, beta and gamma."""
    names = ("activation_alpha", "activation_beta", "activation_gamma")
    body.ignore("activation_axis")
    given = {index: body.real(name) for index, name in enumerate(names) if body.has_attribute(name)}
    return activation(body, x, body.text("activation"), given)


@expands("FusedGemm")
def fused_gemm(body: Body) -> None:
    """Returns activation(alpha * A * B + beta * C)."""
    inputs = [body.input(index) for index, name in enumerate(body.node.input) if name]
    attributes = {"transA": int(body.boolean("transA")), "transB": int(body.boolean("transB"))}
    factors = {"alpha": body.real("alpha", 1.0), "beta": body.real("beta", 1.0)}
    body.result(0, _named_activation(body, body.op("Gemm", *inputs, **attributes, **factors)))

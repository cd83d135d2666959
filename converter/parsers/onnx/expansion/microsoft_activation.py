"""Activation functions of onnxruntime, also fused with a bias or matmul."""

from __future__ import annotations

import numpy as np

from .body import Body
from .formulas import gelu, gelu_tanh, scaled_curve, swish
from .registry import expands


@expands("Gelu")
def gelu_operator(body: Body) -> None:
    x = body.input(0)
    body.result(0, gelu(body, x))


@expands("FastGelu")
def fast_gelu(body: Body) -> None:
    """Returns the tanh approximation of Gelu(x + bias); the bias is optional."""
    x = body.input(0)
    total = body.op("Add", x, body.input(1)) if body.has_input(1) else x
    body.result(0, gelu_tanh(body, total, *body.node.input))


@expands("GemmFastGelu")
def gemm_fast_gelu(body: Body) -> None:
    product = body.op("MatMul", body.input(0), body.input(1))
    total = body.op("Add", product, body.input(2)) if body.has_input(2) else product
    body.result(0, gelu_tanh(body, total, *body.node.input))


@expands("BiasGelu")
def bias_gelu(body: Body) -> None:
    body.result(0, gelu(body, body.op("Add", body.input(0), body.input(1)), *body.node.input))


@expands("QuickGelu")
def quick_gelu(body: Body) -> None:
    body.result(0, swish(body, body.input(0), body.real("alpha", 1.702)))


@expands("BiasSplitGelu")
def bias_split_gelu(body: Body) -> None:
    """Returns the first half of x + bias times Gelu of the second half."""
    total = body.op("Add", body.input(0), body.input(1))
    hidden, gate = body.split(total, -1, None, 2)
    body.result(0, body.op("Mul", hidden, gelu(body, gate, *body.node.input)))


@expands("BiasAdd")
def bias_add(body: Body) -> None:
    """Returns x + bias + skip."""
    total = body.op("Add", body.input(0), body.input(1))
    body.result(0, body.op("Add", total, body.input(2)))


@expands("BiasDropout")
def bias_dropout(body: Body) -> None:
    """Returns data + bias + residual, without dropout. Inputs: data, bias, [residual], [ratio], [training]."""
    body.ignore("seed")
    body.ignore_inputs(3)
    training = body.contents(body.input(4)) if body.has_input(4) else np.zeros(1)
    if training is None or np.any(training):
        raise body.block("training mode is not supported", "Export the model for inference (eval mode)")
    if body.has_output(1):
        raise body.block("the dropout mask is not supported", "Export the model for inference (eval mode)")
    total = body.op("Add", body.input(0), body.input(1))
    body.result(0, body.op("Add", total, body.input(2)) if body.has_input(2) else total)


@expands("ScaledTanh", "ParametricSoftplus", domain="")
def early_experiments(body: Body) -> None:
    """Operators from drafts of the standard that onnxruntime kept; alpha and beta scale them."""
    x, name = body.input(0), body.node.op_type
    alpha, beta = body.real("alpha", 1.0), body.real("beta", 1.0)
    body.result(0, scaled_curve(body, x, "Tanh" if name == "ScaledTanh" else "Softplus", alpha, beta))


@expands("Affine", domain="")
def affine(body: Body) -> None:
    """Returns alpha * x + beta; an experimental operator of the first operator sets."""
    x = body.input(0)
    scaled = body.op("Mul", x, body.number(body.real("alpha", 1.0), x))
    body.result(0, body.op("Add", scaled, body.number(body.real("beta", 0.0), x)))

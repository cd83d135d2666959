"""Cases of the rules that fuse operators from several nodes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mslite.converter.mindir.graph import Module, Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import (
    AddFusion,
    DivFusion,
    MulFusion,
    PowFusion,
    SquaredDifference,
    SubFusion,
)
from mslite.converter.mindir.ops.enums import ActivationType, ReduceMode
from mslite.converter.mindir.ops.normalization import LayerNormFusion
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Erf, Log, Neg, Rsqrt, Sqrt, Square
from tests.passes.builder import Builder, integers, numbers
from tests.passes.case import Case

ADD, MUL, DIV, SUB = AddFusion(), MulFusion(), DivFusion(), SubFusion()
MEAN = ReduceFusion(mode=ReduceMode.ReduceMean, keep_dims=True)


def f(number: float) -> np.float32:
    return np.float32(number)


def gelu_torch(divisor: float = math.sqrt(2)) -> Module:
    """x * (1 + erf(x / sqrt 2)) * 0.5, as torch exports it."""
    b = Builder()
    x = b.input(3, 8)
    factor = b.call(ADD, b.call(Erf(), b.call(DIV, x, f(divisor))), f(1))
    return b.module(b.call(MUL, b.call(MUL, x, factor), f(0.5)))


def gelu_keras() -> Module:
    """0.5 * x * (1 + erf(x * 0.7071)), as Keras writes it."""
    b = Builder()
    x = b.input(3, 8)
    factor = b.call(ADD, f(1), b.call(Erf(), b.call(MUL, x, f(math.sqrt(0.5)))))
    return b.module(b.call(MUL, b.call(MUL, f(0.5), x), factor))


def gelu_tanh(cube: Callable[[Builder, Value], Value], coefficient: float = 0.044715) -> Module:
    b = Builder()
    x = b.input(3, 8)
    inner = b.call(MUL, b.call(ADD, x, b.call(MUL, cube(b, x), f(coefficient))), f(math.sqrt(2 / math.pi)))
    factor = b.call(ADD, b.call(Activation(activation_type=ActivationType.TANH), inner), f(1))
    return b.module(b.call(MUL, b.call(MUL, f(0.5), x), factor))


def swish(shared: bool) -> Module:
    b = Builder()
    x = b.input(3, 8)
    sigmoid = b.call(Activation(activation_type=ActivationType.SIGMOID), x)
    y = b.call(MUL, x, sigmoid)
    return b.module(y, sigmoid) if shared else b.module(y)


def log_sigmoid(dtype: type[np.generic] = np.float32, shared: bool = False) -> Module:
    b = Builder()
    sigmoid = b.call(Activation(activation_type=ActivationType.SIGMOID), b.input(3, 8, dtype=dtype))
    y = b.call(Log(), sigmoid)
    return b.module(y, sigmoid) if shared else b.module(y)


def hard_sigmoid(b: Builder, x: Value, divide: bool = True, shift: float = 3.0) -> Value:
    clamped = b.call(Activation(activation_type=ActivationType.RELU6, max_val=6.0), b.call(ADD, x, f(shift)))
    return b.call(DIV, clamped, f(6)) if divide else b.call(MUL, clamped, f(1 / 6))


def hard(swish: bool, divide: bool = True, shared: bool = False) -> Module:
    b = Builder()
    x = b.input(3, 8)
    y = hard_sigmoid(b, x, divide)
    clamped = y.producer.inputs[0] if y.producer else y
    result = b.call(MUL, x, y) if swish else y
    return b.module(result, clamped) if shared else b.module(result)


def layer_norm(spelling: str, axes: tuple[int, ...] = (-1,), affine: bool = True) -> Module:
    b = Builder()
    x = b.input(2, 5, 8)
    mean = b.call(MEAN, x, integers(*axes))
    centered = b.call(SUB, x, mean)
    squared = {
        "pow": lambda: b.call(PowFusion(), centered, f(2)),
        "square": lambda: b.call(Square(), centered),
        "product": lambda: b.call(MUL, centered, centered),
        "keras": lambda: b.call(SquaredDifference(), x, mean),
    }[spelling.partition(" ")[0]]()
    variance = b.call(ADD, b.call(MEAN, squared, integers(*axes)), f(1e-5))
    gamma, beta = numbers(8), numbers(8, seed=1)
    if spelling in ("keras", "keras without beta"):
        b.graph.nodes = [node for node in b.graph.nodes if node is not centered.producer]
        if centered.producer:
            centered.producer.set_inputs(())
        factor = b.call(MUL, b.call(Rsqrt(), variance), gamma)
        if spelling == "keras":
            shift = b.call(SUB, beta, b.call(MUL, mean, factor))
        else:
            shift = b.call(MUL, b.call(Neg(), mean), factor)
        return b.module(b.call(ADD, b.call(MUL, x, factor), shift))
    y = b.call(DIV, centered, b.call(Sqrt(), variance))
    return b.module(b.call(ADD, b.call(MUL, y, gamma), beta) if affine else y)


def hard_sigmoid_tflite() -> Module:
    """The limits are fused into the addition."""
    b = Builder()
    x = b.input(3, 8)
    limited = b.call(AddFusion(activation_type=ActivationType.RELU6), x, f(3))
    return b.module(b.call(MUL, limited, f(1 / 6)))


def norm_affine(size: int) -> Module:
    b = Builder()
    y = b.call(LayerNormFusion(begin_norm_axis=2, begin_params_axis=2, epsilon=1e-5), b.input(2, 5, 8))
    return b.module(b.call(ADD, b.call(MUL, y, numbers(size)), numbers(size, seed=1)))


GELU = ["Activation"]
CASES = {
    "OnnxGeLUFusion": Case(((gelu_torch, GELU), (gelu_keras, GELU)), lambda: gelu_shared(), "used elsewhere"),
    "TfGeLUFusion": Case(
        (
            (lambda: gelu_tanh(lambda b, x: b.call(PowFusion(), x, f(3))), GELU),
            (lambda: gelu_tanh(lambda b, x: b.call(MUL, b.call(MUL, x, x), x)), GELU),
            (lambda: gelu_tanh(lambda b, x: b.call(MUL, b.call(Square(), x), x)), GELU),
        ),
        lambda: gelu_tanh_shared(),
        "used elsewhere",
    ),
    "SigmoidMulFusion": Case(((lambda: swish(False), ["Activation"]),), lambda: swish(True), "used elsewhere"),
    "LogSigmoidFusion": Case(
        (
            (log_sigmoid, ["Neg", "Activation", "Neg"]),
            (lambda: log_sigmoid(shared=True), ["Activation", "Neg", "Activation", "Neg"]),
        ),
        lambda: log_sigmoid(np.float16),
        "float32 only",
    ),
    "HardSigmoidFusion": Case(
        (
            (lambda: hard(False), ["Activation"]),
            (lambda: hard(False, divide=False), ["Activation"]),
            (hard_sigmoid_tflite, ["Activation"]),
        ),
        lambda: hard(False, shared=True),
        "used elsewhere",
    ),
    "HardSwishFusion": Case(
        ((lambda: hard(True), ["Activation"]), (lambda: hard(True, divide=False), ["Activation"])),
        lambda: hard(True, shared=True),
        "used elsewhere",
    ),
    "OnnxLayerNormFusion": Case(
        (
            *((lambda s=s: layer_norm(s, affine=False), ["LayerNormFusion"]) for s in ("pow", "square", "product")),
            (lambda: layer_norm("keras"), ["LayerNormFusion"]),
            (lambda: layer_norm("keras without beta"), ["LayerNormFusion"]),
            (lambda: layer_norm("pow"), ["LayerNormFusion", "MulFusion", "AddFusion"]),
            (lambda: layer_norm("pow", axes=(1, 2), affine=False), ["LayerNormFusion"]),
        ),
        lambda: layer_norm("pow", axes=(1,), affine=False),
        "not the last ones",
    ),
    "OnnxLayerNormFusion2": Case(
        ((lambda: norm_affine(8), ["LayerNormFusion"]),), lambda: norm_affine_refused(), "do not cover"
    ),
}


def gelu_shared() -> Module:
    module = gelu_torch()
    module.main.outputs.append(module.main.nodes[1].output)
    return module


def gelu_tanh_shared() -> Module:
    module = gelu_tanh(lambda b, x: b.call(PowFusion(), x, f(3)))
    module.main.outputs.append(module.main.nodes[3].output)
    return module


def norm_affine_refused() -> Module:
    b = Builder()
    y = b.call(LayerNormFusion(begin_norm_axis=2, begin_params_axis=2, epsilon=1e-5), b.input(2, 8, 8))
    return b.module(b.call(ADD, b.call(MUL, y, numbers(8, 1)), numbers(8, 1, seed=1)))

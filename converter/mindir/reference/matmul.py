"""References of the matrix products."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..ops import matmul as ops
from ..ops.enums import ActivationType
from ._declare import Array, Inputs, case, integers, normal, reference


def fused_activation(activation: ActivationType, x: Array) -> Array:
    """The activations that convolutions, products and pooling can apply to their result."""
    functions: dict[ActivationType, Callable[[], Array]] = {
        ActivationType.NO_ACTIVATION: lambda: x,
        ActivationType.RELU: lambda: np.maximum(x, 0),
        ActivationType.RELU6: lambda: np.clip(x, 0, 6),
        ActivationType.RELU1: lambda: np.clip(x, -1, 1),
        ActivationType.HSIGMOID: lambda: np.clip(x + 3, 0, 6) / 6,
        ActivationType.HSWISH: lambda: x * np.clip(x + 3, 0, 6) / 6,
        ActivationType.SIGMOID: lambda: 1 / (1 + np.exp(-x)),
        ActivationType.SWISH: lambda: x / (1 + np.exp(-x)),
        ActivationType.TANH: lambda: np.tanh(x),
        ActivationType.GELU: lambda: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    }
    if activation in functions:
        return functions[activation]()
    raise ValueError(f"{activation.name} is not fused")


@reference("MatMulFusion")
def matrix_product(op: ops.MatMulFusion, inputs: Inputs) -> list[Array]:
    """numpy.matmul of a and b, each transposed where asked, plus bias[n], then the activation. Integers wrap."""
    assert inputs[0] is not None
    dtype = inputs[0].dtype
    a, b = (np.asarray(x, np.float64 if dtype == np.float32 else dtype) for x in inputs[:2])
    if op.transpose_a and a.ndim > 1:
        a = np.swapaxes(a, -1, -2)
    if op.transpose_b and b.ndim > 1:
        b = np.swapaxes(b, -1, -2)
    y = np.matmul(a, b)
    if len(inputs) > 2 and inputs[2] is not None:
        y = y + inputs[2]
    return [fused_activation(op.activation_type, y).astype(dtype)]


@reference("FullConnection")
def full_connection(op: ops.FullConnection, inputs: Inputs) -> list[Array]:
    """Rows of x times weight[out, in], plus bias; `axis` says where a row begins."""
    x, weight = (np.asarray(array, np.float64) for array in inputs[:2])
    y = x.reshape(-1, weight.shape[1]) @ weight.T
    if len(inputs) > 2 and inputs[2] is not None:
        y = y + inputs[2]
    if op.use_axis:
        y = y.reshape(*x.shape[: op.axis % x.ndim], weight.shape[0])
    return [fused_activation(op.activation_type, y).astype(np.float32)]


_MATMUL = ops.MatMulFusion
for _label, _op, _a, _b in (
    ("plain", _MATMUL(), (17, 19), (19, 23)),
    ("large", _MATMUL(activation_type=ActivationType.RELU), (50, 700), (700, 130)),
    ("transpose-b", _MATMUL(transpose_b=True, activation_type=ActivationType.RELU), (12, 33), (40, 33)),
    ("transpose-a", _MATMUL(transpose_a=True), (21, 14), (21, 35)),
    ("transpose-both", _MATMUL(transpose_a=True, transpose_b=True), (21, 14), (35, 21)),
    ("vector", _MATMUL(transpose_b=True), (1, 300), (77, 300)),
    ("vector-long", _MATMUL(), (1, 512), (512, 1000)),
    ("batch", _MATMUL(), (3, 2, 16, 8), (3, 2, 8, 24)),
    ("attention", _MATMUL(transpose_b=True), (2, 4, 16, 32), (2, 4, 16, 32)),
    ("broadcast-b", _MATMUL(), (2, 3, 5, 7), (7, 9)),
    ("broadcast-a", _MATMUL(), (5, 7), (2, 3, 7, 9)),
    ("broadcast-both", _MATMUL(), (2, 1, 5, 7), (3, 7, 4)),
    ("row-vector", _MATMUL(), (7,), (2, 7, 9)),
    ("column-vector", _MATMUL(), (2, 5, 7), (7,)),
    ("dot", _MATMUL(), (31,), (31,)),
    ("empty-inner", _MATMUL(), (3, 0), (0, 4)),
):
    case(_label, _op, [normal(*_a), normal(*_b)])
    case(f"{_label}-weights", _op, [normal(*_a), normal(*_b)], (1,))
case("bias", _MATMUL(activation_type=ActivationType.RELU6), [normal(9, 30), normal(30, 44), normal(44)], (1, 2))
case("gelu", _MATMUL(activation_type=ActivationType.GELU), [normal(9, 30), normal(30, 44), normal(44)], (1, 2))
case("bias-batch", _MATMUL(), [normal(2, 9, 30), normal(2, 30, 21), normal(21)], (2,))
case("double", _MATMUL(), [normal(4, 5).astype(np.float64), normal(5, 6).astype(np.float64)], tolerance=1e-13)
case("int32", _MATMUL(transpose_b=True), [integers(-(2**31), 2**31 - 1, 3, 4, 5), integers(-9, 9, 3, 6, 5)])
case("int64", _MATMUL(), [integers(-9, 9, 4, 5, dtype=np.int64), integers(-9, 9, 5, 6, dtype=np.int64)])

for _label, _full, _x, _weight in (
    ("rows", ops.FullConnection(has_bias=True), (3, 40), (30, 40)),
    ("flatten", ops.FullConnection(has_bias=True, activation_type=ActivationType.RELU), (2, 4, 4, 5), (10, 80)),
    ("axis", ops.FullConnection(has_bias=True, use_axis=True, axis=2), (2, 3, 4, 5), (7, 20)),
    ("axis-negative", ops.FullConnection(has_bias=True, use_axis=True, axis=-1), (2, 3, 8), (9, 8)),
):
    case(_label, _full, [normal(*_x), normal(*_weight), normal(_weight[0])], (1, 2))

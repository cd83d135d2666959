"""References of matmuls."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..ops import matmul as ops
from ..ops.enums import ActivationType
from ._declare import Array, Inputs, case, float32, integers, normal, reference


def fused_activation(activation: ActivationType, x: Array) -> Array:
    """Applies an activation that convolutions, matmuls and pooling can fuse."""
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
    raise ValueError(f"{activation.name} cannot be fused")


@reference("MatMulFusion")
def matrix_product(op: ops.MatMulFusion, inputs: Inputs) -> list[Array]:
    """numpy.matmul of a and b, optionally transposed, plus bias[n], then the activation. Integers wrap."""
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
    """Rows of x times weight[out, in], plus bias; a row consists of the dimensions from `axis` on."""
    x, weight = (np.asarray(array, np.float64) for array in inputs[:2])
    y = x.reshape(-1, weight.shape[1]) @ weight.T
    if len(inputs) > 2 and inputs[2] is not None:
        y = y + inputs[2]
    if op.use_axis:
        y = y.reshape(*x.shape[: op.axis % x.ndim], weight.shape[0])
    return [fused_activation(op.activation_type, y).astype(np.float32)]


def integer_result(
    sums: Array, scale: Array | None, bias: Array | None, row_scale: Array | None = None, apart: bool = False
) -> Array:
    """Returns 64-bit sums as int32, wrapped, or, with a scale, as float32, rounded after each step.

    `apart`: the scales are applied separately instead of being multiplied first."""
    wrapped = sums.astype(np.uint64).astype(np.uint32).astype(np.int32)
    if scale is None:
        return wrapped
    y, factor = wrapped.astype(np.float32), scale.reshape(-1)
    if row_scale is None:
        y = y * factor
    else:
        y = y * factor * row_scale if apart else y * (factor * row_scale)
    return np.asarray(y if bias is None else y + bias, np.float32)


@reference("MatMulInteger")
def integer_product(op: ops.MatMulInteger, inputs: Inputs) -> list[Array]:
    """(a - a_zero) (b - b_zero), with sums that wrap in 32 bits; [times the scale, plus the bias]."""
    a, b, a_zero, b_zero = (np.asarray(array, np.int64) for array in inputs[:4])
    if a_zero.ndim == 1 and a_zero.size > 1:
        a_zero = a_zero[:, None]
    a_zero, b_zero = (zero.reshape(()) if zero.size == 1 else zero for zero in (a_zero, b_zero))
    scale, bias, row_scale = [*inputs[4:], None, None, None][:3]
    sums = np.matmul(a - a_zero, b - b_zero)
    if row_scale is not None:
        row_scale = row_scale.reshape(a_zero.shape)
    return [integer_result(sums, scale, bias, row_scale)]


_AFFINE_ACTIVATIONS: dict[ActivationType, Callable[[Array], Array]] = {
    ActivationType.SOFTPLUS: lambda x: np.asarray(np.logaddexp(0, x)),
}


@reference("Affine")
def affine(op: ops.Affine, inputs: Inputs) -> list[Array]:
    """Row r: the concatenated rows r - min(context) + context[k] of x, times the weight, plus bias, then the
    activation."""
    x, weight = (np.asarray(array, np.float64) for array in inputs[:2])
    context = np.array(op.context) - min(op.context or (0,))
    rows = np.arange(x.shape[1] - context.max())[:, None] + context
    y = x[:, rows].reshape(x.shape[0], len(rows), -1) @ (weight.T if op.transpose_b else weight)
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None and (len(inputs) > 3 or bias.ndim == 1):
        y = y + bias
    follow = _AFFINE_ACTIVATIONS.get(op.activation_type)
    return [(follow(y) if follow else fused_activation(op.activation_type, y)).astype(np.float32)]


def _heads(x: Array, heads: int) -> Array:
    """Reshapes [batch, rows, heads * size] to [batch, heads, rows, size]."""
    return np.asarray(x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2))


def _attended(scores: Array, v: Array) -> Array:
    """Returns softmax(scores) v of all heads, concatenated."""
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    y = (weights / weights.sum(-1, keepdims=True)) @ v
    return np.asarray(y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1))


def _relative_attention(x: list[Array]) -> Array:
    """Relative attention; inputs are q, k, v, positions, their four weights, u, v, weight of the output, [four
    biases]."""
    weights, own_u, own_v, out = x[4:8], x[8], x[9], x[10]
    biases = x[11:14] if len(x) > 11 else [np.zeros(1)] * 3
    q, k, v, p = (a @ w + b for a, w, b in zip(x[:4], weights, [*biases, np.zeros(1)], strict=True))
    heads, size = own_u.shape
    queries = _heads(q, heads)
    shifted = (queries + own_v[:, None]) @ _heads(p, heads).swapaxes(2, 3)
    rows, positions = shifted.shape[2:]
    flat = np.pad(shifted, ((0, 0), (0, 0), (0, 0), (0, 1))).reshape(*shifted.shape[:2], -1)
    places = rows + np.arange(rows)[:, None] * positions + np.arange(k.shape[1])
    scores = (queries + own_u[:, None]) @ _heads(k, heads).swapaxes(2, 3) + flat[:, :, places]
    y = _attended(scores / math.sqrt(size), _heads(v, heads)) @ out
    return y + x[14] if len(x) > 11 else y


@reference("Attention")
def attention(op: ops.Attention, inputs: Inputs) -> list[Array]:
    """Projections, softmax(scale * q k' + added + (1 - mask) * -10000) v per head, projection."""
    x = [np.asarray(array, np.float64) for array in inputs]
    if len(x) in (11, 15):
        return [_relative_attention(x).astype(np.float32)]
    x[:3] = [array if array.ndim == 3 else array[None] for array in x[:3]]
    hidden = op.head_num * op.head_size
    rest = x[3:]
    weights = [rest.pop(0)] if op.cross else []
    weights += np.split(rest[0], rest[0].shape[1] // hidden, 1)
    out, rest = rest[1], rest[2:]
    biases, last, added = np.zeros((3, 1)), np.zeros(1), np.zeros(1)
    has_bias = rest[0].ndim == 1
    if has_bias:
        biases, last, rest = rest[0].reshape(3, hidden), rest[1], rest[2:]
    else:
        added, rest = rest[0], rest[1:]
    q, k, v = (_heads(a @ w + b, op.head_num) for a, w, b in zip(x[:3], weights, biases, strict=True))
    scale = op.scale or (1 / math.sqrt(op.head_size) if has_bias else 1.0)
    scores = scale * (q @ k.swapaxes(2, 3)) + added
    if rest:
        scores = scores + (1 - rest[0][:, None]) * -10000.0
    y = _attended(scores, v) @ (out if out.shape[0] == hidden else out.T) + last
    return [y.astype(np.float32)]


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


def _byte_case(
    label: str,
    a: tuple[int, ...],
    b: tuple[int, ...],
    *,
    kinds: tuple[type, type] = (np.uint8, np.int8),
    zeros: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()),
    real: int = 0,
) -> None:
    """Declares a case of 8-bit integers. `real`: the inputs after the zero points. Zero points have any value, or are
    omitted (None)."""
    operands = []
    for shape, kind in zip((a, b, *zeros), (*kinds, *kinds), strict=True):
        limits = np.iinfo(kind)
        operands.append(integers(int(limits.min), int(limits.max) + 1, *shape, dtype=kind))
    columns = b[-1]
    scale = np.abs(normal(*((1,) if "one-scale" in label else (columns,))))
    operands += [scale, normal(columns), np.abs(normal(*zeros[0]))][:real]
    for name, constants in (("", ()), ("-weights", (1, 3)), ("-all", (1, 2, 3, 4, 5, 6)[: 3 + real])):
        case(f"{label}{name}", ops.MatMulInteger(), operands, constants, tolerance=0)


_S, _U = np.int8, np.uint8
_byte_case("plain", (17, 19), (19, 23))
_byte_case("signed", (17, 19), (19, 23), kinds=(_S, _S))
_byte_case("unsigned", (17, 19), (19, 23), kinds=(_U, _U))
_byte_case("signed-unsigned", (6, 33), (33, 40), kinds=(_S, _U))
_byte_case("one-row", (1, 300), (300, 77), zeros=((), (77,)), real=2)
_byte_case("rows-and-columns", (13, 41), (41, 35), zeros=((13,), (35,)), kinds=(_U, _U))
_byte_case("large", (50, 900), (900, 130), zeros=((1,), (130,)), real=2)
_byte_case("batch", (2, 3, 5, 20), (2, 3, 20, 9), zeros=((2, 3, 5, 1), (2, 3, 1, 9)))
_byte_case("broadcast", (2, 3, 5, 20), (20, 9), zeros=((), (9,)), real=1)
_byte_case("broadcast-one-scale", (4, 20), (3, 20, 9), kinds=(_S, _S), zeros=((4,), ()), real=2)
_byte_case("empty-inner", (3, 0), (0, 4), real=2)
_byte_case("row-scale", (7, 45), (45, 33), kinds=(_S, _S), real=3)
_byte_case("row-scales", (13, 45), (45, 33), kinds=(_S, _S), zeros=((13,), (33,)), real=3)
_byte_case("row-scales-one-scale", (2, 3, 5, 20), (20, 9), zeros=((2, 3, 5, 1), ()), kinds=(_S, _S), real=3)
_byte_case("row-scales-batch", (2, 5, 20), (2, 20, 9), zeros=((2, 5, 1), (2, 1, 9)), real=3)
# Sums above 2^24, and above 2^31, which wrap.
_LONG = [np.full((3, 40000), 255, _U), np.full((40000, 5), 255, _U), np.zeros((), _U), np.zeros((), _U)]
case("wraps", ops.MatMulInteger(), _LONG, (1, 3), tolerance=0)
case("beyond-24-bits", ops.MatMulInteger(), [_LONG[0][:, :9999], _LONG[1][:9999], *_LONG[2:]], (1, 3), tolerance=0)
_SYMMETRIC = [
    integers(-128, 128, 4, 30, dtype=_S),
    integers(0, 256, 30, 18, dtype=_U),
    np.array([5], _S),
    np.array([128], _U),
]
case("symmetric", ops.MatMulInteger(), _SYMMETRIC, (1, 3), tolerance=0)
case("negative-scale", ops.MatMulInteger(), [*_SYMMETRIC, float32([-0.5])], (1, 3), tolerance=0)

_AFFINE = ops.Affine
case("plain", _AFFINE(context=(-1, 0, 1), output_dim=12), [normal(1, 9, 4), normal(12, 5), normal(1, 7, 5)])
case("bias", _AFFINE(context=(-2, 0, 3), output_dim=9), [normal(2, 11, 3), normal(9, 6), normal(6)], (1, 2))
case(
    "previous",
    _AFFINE(context=(0,), output_dim=4, transpose_b=True, activation_type=ActivationType.RELU),
    [normal(1, 3, 4), normal(5, 4), normal(5), normal(1, 3, 5)],
)
for _activation in (ActivationType.SIGMOID, ActivationType.TANH, ActivationType.HSWISH, ActivationType.SOFTPLUS):
    case(
        _activation.name.lower(),
        _AFFINE(context=(0, 1), output_dim=6, transpose_b=True, activation_type=_activation),
        [normal(1, 20, 3), normal(7, 6), normal(7)],
    )

_SELF = ops.Attention(head_num=3, head_size=4)
_CROSS = ops.Attention(head_num=2, head_size=5, cross=True, scale=0.25)
_MASK = (integers(0, 2, 2, 6, 6) | np.eye(6, dtype=np.int32)).astype(np.float32)
_X = [normal(2, 6, 10), normal(2, 6, 10), normal(2, 6, 10)]
case("bias", _SELF, [*_X, normal(10, 36), normal(12, 7), normal(36), normal(7)])
case("mask", _SELF, [*_X, normal(10, 36), normal(12, 12), normal(36), normal(12), _MASK])
case(
    "flat",
    _SELF,
    [normal(18, 10), normal(18, 10), normal(18, 10), normal(10, 36), normal(12, 7), normal(36), normal(7)],
)
case("added", _SELF, [*_X, normal(10, 36), normal(12, 7), normal(1, 3, 6, 6)])
case("added-mask", _SELF, [*_X, normal(10, 36), normal(12, 7), normal(2, 3, 6, 6), _MASK])
case("turned", _SELF, [*_X, normal(10, 36), normal(7, 12), normal(36), normal(7)])
_OTHER = [normal(2, 6, 8), normal(2, 17, 9), normal(2, 17, 9), normal(8, 10), normal(9, 20), normal(10, 4)]
case("cross", _CROSS, [*_OTHER, normal(30), normal(4)])
case("cross-added", _CROSS, [*_OTHER, normal(1, 2, 6, 17)])
_RELATIVE = [normal(1, 5, 8), normal(1, 5, 8), normal(1, 5, 8), normal(1, 10, 8)]
_RELATIVE += [*(normal(8, 8) for _ in range(4)), normal(2, 4), normal(2, 4), normal(8, 8)]
case("relative", ops.Attention(), _RELATIVE)
case("relative-bias", ops.Attention(), [*_RELATIVE, *(normal(8) for _ in range(4))])

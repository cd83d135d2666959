"""References of the activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..ops import activation as ops
from ..ops.enums import ActivationType
from ._declare import Array, Inputs, case, float32, integers, normal, reference

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    return np.asarray(np.exp(-np.logaddexp(0, -x)))


def _gelu_tanh(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def apply_activation(op: ops.Activation, x: Array) -> Array:
    """The function of `op.activation_type` on an array."""
    functions: dict[ActivationType, Callable[[], Array]] = {
        ActivationType.NO_ACTIVATION: lambda: x,
        ActivationType.LINEAR: lambda: x,
        ActivationType.RELU: lambda: np.maximum(x, 0),
        ActivationType.SIGMOID: lambda: _sigmoid(x),
        ActivationType.RELU6: lambda: np.clip(x, 0, 6),
        ActivationType.ELU: lambda: np.where(x < 0, op.alpha * np.expm1(np.minimum(x, 0)), x),
        ActivationType.LEAKY_RELU: lambda: np.where(x < 0, op.alpha * x, x),
        ActivationType.ABS: lambda: np.abs(x),
        ActivationType.RELU1: lambda: np.clip(x, -1, 1),
        ActivationType.SOFTSIGN: lambda: x / (1 + np.abs(x)),
        ActivationType.SOFTPLUS: lambda: np.logaddexp(0, x),
        ActivationType.TANH: lambda: np.tanh(x),
        ActivationType.SELU: lambda: (
            1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(np.minimum(x, 0)), x)
        ),
        ActivationType.HSWISH: lambda: x * np.clip(x + 3, 0, 6) / 6,
        ActivationType.HSIGMOID: lambda: np.clip(x + 3, 0, 6) / 6,
        ActivationType.THRESHOLDRELU: lambda: np.where(x > op.alpha, x, 0),
        ActivationType.HARD_TANH: lambda: np.clip(x, op.min_val, op.max_val),
        ActivationType.SIGN: lambda: np.sign(x),
        ActivationType.SWISH: lambda: x * _sigmoid(x),
        ActivationType.GELU: lambda: _gelu_tanh(x) if op.approximate else 0.5 * x * (1 + _erf(x / math.sqrt(2))),
        ActivationType.FAST_GELU: lambda: _gelu_tanh(x),
    }
    return functions[op.activation_type]()


def _float64(x: Array | None) -> Array:
    assert x is not None
    return x.astype(np.float64)


@reference("Activation")
def activation(op: ops.Activation, inputs: Inputs) -> list[Array]:
    """The function named by activation_type."""
    assert inputs[0] is not None
    x = inputs[0]
    y = apply_activation(op, x.astype(np.float64) if x.dtype == np.float32 else x)
    return [y.astype(x.dtype)]


@reference("LeakyRelu")
def leaky_relu(op: ops.LeakyRelu, inputs: Inputs) -> list[Array]:
    """x where positive, else negative_slope x."""
    x = _float64(inputs[0])
    return [np.where(x < 0, op.negative_slope * x, x).astype(np.float32)]


@reference("Elu")
def elu(op: ops.Elu, inputs: Inputs) -> list[Array]:
    """x where positive, else alpha (exp(x) - 1)."""
    x = _float64(inputs[0])
    return [np.where(x < 0, op.alpha * np.expm1(np.minimum(x, 0)), x).astype(np.float32)]


@reference("Selu")
def selu(op: ops.Selu, inputs: Inputs) -> list[Array]:
    """gamma times (x where positive, else alpha (exp(x) - 1))."""
    x = _float64(inputs[0])
    return [(op.gamma * np.where(x < 0, op.alpha * np.expm1(np.minimum(x, 0)), x)).astype(np.float32)]


@reference("Celu")
def celu(op: ops.Celu, inputs: Inputs) -> list[Array]:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1))."""
    x = _float64(inputs[0])
    below = np.minimum(0, op.alpha * np.expm1(np.minimum(x, 0) / op.alpha))
    return [(np.maximum(x, 0) + below).astype(np.float32)]


@reference("Mish")
def mish(op: ops.Mish, inputs: Inputs) -> list[Array]:
    """x tanh(softplus(x))."""
    x = _float64(inputs[0])
    return [(x * np.tanh(np.logaddexp(0, x))).astype(np.float32)]


@reference("Shrink")
def shrink(op: ops.Shrink, inputs: Inputs) -> list[Array]:
    """x - bias * sign(x) outside of [-threshold, threshold], zero inside."""
    x = _float64(inputs[0])
    y = np.where(x < -op.threshold, x + op.bias, np.where(x > op.threshold, x - op.bias, 0))
    return [y.astype(np.float32)]


@reference("HardSigmoid")
def hard_sigmoid(op: ops.HardSigmoid, inputs: Inputs) -> list[Array]:
    """alpha x + beta limited to [0, 1]."""
    return [np.clip(op.alpha * _float64(inputs[0]) + op.beta, 0, 1).astype(np.float32)]


@reference("PReLUFusion")
def prelu(op: ops.PReLUFusion, inputs: Inputs) -> list[Array]:
    """x where positive, else slope x; the slope is per channel or broadcast."""
    x, slope = _float64(inputs[0]), _float64(inputs[1])
    if slope.size in (1, x.shape[-1]):
        slope = slope.reshape(-1)
    return [np.where(x < 0, slope * x, x).astype(np.float32)]


@reference("GLU")
def gated_linear_unit(op: ops.GLU, inputs: Inputs) -> list[Array]:
    """The first half along the axis times the sigmoid of the second half."""
    value, gate = np.split(_float64(inputs[0]), 2, axis=op.axis)
    return [(value * _sigmoid(gate)).astype(np.float32)]


def _log_softmax(x: Array, axis: int) -> Array:
    shifted = x - x.max(axis=axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))


@reference("Softmax")
def softmax(op: ops.Softmax, inputs: Inputs) -> list[Array]:
    """exp(x) / sum(exp(x)) along the axis, by default the last."""
    return [np.exp(_log_softmax(_float64(inputs[0]), op.axis[0] if op.axis else -1)).astype(np.float32)]


@reference("LogSoftmax")
def log_softmax(op: ops.LogSoftmax, inputs: Inputs) -> list[Array]:
    """The logarithm of Softmax."""
    return [_log_softmax(_float64(inputs[0]), op.axis).astype(np.float32)]


@reference("Hardmax")
def hardmax(op: ops.Hardmax, inputs: Inputs) -> list[Array]:
    """1 at the first largest element along the axis, else 0."""
    assert inputs[0] is not None
    x = np.moveaxis(inputs[0], op.axis, -1)
    y = (np.arange(x.shape[-1]) == x.argmax(axis=-1)[..., None]).astype(np.float32)
    return [np.moveaxis(y, -1, op.axis)]


_X = np.concatenate([normal(5003) * 3, np.linspace(-100, 100, 501)]).astype(np.float32)
_ATTRIBUTES = {
    ActivationType.ELU: {"alpha": 0.7},
    ActivationType.LEAKY_RELU: {"alpha": 0.1},
    ActivationType.THRESHOLDRELU: {"alpha": 0.5},
    ActivationType.HARD_TANH: {"min_val": -0.3, "max_val": 1.5},
}
for _type in ActivationType:
    if _type != ActivationType.UNKNOWN:
        case(_type.name.lower(), ops.Activation(activation_type=_type, **_ATTRIBUTES.get(_type, {})), [_X])  # type: ignore[arg-type]
case("several-parts", ops.Activation(activation_type=ActivationType.SIGMOID), [normal(3, 16411)])
case("gelu-tanh", ops.Activation(activation_type=ActivationType.GELU, approximate=True), [_X])
case("nan", ops.Activation(activation_type=ActivationType.RELU), [float32([np.nan, 1, -1, np.inf, -np.inf])])
for _dtype in ("int8", "int32", "int64"):
    for _type in (ActivationType.RELU, ActivationType.RELU6, ActivationType.RELU1, ActivationType.ABS):
        case(f"{_type.name}-{_dtype}", ops.Activation(activation_type=_type),
             [integers(-20, 20, 5, 7, dtype=_dtype)])  # fmt: skip
case("slope", ops.LeakyRelu(negative_slope=0.2), [_X])
case("alpha", ops.Elu(alpha=1.3), [_X])
case("standard", ops.Selu(), [_X])
case("own", ops.Selu(alpha=2.0, gamma=3.0), [_X])
case("alpha", ops.Celu(alpha=2.0), [_X])
case("wide", ops.Mish(), [_X])
case("standard", ops.Shrink(bias=0.25, threshold=0.75), [_X])
case("standard", ops.HardSigmoid(), [_X])
case("channels", ops.PReLUFusion(), [normal(2, 5, 7, 19), normal(19)])
case("shared", ops.PReLUFusion(channel_shared=True), [normal(2, 5, 7, 19), normal(1)])
case("full", ops.PReLUFusion(), [normal(2, 5, 7, 19), normal(5, 1, 19)])
case("last", ops.GLU(), [normal(3, 5, 34)])
case("middle", ops.GLU(axis=1), [normal(3, 10, 7)])
for _label, _shape, _axis in (
    ("last", (5, 37), -1),
    ("long", (3, 20011), -1),
    ("short", (4001, 3), 1),
    ("first", (17, 70), 0),
    ("middle", (3, 11, 5, 7), 1),
    ("one", (4, 1), -1),
    ("empty", (0, 4), 1),
):
    case(_label, ops.Softmax(axis=(_axis,)), [normal(*_shape) * 4])
    case(_label, ops.LogSoftmax(axis=_axis), [normal(*_shape) * 4])
    case(_label, ops.Hardmax(axis=_axis), [normal(*_shape)])
case("default-axis", ops.Softmax(), [normal(3, 10)])
case("masked", ops.Softmax(axis=(-1,)), [np.where(normal(9, 33) < 0, -np.inf, float32(1)).astype(np.float32)])
case("large", ops.Softmax(axis=(-1,)), [normal(4, 10) * 1000])

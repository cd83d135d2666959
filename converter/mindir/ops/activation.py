"""Activation functions."""

from __future__ import annotations

from ._declare import Longs, Operator, boolean, enum, long, longs, operator, real
from .enums import ActivationType


@operator(
    2,
    layout="elementwise",
    tflite="RELU RELU6 LEAKY_RELU TANH HARD_SWISH LOGISTIC",
    onnx="Relu LeakyRelu Elu Tanh Sigmoid HardSigmoid Softplus Gelu GeLUFunction",
    tensorflow="Elu Relu Relu6 Sigmoid Tanh Selu LeakyRelu Softplus",
    caffe="ReLU ReLU6 Sigmoid TanH Elu",
)
class Activation(Operator):
    """The function named by activation_type."""

    activation_type: ActivationType = enum(0, ActivationType.NO_ACTIVATION)
    alpha: float = real(1)
    min_val: float = real(2)
    max_val: float = real(3)
    approximate: bool = boolean(4)


@operator(76, layout="elementwise")
class LeakyRelu(Operator):
    """x where positive, else negative_slope * x."""

    negative_slope: float = real(0)


@operator(51, layout="elementwise")
class Elu(Operator):
    """x where positive, else alpha * (exp(x) - 1)."""

    alpha: float = real(0)


@operator(112, inputs="x slope", layout="nhwc", tflite="PRELU", onnx="PRelu", caffe="PReLU")
class PReLUFusion(Operator):
    """x where positive, else slope * x, one slope per channel (last dimension)."""

    channel_shared: bool = boolean(0)


@operator(196, layout="axis")
class GLU(Operator):
    """First half along `axis` times the sigmoid of the second half."""

    axis: int = long(0, -1)


@operator(138, layout="axis", tflite="SOFTMAX", onnx="Softmax", tensorflow="Softmax", caffe="Softmax")
class Softmax(Operator):
    """exp(x) over its sum along `axis`."""

    axis: Longs = longs(0)


@operator(189, layout="axis", tflite="LOG_SOFTMAX", onnx="LogSoftmax")
class LogSoftmax(Operator):
    """Logarithm of Softmax."""

    axis: int = long(0)


# ---- of mslite: functions that ActivationType does not have, or whose constants it fixes ----


@operator(1020, layout="elementwise", onnx="Celu", custom_type="mslite.Celu")
class Celu(Operator):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""

    alpha: float = real(0, 1.0)


@operator(1021, layout="elementwise", onnx="Mish", custom_type="mslite.Mish")
class Mish(Operator):
    """x * tanh(ln(1 + exp(x)))."""


@operator(1022, layout="elementwise", onnx="Shrink", custom_type="mslite.Shrink")
class Shrink(Operator):
    """x + bias below -threshold, x - bias above threshold, else 0."""

    bias: float = real(0)
    threshold: float = real(1, 0.5)


@operator(1023, layout="elementwise", onnx="HardSigmoid", custom_type="mslite.HardSigmoid")
class HardSigmoid(Operator):
    """alpha * x + beta, limited to [0, 1]. ActivationType.HSIGMOID fixes alpha = 1/6 and beta = 1/2."""

    alpha: float = real(0, 0.2)
    beta: float = real(1, 0.5)


@operator(1024, layout="elementwise", onnx="Selu", custom_type="mslite.Selu")
class Selu(Operator):
    """gamma * x where positive, else gamma * alpha * (exp(x) - 1)."""

    alpha: float = real(0, 1.6732632)
    gamma: float = real(1, 1.050701)


@operator(1025, layout="axis", onnx="Hardmax", custom_type="mslite.Hardmax")
class Hardmax(Operator):
    """1 at the first largest element along `axis`, else 0."""

    axis: int = long(0, -1)

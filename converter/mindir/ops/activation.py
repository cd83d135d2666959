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

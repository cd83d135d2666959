"""Element-wise functions, and Softmax."""

from __future__ import annotations

from math import log

from mslite.converter.mindir.ops import activation as ops
from mslite.converter.mindir.ops import unary
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, Minimum, MulFusion, PowFusion
from mslite.converter.mindir.ops.comparison import Greater
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.training import Dropout

from .call import Blob, Call
from .registry import caffe_layer
from .unsupported import LOSSES

_PLAIN = {
    "BNLL": ActivationType.SOFTPLUS,
    "Sigmoid": ActivationType.SIGMOID,
    "TanH": ActivationType.TANH,
    "HardSwish": ActivationType.HSWISH,
    "HSwish": ActivationType.HSWISH,
}


@caffe_layer(*_PLAIN)
def plain(call: Call) -> Blob:
    x = call.bottom()
    return Blob(call.emit(ops.Activation(activation_type=_PLAIN[call.layer.type]), x.value), x.shape)


@caffe_layer("ReLU")
def relu(call: Call) -> Blob:
    x, slope = call.bottom(), call.parameter("relu").negative_slope
    op = ops.Activation(activation_type=ActivationType.RELU)
    if slope:
        op = ops.Activation(activation_type=ActivationType.LEAKY_RELU, alpha=slope)
    return Blob(call.emit(op, x.value), x.shape)


@caffe_layer("ReLU6")
def relu6(call: Call) -> Blob:
    """Converts ReLU6, min(max(x, 0), 6) in all forks of Caffe; a negative slope is applied before the upper limit."""
    x, slope = call.bottom(), call.parameter("relu").negative_slope
    if not slope:
        return Blob(call.emit(ops.Activation(activation_type=ActivationType.RELU6), x.value), x.shape)
    leaky = call.emit(ops.Activation(activation_type=ActivationType.LEAKY_RELU, alpha=slope), x.value)
    return Blob(call.emit(Minimum(), leaky, call.const(6.0)), x.shape)


@caffe_layer("ELU")
def elu(call: Call) -> Blob:
    x = call.bottom()
    op = ops.Activation(activation_type=ActivationType.ELU, alpha=call.parameter("elu").alpha)
    return Blob(call.emit(op, x.value), x.shape)


@caffe_layer("Mish")
def mish(call: Call) -> Blob:
    x = call.bottom()
    return Blob(call.emit(ops.Mish(), x.value), x.shape)


@caffe_layer("Swish")
def swish(call: Call) -> Blob:
    """Converts Swish: x * sigmoid(beta * x)."""
    x, beta = call.bottom(), call.parameter("swish").beta
    if beta == 1:
        return Blob(call.emit(ops.Activation(activation_type=ActivationType.SWISH), x.value), x.shape)
    scaled = call.emit(MulFusion(), x.value, call.const(beta))
    gate = call.emit(ops.Activation(activation_type=ActivationType.SIGMOID), scaled)
    return Blob(call.emit(MulFusion(), x.value, gate), x.shape)


@caffe_layer("PReLU")
def prelu(call: Call) -> Blob:
    """Converts PReLU: x if positive, else slope * x, with one slope for each channel (dimension 1) or one for all."""
    x, shared = call.bottom(), call.parameter("prelu").channel_shared
    if x.rank < 2:
        raise call.block(f"the bottom blob has {x.rank} dimensions; at least 2 are needed")
    slope = call.weight(0, (1,) if shared else (x.shape[1],))
    return Blob(call.emit(ops.PReLUFusion(channel_shared=shared), x.value, call.const(slope)), x.shape)


@caffe_layer("Clip")
def clip(call: Call) -> Blob:
    x, limits = call.bottom(), call.parameter("clip")
    raised = call.emit(Maximum(), x.value, call.const(limits.min))
    return Blob(call.emit(Minimum(), raised, call.const(limits.max)), x.shape)


@caffe_layer("AbsVal")
def absolute(call: Call) -> Blob:
    x = call.bottom()
    return Blob(call.emit(unary.Abs(), x.value), x.shape)


@caffe_layer("Threshold")
def threshold(call: Call) -> Blob:
    """Converts Threshold: 1 above the threshold, else 0."""
    x = call.bottom()
    above = call.emit(Greater(), x.value, call.const(call.parameter("threshold").threshold))
    return Blob(call.cast(above, DataType.FLOAT32), x.shape)


@caffe_layer("Power")
def power(call: Call) -> Blob:
    """Converts Power: (shift + scale * x) ^ power."""
    x, given = call.bottom(), call.parameter("power")
    y = x.value
    if given.power == 1:
        if given.scale != 1:
            y = call.emit(MulFusion(), y, call.const(given.scale))
        if given.shift != 0 or y is x.value:
            y = call.emit(AddFusion(), y, call.const(given.shift))
        return Blob(y, x.shape)
    return Blob(call.emit(PowFusion(scale=given.scale, shift=given.shift), y, call.const(given.power)), x.shape)


@caffe_layer("Exp")
def exponential(call: Call) -> Blob:
    """Converts Exp: base ^ (shift + scale * x); base -1 is e."""
    x, given = call.bottom(), call.parameter("exp")
    _check_base(call, given.base)
    op = unary.ExpFusion(base=given.base, scale=given.scale, shift=given.shift)
    return Blob(call.emit(op, x.value), x.shape)


@caffe_layer("Log")
def logarithm(call: Call) -> Blob:
    """Converts Log: log_base(shift + scale * x); base -1 is e."""
    x, given = call.bottom(), call.parameter("log")
    _check_base(call, given.base)
    y = x.value
    if given.scale != 1:
        y = call.emit(MulFusion(), y, call.const(given.scale))
    if given.shift != 0:
        y = call.emit(AddFusion(), y, call.const(given.shift))
    y = call.emit(unary.Log(), y)
    if given.base != -1:
        if given.base == 1:
            raise call.block("a logarithm of base 1 does not exist", attribute="base")
        y = call.emit(MulFusion(), y, call.const(1.0 / log(given.base)))
    return Blob(y, x.shape)


def _check_base(call: Call, base: float) -> None:
    if base != -1 and not base > 0:
        raise call.block(f"{base} must be positive, or -1 for e", attribute="base")


@caffe_layer("Softmax")
def softmax(call: Call) -> Blob:
    x = call.bottom()
    axis = call.axis(call.parameter("softmax").axis, x.rank)
    return Blob(call.emit(ops.Softmax(axis=(axis,)), x.value), x.shape)


@caffe_layer(*LOSSES)
def loss_as_function(call: Call) -> list[Blob]:
    """Converts a loss to its activation, Softmax or Sigmoid, because inference has no labels."""
    x = call.bottom()
    if call.layer.type == "SoftmaxWithLoss":
        name, y = "Softmax", softmax(call)
    else:
        name, y = "Sigmoid", Blob(call.emit(ops.Activation(activation_type=ActivationType.SIGMOID), x.value), x.shape)
    call.scope.notes.append(f"{call.layer.type} '{call.name}' is converted to {name}: inference has no labels")
    return [y] * max(1, call.top_count)


@caffe_layer("Dropout")
def dropout(call: Call) -> Blob:
    """Converts Dropout: identity at inference, or a factor for forks that do not scale in training."""
    x, given = call.bottom(), call.parameter("dropout")
    if given.scale_train:
        drops = 0 < given.dropout_ratio < 1 and x.value.producer is not None
        return Blob(call.emit(Dropout(keep_prob=1 - given.dropout_ratio), x.value), x.shape) if drops else x
    return Blob(call.emit(MulFusion(), x.value, call.const(1 - given.dropout_ratio)), x.shape)


@caffe_layer("Split")
def passing(call: Call) -> list[Blob]:
    return [call.bottom()] * max(1, call.top_count)


@caffe_layer("Silence")
def silence(call: Call) -> list[Blob]:
    """Drops Silence; its bottom blobs do not become outputs."""
    return []

"""Fused operators that TensorFlow's graph optimizer (grappler) creates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, BiasAdd
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.enums import ActivationType, PaddingMode
from mslite.converter.mindir.ops.normalization import FusedBatchNorm

from .activation import RELU, RELU6
from .call import Call
from .convolution import conv2d, depthwise_conv2d
from .matmul import product_operator
from .normalization import MOVED, normalized
from .registry import tf_operator


def _leaky(call: Call) -> Activation:
    return Activation(activation_type=ActivationType.LEAKY_RELU, alpha=call.real("leakyrelu_alpha", 0.2))


_ACTIVATIONS: dict[str, Callable[[Call], Activation]] = {
    "Relu": lambda call: RELU,
    "Relu6": lambda call: RELU6,
    "Elu": lambda call: Activation(activation_type=ActivationType.ELU, alpha=1.0),
    "LeakyRelu": _leaky,
    "Sigmoid": lambda call: Activation(activation_type=ActivationType.SIGMOID),
    "Tanh": lambda call: Activation(activation_type=ActivationType.TANH),
    "GeluApproximate": lambda call: Activation(activation_type=ActivationType.GELU, approximate=True),
    "GeluExact": lambda call: Activation(activation_type=ActivationType.GELU),
}


def _followed(call: Call, value: Value, arguments: Sequence[Value], steps: Sequence[str]) -> Value:
    """Returns `value` after the steps of `fused_ops`; `arguments` are their operands. Raises Blocked."""
    given = list(arguments)

    def take(count: int) -> list[Value]:
        if len(given) < count:
            raise call.block(f"{list(steps)} need more operands than the node has", attribute="fused_ops")
        taken, given[:] = given[:count], given[count:]
        return taken

    first = call.has_attribute("data_format") and call.channels_first()
    for step in steps:
        if step == "BiasAdd":
            value = call.spatial(BiasAdd(), value, *take(1), channels_first=first)
        elif step == "FusedBatchNorm":
            op = FusedBatchNorm(epsilon=call.real("epsilon", 1e-4), momentum=MOVED, mode=1)
            value = call.spatial(op, value, *take(4), channels_first=first)
        elif step in _ACTIVATIONS:
            value = call.emit(_ACTIVATIONS[step](call), value)
        else:
            raise call.block(
                f"the fused step '{step}' is unsupported", "Freeze the model without grappler", "fused_ops"
            )
    return value


@tf_operator("_FusedMatMul")
def fused_matmul(call: Call) -> Value:
    value = call.emit(product_operator(call), call.input(0), call.input(1))
    return _followed(call, value, call.inputs(2), call.texts("fused_ops"))


@tf_operator("_FusedConv2D", "_FusedDepthwiseConv2dNative")
def fused_conv2d(call: Call) -> Value:
    steps = call.texts("fused_ops")
    build = conv2d if call.operator == "_FusedConv2D" else depthwise_conv2d
    if steps and steps[0] == "BiasAdd":
        value = build(call, call.input(0), call.input(1), call.input(2))
        return _followed(call, value, call.inputs(3), steps[1:])
    return _followed(call, build(call, call.input(0), call.input(1)), call.inputs(2), steps)


@tf_operator("FusedPadConv2D")
def padded_conv2d(call: Call) -> Value:
    """Converts FusedPadConv2D (inputs: x, paddings, weight): mirror padding, then a convolution."""
    modes = {"REFLECT": PaddingMode.REFLECT, "SYMMETRIC": PaddingMode.SYMMETRIC}
    mode = call.text("mode")
    if mode not in modes:
        raise call.block(f"the mode '{mode}' is unknown", attribute="mode")
    x = call.emit(PadFusion(padding_mode=modes[mode]), call.input(0), call.int32(1))
    return conv2d(call, x, call.input(2))


@tf_operator("_FusedBatchNormEx")
def fused_batch_norm(call: Call) -> tuple[Value, ...]:
    """Converts FusedBatchNorm, the addition of an optional sixth input, and an activation."""
    value, mean, variance = normalized(call)
    if call.has_input(5):
        value = call.emit(AddFusion(), value, call.input(5))
    name = call.text("activation_mode", "Identity")
    if name != "Identity":
        value = _followed(call, value, (), [name])
    return value, mean, variance

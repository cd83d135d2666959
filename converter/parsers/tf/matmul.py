"""Matrix products, and the fused forms that TensorFlow's optimiser writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import BiasAdd
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.normalization import FusedBatchNorm
from mslite.converter.parsers.einsum import einsum

from .activation import RELU, RELU6
from .call import Call
from .convolution import conv2d, depthwise_conv2d
from .registry import tf_operator


def _product(call: Call) -> MatMulFusion:
    return MatMulFusion(transpose_a=call.flag("transpose_a"), transpose_b=call.flag("transpose_b"))


@tf_operator("MatMul", "SparseMatMul")
def matmul(call: Call) -> Value:
    return call.emit(_product(call), call.input(0), call.input(1))


@tf_operator("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(call: Call) -> Value:
    """The adjoint of real matrices is their transpose."""
    op = MatMulFusion(transpose_a=call.flag("adj_x"), transpose_b=call.flag("adj_y"))
    return call.emit(op, call.input(0), call.input(1))


@tf_operator("Einsum")
def einstein_sum(call: Call) -> Value:
    return einsum(call, call.text("equation"), call.inputs())


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
    """`value` behind the steps of `fused_ops`, whose operands are `arguments`."""
    given = list(arguments)

    def take(count: int) -> list[Value]:
        if len(given) < count:
            raise call.block(f"{list(steps)} need more operands than there are", attribute="fused_ops")
        taken, given[:] = given[:count], given[count:]
        return taken

    first = call.has_attribute("data_format") and call.channels_first()
    for step in steps:
        if step == "BiasAdd":
            value = call.spatial(BiasAdd(), value, *take(1), channels_first=first)
        elif step == "FusedBatchNorm":
            op = FusedBatchNorm(epsilon=call.real("epsilon", 1e-4), mode=1)
            value = call.spatial(op, value, *take(4), channels_first=first)
        elif step in _ACTIVATIONS:
            value = call.emit(_ACTIVATIONS[step](call), value)
        else:
            raise call.block(f"the fused step '{step}' is not supported", "Freeze without grappler", "fused_ops")
    return value


@tf_operator("_FusedMatMul")
def fused_matmul(call: Call) -> Value:
    value = call.emit(_product(call), call.input(0), call.input(1))
    return _followed(call, value, call.inputs(2), call.texts("fused_ops"))


@tf_operator("_FusedConv2D", "_FusedDepthwiseConv2dNative")
def fused_conv2d(call: Call) -> Value:
    steps = call.texts("fused_ops")
    build = conv2d if call.operator == "_FusedConv2D" else depthwise_conv2d
    if steps and steps[0] == "BiasAdd":
        value = build(call, call.input(0), call.input(1), call.input(2))
        return _followed(call, value, call.inputs(3), steps[1:])
    return _followed(call, build(call, call.input(0), call.input(1)), call.inputs(2), steps)

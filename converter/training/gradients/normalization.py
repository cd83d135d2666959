"""Gradients of normalizations and softmax.

With n = (x - mean(x)) r, r = 1 / sqrt(variance(x) + epsilon) and y = n gamma + beta, where g = dy gamma,

    dx = r (g - mean(g) - n mean(g n)),  dgamma = sum(dy n),  dbeta = sum(dy).

Without the mean (RMS normalization) n = x r and dx = r (g - n mean(g n)).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops import activation, normalization
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, PowFusion, SubFusion
from mslite.converter.mindir.ops.enums import ActivationType, ReduceMode
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.training import ActivationGrad, BatchNormGrad, BatchNormTraining, LayerNormGrad
from mslite.converter.mindir.ops.unary import Rsqrt
from mslite.converter.training.gradients.rule import Call, Gradients, NoGradientError, rule, shape_of


@rule("Softmax")
def _softmax(call: Call, dy: Value) -> Gradients:
    """dx = y (dy - sum(dy y))."""
    assert isinstance(call.op, activation.Softmax)
    y = call.node.output
    axis = (call.op.axis[0] if call.op.axis else -1) % len(call.shape(0))
    total = call.reduced(ReduceMode.ReduceSum, "sum", call.product("weighted", dy, y), (axis,))
    return [call.product("x", y, call.difference("rest", dy, total))]


@rule("L2NormalizeFusion")
def _length(call: Call, dy: Value) -> Gradients:
    """L2 normalization: y = x r, r = 1 / sqrt(max(sum(x^2), epsilon)); dx = r (dy - y sum(dy y)), without the second
    term where epsilon
    is the maximum."""
    op, x, y = call.op, call.node.inputs[0], call.node.output
    assert isinstance(op, normalization.L2NormalizeFusion)
    rank = len(call.shape(0))
    axes = tuple(axis % rank for axis in op.axis) if op.axis else tuple(range(rank))
    square = call.reduced(ReduceMode.ReduceSum, "square", call.product("squares", x, x), axes)
    small = call.build.constant(call.name("epsilon"), np.float32(op.epsilon))
    bounded = call.add(Maximum(), "bounded", [square, small], shape_of(square))
    factor = call.add(Rsqrt(), "factor", [bounded], shape_of(square))
    along = call.reduced(ReduceMode.ReduceSum, "along", call.product("weighted", dy, y), axes)
    over = call.add(SubFusion(), "over", [square, small], shape_of(square))
    gate = ActivationGrad(activation_type=ActivationType.RELU)
    kept = call.add(gate, "kept", [along, over], shape_of(square))
    return [call.product("x", call.difference("rest", dy, call.product("given", y, kept)), factor)]


@rule("LRN")
def _local_response(call: Call, dy: Value) -> Gradients:
    """With S, the sum over neighboring channels, u = bias + alpha S(x^2) and y = x u^-beta:
    dx = dy u^-beta - 2 alpha beta x S(dy x u^(-beta - 1)). S is a matmul with a band matrix of ones."""
    op, build, whole = call.op, call.build, call.shape(0)
    assert isinstance(op, normalization.LRN)
    channels = np.arange(whole[-1])
    near = np.abs(channels[:, None] - channels) <= op.depth_radius
    band = build.constant(call.name("band"), near.astype(np.float32))

    def gathered(what: str, value: Value) -> Value:
        flat = build.reshaped(value, (prod(whole[:-1]), whole[-1]), call.name(f"{what}/flat"))
        return build.reshaped(
            call.add(MatMulFusion(), what, [flat, band], shape_of(flat)), whole, call.name(f"{what}/back")
        )

    def power(what: str, exponent: float) -> Value:
        constant = build.constant(call.name(f"{what}/exponent"), np.float32(exponent))
        return call.add(PowFusion(scale=op.alpha, shift=op.bias), what, [squares, constant], whole)

    x = call.node.inputs[0]
    squares = gathered("squares", call.product("square", x, x))
    direct = call.product("direct", dy, power("factor", -op.beta))
    slope = call.product("slope", call.product("given", dy, x), power("slope/factor", -op.beta - 1))
    scale = build.constant(call.name("scale"), np.float32(2 * op.alpha * op.beta))
    others = call.product("others", call.product("near", x, gathered("slopes", slope)), scale)
    return [call.difference("x", direct, others)]


@rule("BatchNormTraining")
def _batch(call: Call, dy: Value) -> Gradients:
    op, node = call.op, call.node
    assert isinstance(op, BatchNormTraining)
    mean, variance = node.outputs[3:]
    # MindSpore's operator has a sixth input, which its CPU kernels do not read.
    inputs = [dy, *node.inputs[:2], mean, variance, variance]
    shapes = [call.shape(0), call.shape(1), call.shape(2)]
    gradient = BatchNormGrad(epsilon=op.epsilon, is_training=True)
    return [*call.build.nodes(gradient, call.name("batch"), inputs, shapes), None, None]


@rule("LayerNormFusion")
def _layer(call: Call, dy: Value) -> Gradients:
    op, node, whole = call.op, call.node, call.shape(0)
    assert isinstance(op, normalization.LayerNormFusion)
    rank = len(whole)
    own = range(op.begin_norm_axis % rank, rank)
    before = op.begin_params_axis % rank if op.elementwise_affine else 0
    if len(node.inputs) < 3 or not call.wanted[0] or whole[before:] != call.shape(1):
        return _normalized(call, dy, whole, tuple(own), op.epsilon, range(before))
    mean, variance = _statistics(call, tuple(1 if i in own else size for i, size in enumerate(whole)))
    small = call.build.constant(call.name("epsilon"), np.float32(op.epsilon))
    spread = call.add(AddFusion(), "spread", [variance, small], shape_of(variance))
    gradient = LayerNormGrad(begin_norm_axis=op.begin_norm_axis, begin_params_axis=before)
    trained = any(call.wanted[1:])
    shapes = [whole, call.shape(1), call.shape(2)] if trained else [whole]
    operands = [node.inputs[0], dy, spread, mean, node.inputs[1]]
    found = call.build.nodes(gradient, call.name("x"), operands, shapes)
    return [*found, None, None][:3]


def _statistics(call: Call, shape: Shape) -> tuple[Value, Value]:
    """Returns mean and variance of a LayerNormFusion, which are added as its outputs."""
    node = call.node
    missing = ("mean", "variance")[len(node.outputs) - 1 :]
    node.outputs = (*node.outputs, *(call.build.value(call.name(what), shape) for what in missing))
    for value in node.outputs:
        value.producer = node
    return node.outputs[1], node.outputs[2]


@rule("RmsNorm")
def _root_mean_square(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, normalization.RmsNorm)
    rank = len(call.shape(0))
    axis = op.axis % rank
    return _normalized(call, dy, call.shape(0), tuple(range(axis, rank)), op.epsilon, range(axis), centered=False)


@rule("InstanceNorm")
def _instance(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, normalization.InstanceNorm)
    pixels = tuple(range(2, len(call.shape(0))))
    return _normalized(call, dy, call.shape(0), pixels, call.op.epsilon, (0, *pixels))


@rule("ChannelsLastInstanceNorm")
def _channels_last_instance(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, normalization.ChannelsLastInstanceNorm)
    last = len(call.shape(0)) - 1
    return _normalized(call, dy, call.shape(0), tuple(range(1, last)), call.op.epsilon, range(last))


@rule("GroupNormFusion")
def _groups(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, normalization.GroupNormFusion)
    batch, channels, *pixels = call.shape(0)
    view = (batch, op.num_groups, channels // op.num_groups, *pixels)
    others = [axis for axis in range(len(call.shape(0))) if axis != 1]
    return _normalized(call, dy, view, tuple(range(2, len(view))), op.epsilon, others)


def _normalized(
    call: Call,
    dy: Value,
    view: Shape,
    axes: tuple[int, ...],
    epsilon: float,
    shared: Sequence[int],
    centered: bool = True,
) -> Gradients:
    """Returns the gradients of a normalization over `axes` of x reshaped to `view`; gamma and beta are broadcast along
    the axes `shared`
    of x."""
    build, x, whole = call.build, call.node.inputs[0], call.shape(0)

    def mean(what: str, value: Value) -> Value:
        return call.reduced(ReduceMode.ReduceMean, what, value, axes)

    def viewed(value: Value, what: str) -> Value:
        return build.reshaped(value, view, call.name(f"{what}/view"))

    def back(value: Value, what: str) -> Value:
        return build.reshaped(value, whole, call.name(what))

    middle = viewed(x, "x")
    if centered:
        middle = call.difference("centered", middle, mean("mean", middle))
    variance = mean("variance", call.product("squares", middle, middle))
    small = build.constant(call.name("epsilon"), np.float32(epsilon))
    spread = call.add(AddFusion(), "spread", [variance, small], shape_of(variance))
    factor = call.add(Rsqrt(), "factor", [spread], shape_of(variance))
    normal = call.product("normal", middle, factor)

    found: Gradients = [None] * len(call.node.inputs)
    kept = tuple(1 if axis in shared else size for axis, size in enumerate(whole))
    scaled = dy
    for place, value in enumerate(call.node.inputs[1:], 1):
        if place > 2 or np.prod(shape_of(value)) != np.prod(kept):
            raise NoGradientError(f"'{value.name}' has the shape {list(shape_of(value))}, not {list(kept)}")
        if place == 1:
            scaled = call.product("scaled", dy, build.reshaped(value, kept, call.name("gamma/shaped")))
        if call.wanted[place]:
            part = call.product("dy_normal", dy, back(normal, "normal/back")) if place == 1 else dy
            total = call.reduced(ReduceMode.ReduceSum, ("gamma", "beta")[place - 1], part, shared)
            found[place] = build.reshaped(total, shape_of(value), call.name(f"operand_{place}"))
    if call.wanted[0]:
        given = viewed(scaled, "scaled")
        along = call.product("along", normal, mean("along/mean", call.product("given_normal", given, normal)))
        rest = call.difference("rest", given, along)
        if centered:
            rest = call.difference("rest_centered", rest, mean("given/mean", given))
        found[0] = back(call.product("x", rest, factor), "x/back")
    return found

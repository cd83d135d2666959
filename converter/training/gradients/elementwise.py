"""Gradients of element-wise functions of one and two inputs."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator, activation, arithmetic, training
from mslite.converter.mindir.ops.comparison import Where
from mslite.converter.mindir.ops.enums import ActivationType, DataType, ReduceMode
from mslite.converter.mindir.ops.reduction import CumSum
from mslite.converter.mindir.ops.unary import Abs, Clip, ExpFusion, Neg
from mslite.converter.training.gradients.rule import Call, Gradients, NoGradientError, rule, shape_of

_OF_Y = (ActivationType.SIGMOID, ActivationType.TANH, ActivationType.ELU, ActivationType.RELU, ActivationType.RELU6)
_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def _by_activation(call: Call, dy: Value, kind: ActivationType, alpha: float = 0.0) -> Gradients:
    at = call.node.output if kind in _OF_Y else call.node.inputs[0]
    op = training.ActivationGrad(activation_type=kind, alpha=alpha)
    inputs = [at, dy] if kind in (ActivationType.SIGMOID, ActivationType.TANH) else [dy, at]
    return [call.add(op, "x", inputs, call.shape(0)), *[None] * (len(call.node.inputs) - 1)]


@rule("Activation")
def _activation(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, activation.Activation)
    kind = op.activation_type
    if kind is ActivationType.SIGN:
        return [None]
    if kind is ActivationType.UNKNOWN:
        raise NoGradientError(f"the gradient of {kind.name} is not supported")
    if kind is ActivationType.GELU and op.approximate:
        kind = ActivationType.FAST_GELU
    x = call.node.inputs[0]
    if kind is ActivationType.HARD_TANH:
        return [_within(call, _above(call, dy, x, op.min_val), x, op.max_val)]
    if kind is ActivationType.THRESHOLDRELU:
        return [_above(call, dy, x, op.alpha)]
    if kind is ActivationType.SELU:
        return [_selu(call, dy, _SELU_SCALE, _SELU_ALPHA)]
    return _by_activation(call, dy, kind, op.alpha)


def _gate(call: Call, dy: Value, x: Value, what: str) -> Value:
    """Returns dy where x > 0, else 0."""
    return call.add(training.ActivationGrad(activation_type=ActivationType.RELU), what, [dy, x], call.shape(0))


def _above(call: Call, dy: Value, x: Value, low: float) -> Value:
    """Returns dy where x > low, else 0."""
    if np.isinf(low):
        return dy
    bound = call.build.constant(call.name("low"), np.float32(low))
    return _gate(call, dy, call.difference("above", x, bound), "x_above")


def _within(call: Call, dy: Value, x: Value, high: float) -> Value:
    """Returns dy where x < high, else 0."""
    if np.isinf(high):
        return dy
    bound = call.build.constant(call.name("high"), np.float32(high))
    return _gate(call, dy, call.add(arithmetic.SubFusion(), "below", [bound, x], call.shape(0)), "x_below")


def _selu(call: Call, dy: Value, factor: float, alpha: float) -> Value:
    """Returns the gradient of factor * ELU(x), computed from its output."""
    scale = call.build.constant(call.name("scale"), np.float32(factor))
    unscaled = call.add(arithmetic.DivFusion(), "unscaled", [call.node.output, scale], call.shape(0))
    op = training.ActivationGrad(activation_type=ActivationType.ELU, alpha=alpha)
    return call.product("x", call.add(op, "elu", [dy, unscaled], call.shape(0)), scale)


@rule("Selu")
def _scaled_elu(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, activation.Selu)
    return [_selu(call, dy, call.op.gamma, call.op.alpha)]


@rule("Celu")
def _continuous_elu(call: Call, dy: Value) -> Gradients:
    """CELU is alpha ELU(x / alpha); its gradient is that of ELU at x / alpha."""
    assert isinstance(call.op, activation.Celu)
    alpha = call.build.constant(call.name("alpha"), np.float32(call.op.alpha))
    unscaled = call.add(arithmetic.DivFusion(), "unscaled", [call.node.output, alpha], call.shape(0))
    op = training.ActivationGrad(activation_type=ActivationType.ELU, alpha=1.0)
    return [call.add(op, "x", [dy, unscaled], call.shape(0))]


@rule("Mish")
def _mish(call: Call, dy: Value) -> Gradients:
    """With t = tanh(ln(1 + exp(x))): dx = dy (t + x sigmoid(x) (1 - t^2))."""
    x, shape = call.node.inputs[0], call.shape(0)

    def activated(kind: ActivationType, what: str, value: Value) -> Value:
        return call.add(activation.Activation(activation_type=kind), what, [value], shape)

    t = activated(ActivationType.TANH, "t", activated(ActivationType.SOFTPLUS, "softplus", x))
    gated = call.product("gated", x, activated(ActivationType.SIGMOID, "sigmoid", x))
    rest = call.difference("rest", gated, call.product("fall", gated, call.product("square", t, t)))
    return [call.product("x", dy, call.add(arithmetic.AddFusion(), "slope", [t, rest], shape))]


@rule("HardSigmoid")
def _hard_sigmoid(call: Call, dy: Value) -> Gradients:
    """dx = alpha dy where the output is between its bounds, else 0."""
    assert isinstance(call.op, activation.HardSigmoid)
    y = call.node.output
    alpha = call.build.constant(call.name("alpha"), np.float32(call.op.alpha))
    return [call.product("x", _within(call, _above(call, dy, y, 0.0), y, 1.0), alpha)]


@rule("Shrink")
def _shrink(call: Call, dy: Value) -> Gradients:
    """dx = dy where |x| is above the threshold, else 0."""
    assert isinstance(call.op, activation.Shrink)
    size = call.add(Abs(), "size", [call.node.inputs[0]], call.shape(0))
    return [_above(call, dy, size, call.op.threshold)]


@rule("Clip")
def _clip(call: Call, dy: Value) -> Gradients:
    """dx = dy within the bounds, which are attributes or constant inputs."""
    op, x = call.op, call.node.inputs[0]
    assert isinstance(op, Clip)
    bounds = [value.data for value in call.node.inputs[1:3]]
    known = [float(bound.reshape(-1)[0]) for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        raise NoGradientError("its bounds are not constant")
    low, high = known if len(known) == 2 else (op.min, op.max)
    dx = _within(call, _above(call, dy, x, low), x, high)
    return [dx, *[None] * (len(call.node.inputs) - 1)]


@rule("Dropout")
def _dropout(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, training.Dropout)
    op = training.DropoutGrad(keep_prob=call.op.keep_prob)
    return [call.add(op, "x", [dy, call.node.outputs[1]], call.shape(0)), *[None] * (len(call.node.inputs) - 1)]


@rule("LeakyRelu")
def _leaky(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, activation.LeakyRelu)
    return _by_activation(call, dy, ActivationType.LEAKY_RELU, call.op.negative_slope)


@rule("Elu")
def _elu(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, activation.Elu)
    return _by_activation(call, dy, ActivationType.ELU, call.op.alpha)


@rule("PReLUFusion")
def _leaky_by_channel(call: Call, dy: Value) -> Gradients:
    """dx = dy where x > 0, else slope dy; dslope = sum(dy x) over x < 0."""
    x, slope = call.node.inputs
    positive = call.add(
        training.ActivationGrad(activation_type=ActivationType.RELU), "positive", [dy, x], call.shape(0)
    )
    negative = call.difference("negative", dy, positive)
    found: Gradients = [None, None]
    if call.wanted[0]:
        rest = call.product("slope_negative", negative, slope)
        found[0] = call.add(arithmetic.AddFusion(), "x", [positive, rest], call.shape(0))
    if call.wanted[1]:
        rank, shape = len(call.shape(0)), call.shape(1)
        kept = (1,) * (rank - len(shape)) + shape
        shared = [axis for axis in range(rank) if kept[axis] == 1]
        total = call.reduced(ReduceMode.ReduceSum, "slope", call.product("negative_x", negative, x), shared)
        found[1] = call.build.reshaped(total, shape, call.name("slope/shaped"))
    return found


@rule("PowFusion")
def _power(call: Call, dy: Value) -> Gradients:
    op, x = call.op, call.node.inputs[0]
    assert isinstance(op, arithmetic.PowFusion)
    exponent = call.node.inputs[1].data if len(call.node.inputs) > 1 else np.ones(1)
    if exponent is None or exponent.size != 1:
        raise NoGradientError("the exponent is not a constant scalar")
    slope = training.PowerGrad(power=float(exponent.reshape(-1)[0]), scale=op.scale, shift=op.shift)
    return [call.add(slope, "x", [dy, x], call.shape(0)), *[None] * (len(call.node.inputs) - 1)]


@rule("Abs", "Log", "Neg", "Sqrt", "Rsqrt", "Square")
def _function(call: Call, dy: Value) -> Gradients:
    x, y = call.node.inputs[0], call.node.output
    made: dict[str, tuple[Operator, list[Value]]] = {
        "Abs": (training.AbsGrad(), [x, dy]),
        "Log": (training.LogGrad(), [dy, x]),
        "Neg": (training.NegGrad(), [dy]),
        "Sqrt": (training.SqrtGrad(), [y, dy]),
        "Rsqrt": (training.RsqrtGrad(), [y, dy]),
        "Square": (training.PowerGrad(power=2.0, scale=1.0), [dy, x]),
    }
    op, inputs = made[call.op.name]
    return [call.add(op, "x", inputs, call.shape(0))]


@rule("Reciprocal")
def _reciprocal(call: Call, dy: Value) -> Gradients:
    """dx = -dy / x^2."""
    y = call.node.output
    fall = call.product("fall", dy, call.product("square", y, y))
    return [call.add(Neg(), "x", [fall], call.shape(0))]


@rule("Log1p")
def _log_of_more(call: Call, dy: Value) -> Gradients:
    """dx = dy / (1 + x)."""
    one = call.build.constant(call.name("one"), np.float32(1))
    more = call.add(arithmetic.AddFusion(), "more", [call.node.inputs[0], one], call.shape(0))
    return [call.add(arithmetic.DivFusion(), "x", [dy, more], call.shape(0))]


@rule("CumSum")
def _running_sum(call: Call, dy: Value) -> Gradients:
    """The gradient of a cumulative sum is the cumulative sum from the other end."""
    op = call.op
    assert isinstance(op, CumSum)
    back = CumSum(exclusive=op.exclusive, reverse=not op.reverse)
    return [call.add(back, "x", [dy, call.node.inputs[1]], call.shape(0)), None]


@rule("Where", "Select")
def _choice(call: Call, dy: Value) -> Gradients:
    """The selected input gets the gradient, the other gets 0; broadcast inputs get the sum."""
    if len(call.node.inputs) != 3:
        raise NoGradientError("it returns indices, or selects between several pairs")
    condition = call.node.inputs[0]
    none = call.build.constant(call.name("none"), np.float32(0))
    found: Gradients = [None]
    for place, name in ((1, "a"), (2, "b")):
        operands = [dy, none] if place == 1 else [none, dy]
        chosen = (
            call.add(Where(), f"{name}/chosen", [condition, *operands], shape_of(dy)) if call.wanted[place] else None
        )
        found.append(None if chosen is None else call.gathered(chosen, call.shape(place), name))
    return found


@rule("Erf")
def _gauss(call: Call, dy: Value) -> Gradients:
    """dx = 2 / sqrt(pi) exp(-x^2) dy."""
    shape = call.shape(0)
    square = call.product("square", call.node.inputs[0], call.node.inputs[0])
    bell = call.add(ExpFusion(scale=-1.0), "bell", [square], shape)
    factor = call.build.constant(call.name("factor"), np.float32(2 / np.sqrt(np.pi)))
    slope = call.product("slope", bell, factor)
    return [call.product("x", dy, slope)]


@rule("LogSoftmax")
def _log_softmax(call: Call, dy: Value) -> Gradients:
    """dx = dy - exp(y) sum(dy)."""
    assert isinstance(call.op, activation.LogSoftmax)
    axis = call.op.axis % len(call.shape(0))
    total = call.reduced(ReduceMode.ReduceSum, "sum", dy, (axis,))
    shares = call.add(ExpFusion(), "shares", [call.node.output], call.shape(0))
    return [call.difference("x", dy, call.product("given", shares, total))]


@rule("SquaredDifference")
def _squared_difference(call: Call, dy: Value) -> Gradients:
    """da = 2 dy (a - b) and db = -da, summed over broadcast dimensions."""
    a, b = call.node.inputs
    whole = shape_of(dy)
    apart = call.add(arithmetic.SubFusion(), "apart", [a, b], whole)
    two = call.build.constant(call.name("two"), np.float32(2))
    slope = call.product("slope", call.product("twice", apart, two), dy)
    return list(call.build.nodes(training.SubGrad(), call.name("ab"), [slope, a, b], [call.shape(0), call.shape(1)]))


@rule("Cast")
def _cast(call: Call, dy: Value) -> Gradients:
    """The gradient of casts between floats, which are all float32 here, is dy. Integers and bool have no gradient."""
    x = call.node.inputs[0]
    if x.dtype is not DataType.FLOAT32 or call.node.output.dtype is not DataType.FLOAT32:
        return [None] * len(call.node.inputs)
    return [dy, *[None] * (len(call.node.inputs) - 1)]


@rule("Sign", "Floor", "Ceil", "Round", "ZerosLike", "OnesLike", "ConstantOfShape", "Fill")
def _steps(call: Call, dy: Value) -> Gradients:
    """The gradient of step functions is 0, as in PyTorch."""
    return [None] * len(call.node.inputs)


@rule("ExpFusion")
def _exponential(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, ExpFusion)
    factor = op.scale * (1.0 if op.base <= 0 else float(np.log(op.base)))
    dx = call.add(arithmetic.MulFusion(), "product", [dy, call.node.output], call.shape(0))
    if factor != 1.0:
        scale = call.build.constant(call.name("factor"), np.float32(factor))
        dx = call.add(arithmetic.MulFusion(), "x", [dx, scale], call.shape(0))
    return [dx]


@rule("AddFusion", "SubFusion", "MulFusion", "DivFusion", "RealDiv", "Maximum", "Minimum", "BiasAdd")
def _binary(call: Call, dy: Value) -> Gradients:
    a, b = call.node.inputs
    of_a, of_b, whole = call.shape(0), call.shape(1), shape_of(dy)
    name = call.op.name
    found: Gradients = [None, None]
    if name in ("AddFusion", "BiasAdd"):
        if of_a == whole and (of_b == whole or not call.wanted[1]):
            return [dy, dy]
        if of_a == whole and of_b == whole[-1:]:
            return [dy, call.add(training.BiasAddGrad(), "b", [dy], of_b)]
    if name == "SubFusion" and of_a == whole and not call.wanted[1]:
        return [dy, None]
    if name == "MulFusion" and all(call.shape(place) == whole for place in (0, 1) if call.wanted[place]):
        for place, other in enumerate((b, a)):
            if call.wanted[place]:
                found[place] = call.add(arithmetic.MulFusion(), "ab"[place], [dy, other], whole)
        return found
    if name in ("DivFusion", "RealDiv") and call.wanted == (True, False) and of_a == whole:
        return [call.add(arithmetic.DivFusion(), "a", [dy, b], whole), None]
    ops: dict[str, Operator] = {
        "AddFusion": training.AddGrad(),
        "BiasAdd": training.AddGrad(),
        "SubFusion": training.SubGrad(),
        "MulFusion": training.MulGrad(),
        "Maximum": training.MaximumGrad(grad_x=True, grad_y=True),
        "Minimum": training.MinimumGrad(grad_x=True, grad_y=True),
    }
    op = ops.get(name, training.DivGrad())
    inputs = [a, b, dy] if name in ("Maximum", "Minimum") else [dy, a, b]
    return list(call.build.nodes(op, call.name("ab"), inputs, [of_a, of_b]))


@rule("AddN")
def _sum(call: Call, dy: Value) -> Gradients:
    return [dy] * len(call.node.inputs)

"""Activations and clamping as functions of `mint` and `ops`: constants are operands instead of attributes."""

from __future__ import annotations

from math import log

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops.activation import Activation, Celu, LogSoftmax, Mish, Shrink, Softmax
from mslite.converter.mindir.ops.arithmetic import Maximum, Minimum
from mslite.converter.mindir.ops.comparison import Greater, Where
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.unary import Abs, ExpFusion, Floor, Log, Log1p, Neg, Round

from .call import Call
from .registry import primitive

_MAX_DECIMALS = 30


@primitive("LeakyReLUExt", operators="Activation", arguments="input negative_slope")
def leaky_relu(call: Call) -> Value:
    slope = call.real("negative_slope", 0.01)
    return call.emit(Activation(activation_type=ActivationType.LEAKY_RELU, alpha=slope), call.input(0))


@primitive("GeluExt", operators="Activation", arguments="input approximate")
def gelu(call: Call) -> Value:
    """Converts GELU: the formula with erf, or the approximation with tanh."""
    approximate = call.attribute("approximate") in ("tanh", 1)
    return call.emit(Activation(activation_type=ActivationType.GELU, approximate=approximate), call.input(0))


@primitive("FastGeLU", "FastGelu", operators="Activation MulFusion", arguments="x")
def fast_gelu(call: Call) -> Value:
    """Converts FastGeLU: x * sigmoid(1.702 |x|) * exp(0.851 (x - |x|)), as in MindSpore's documentation."""
    x = call.input(0)
    size = call.emit(Abs(), x)
    gate = call.emit(Activation(activation_type=ActivationType.SIGMOID), _scaled(call, size, 1.702))
    decay = call.emit(_exponential(), _scaled(call, call.emit(ops.SubFusion(), x, size), 0.851))
    return call.emit(ops.MulFusion(), call.emit(ops.MulFusion(), x, gate), decay)


def _scaled(call: Call, x: Value, factor: float) -> Value:
    return call.emit(ops.MulFusion(), x, call.like(factor, x))


def _exponential() -> ExpFusion:
    return ExpFusion(base=-1.0, scale=1.0, shift=0.0)


@primitive("CeLU", operators="Celu", arguments="x alpha")
def celu(call: Call) -> Value:
    return call.emit(Celu(alpha=call.real("alpha", 1.0)), call.input(0))


@primitive("MishExt", operators="Mish", arguments="input")
def mish(call: Call) -> Value:
    return call.emit(Mish(), call.input(0))


@primitive("HShrink", "SoftShrink", operators="Shrink", arguments="input lambd")
def shrink(call: Call) -> Value:
    """Converts HShrink and SoftShrink. SoftShrink also moves values beyond the threshold towards 0 by it."""
    threshold = call.real("lambd", 0.5)
    bias = threshold if call.operator == "SoftShrink" else 0.0
    return call.emit(Shrink(bias=bias, threshold=threshold), call.input(0))


@primitive("SoftplusExt", operators="Activation Where MulFusion", arguments="input beta threshold")
def softplus(call: Call) -> Value:
    """Converts Softplus: log(1 + exp(beta x)) / beta; x itself if beta x is above the threshold."""
    x, beta = call.input(0), call.real("beta", 1.0)
    if beta == 0:
        raise call.block("it divides by 0", attribute="beta")
    scaled = x if beta == 1 else _scaled(call, x, beta)
    soft = call.emit(Activation(activation_type=ActivationType.SOFTPLUS), scaled)
    soft = soft if beta == 1 else _scaled(call, soft, 1 / beta)
    above = call.emit(Greater(), scaled, call.like(call.real("threshold", 20.0), x))
    return call.emit(Where(), above, x, soft)


@primitive("LogSigmoid", operators="Activation Neg", arguments="input")
def log_sigmoid(call: Call) -> Value:
    """Converts LogSigmoid: -softplus(-x)."""
    soft = call.emit(Activation(activation_type=ActivationType.SOFTPLUS), call.emit(Neg(), call.input(0)))
    return call.emit(Neg(), soft)


@primitive("Threshold", "InplaceThreshold", operators="Where Greater", arguments="input threshold value")
def threshold(call: Call) -> Value:
    x = call.input(0)
    above = call.emit(Greater(), x, call.like(call.real("threshold", 0.0), x))
    return call.emit(Where(), above, x, call.like(call.real("value", 0.0), x))


@primitive("LogSoftmaxExt", operators="LogSoftmax", arguments="input dim dtype")
def log_softmax(call: Call) -> Value:
    """Converts LogSoftmaxExt. The default axis is 0 for tensors of rank 0, 1 or 3, else 1."""
    x = call.typed(0)
    axes = call.integers("dim")
    rank = len(call.require_shape(x, "a softmax without a dimension")) if not axes else 0
    return call.emit(LogSoftmax(axis=axes[0] if axes else 0 if rank in (0, 1, 3) else 1), x)


@primitive("SoftmaxExt", operators="Softmax", arguments="input dim dtype")
def softmax(call: Call) -> Value:
    x = call.typed(0)
    return call.emit(Softmax(axis=call.integers("dim") or (-1,)), x)


# ---- clamping ----


@primitive("Hardtanh", "InplaceHardtanh", operators="Maximum Minimum", arguments="input min_val max_val")
@primitive(
    *("ClampScalar", "ClampTensor", "InplaceClampScalar", "InplaceClampTensor"),
    operators="Maximum Minimum",
    arguments="input min max",
)
def clamp(call: Call) -> Value:
    """Clamps to [min, max]; if min is above max, the result is max."""
    kind = call.declared_type
    x = call.cast(call.input(0), kind)
    for index, op in ((1, Maximum()), (2, Minimum())):
        bound = call.optional(index)
        if bound is not None:
            x = call.emit(op, x, call.cast(bound, kind))
    return x


# ---- powers and logarithms ----

_BASES = {"Log2": 2.0, "Log10": 10.0}


@primitive("Exp2", operators="ExpFusion MulFusion", arguments="input")
def power_of_two(call: Call) -> Value:
    return call.emit(_exponential(), _scaled(call, call.typed(0), log(2)))


@primitive("Expm1", operators="ExpFusion SubFusion", arguments="input")
def exponential_less_one(call: Call) -> Value:
    x = call.typed(0)
    return call.emit(ops.SubFusion(), call.emit(_exponential(), x), call.like(1, x))


@primitive("Log2", "Log10", operators="Log MulFusion", arguments="input")
def logarithm(call: Call) -> Value:
    x = call.typed(0)
    return _scaled(call, call.emit(Log(), x), 1 / log(_BASES[call.operator]))


@primitive("InplaceLog", operators="Log", arguments="input")
def natural_logarithm(call: Call) -> Value:
    return call.emit(Log(), call.input(0))


@primitive("InplaceFloor", operators="Floor", arguments="input")
def floor(call: Call) -> Value:
    return call.emit(Floor(), call.input(0))


@primitive("LogAddExp", operators="Maximum Log1p ExpFusion", arguments="input other")
def log_add_exp(call: Call) -> Value:
    """Converts LogAddExp: max(a, b) + log(1 + exp(-|a - b|))."""
    first, second = call.input(0), call.input(1)
    distance = call.emit(Neg(), call.emit(Abs(), call.emit(ops.SubFusion(), first, second)))
    rest = call.emit(Log1p(), call.emit(_exponential(), distance))
    return call.emit(ops.AddFusion(), call.emit(Maximum(), first, second), rest)


@primitive("Round", operators="Round MulFusion DivFusion", arguments="input decimals")
def rounded(call: Call) -> Value:
    """Rounds to `decimals` decimals, half to even."""
    x, decimals = call.input(0), call.integer("decimals", 0)
    if not decimals:
        return call.emit(Round(), x)
    if abs(decimals) > _MAX_DECIMALS:
        raise call.block(f"{decimals} decimals are beyond float32's precision", "Leave out decimals", "decimals")
    scale = call.like(10.0 ** abs(decimals), x)
    there, back = (ops.MulFusion(), ops.DivFusion()) if decimals > 0 else (ops.DivFusion(), ops.MulFusion())
    return call.emit(back, call.emit(Round(), call.emit(there, x, scale)), scale)

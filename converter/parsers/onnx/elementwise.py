"""Element-wise operators of one tensor, and of several with broadcasting."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import Operator, arithmetic, comparison, unary
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Unsqueeze

from .call import Call
from .casting import cast
from .registry import onnx_operator

_UNARY: dict[str, Operator] = {
    "Abs": unary.Abs(),
    "Acos": unary.Acos(),
    "Acosh": unary.Acosh(),
    "Asin": unary.Asin(),
    "Asinh": unary.Asinh(),
    "Atan": unary.Atan(),
    "Atanh": unary.Atanh(),
    "BitwiseNot": unary.BitwiseNot(),
    "Ceil": unary.Ceil(),
    "Cos": unary.Cos(),
    "Cosh": unary.Cosh(),
    "Erf": unary.Erf(),
    "Exp": unary.ExpFusion(),
    "Floor": unary.Floor(),
    "IsNaN": unary.IsNaN(),
    "Log": unary.Log(),
    "Neg": unary.Neg(),
    "Not": unary.LogicalNot(),
    "Reciprocal": unary.Reciprocal(),
    "Round": unary.Round(),
    "Sign": unary.Sign(),
    "Sin": unary.Sin(),
    "Sinh": unary.Sinh(),
    "Sqrt": unary.Sqrt(),
    "Tan": unary.Tan(),
}

_BINARY: dict[str, Operator] = {
    "Add": arithmetic.AddFusion(),
    "And": comparison.LogicalAnd(),
    "BitwiseAnd": arithmetic.BitwiseAnd(),
    "BitwiseOr": arithmetic.BitwiseOr(),
    "BitwiseXor": arithmetic.BitwiseXor(),
    "Div": arithmetic.DivFusion(),
    "Equal": comparison.Equal(),
    "Greater": comparison.Greater(),
    "GreaterOrEqual": comparison.GreaterEqual(),
    "Less": comparison.Less(),
    "LessOrEqual": comparison.LessEqual(),
    "Mul": arithmetic.MulFusion(),
    "Or": comparison.LogicalOr(),
    "Sub": arithmetic.SubFusion(),
    "Xor": comparison.LogicalXor(),
}

_VARIADIC: dict[str, Operator] = {
    "Max": arithmetic.Maximum(),
    "Min": arithmetic.Minimum(),
    "Sum": arithmetic.AddFusion(),
}


@onnx_operator(*_UNARY)
def unary_function(call: Call) -> Value:
    call.ignore("consumed_inputs")  # an in-place hint of version 1
    return call.emit(_UNARY[call.node.op_type], call.input(0))


@onnx_operator("IsInf")
def is_inf(call: Call) -> Value:
    op = unary.IsInf(
        detect_negative=call.boolean("detect_negative", True), detect_positive=call.boolean("detect_positive", True)
    )
    return call.emit(op, call.input(0))


def broadcast_operand(call: Call, a: Value, b: Value) -> Value:
    """Returns `b` in a shape that broadcasts to `a`. Before version 7, `axis` is the first dimension of `a` for it."""
    if call.version >= 7:
        return b
    call.ignore("consumed_inputs")
    enabled, has_axis = call.boolean("broadcast"), call.has_attribute("axis")
    axis = call.integer("axis", -1)
    if not enabled or not has_axis:
        return b
    rank_a, rank_b = call.require_rank(a), call.require_rank(b)
    following = rank_a - call.axis(axis, rank_a) - rank_b
    if following <= 0:
        return b
    return call.emit(Unsqueeze(axis=tuple(range(rank_b, rank_b + following))), b)


@onnx_operator(*_BINARY)
def binary_function(call: Call) -> Value:
    a, b = call.input(0), call.input(1)
    return call.emit(_BINARY[call.node.op_type], a, broadcast_operand(call, a, b))


@onnx_operator("BitShift")
def bit_shift(call: Call) -> Value:
    table = {"LEFT": arithmetic.ShiftLeft(), "RIGHT": arithmetic.ShiftRight()}
    op = call.choice("direction", call.text("direction"), table)
    return call.emit(op, call.input(0), call.input(1))


@onnx_operator("Mod")
def mod(call: Call) -> Value:
    """With fmod = 1 the result has the sign of the dividend, as in C; else that of the divisor (integers only)."""
    op: Operator = arithmetic.Mod() if call.boolean("fmod") else arithmetic.FloorMod()
    return call.emit(op, call.input(0), call.input(1))


@onnx_operator("Pow")
def power(call: Call) -> Value:
    """The exponent may have another type than the base; the result has the type of the base."""
    base, exponent = call.input(0), broadcast_operand(call, call.input(0), call.input(1))
    base_type, exponent_type = call.dtype(base), call.dtype(exponent)
    if DataType.UNKNOWN in (base_type, exponent_type) or base_type is exponent_type:
        return call.emit(arithmetic.PowFusion(), base, exponent)
    if numpy_type(base_type).kind == "f":
        if exponent.data is not None:
            exponent = call.const(exponent.data.astype(numpy_type(base_type)))
        else:
            exponent = cast(call, exponent, base_type)
        return call.emit(arithmetic.PowFusion(), base, exponent)
    if numpy_type(exponent_type).kind == "f":
        result = call.emit(arithmetic.PowFusion(), cast(call, base, exponent_type), exponent)
        return cast(call, result, base_type)
    return call.emit(arithmetic.PowFusion(), base, cast(call, exponent, base_type))


@onnx_operator(*_VARIADIC)
def variadic_function(call: Call) -> Value:
    call.ignore("consumed_inputs")
    result, *others = call.inputs()
    for value in others:
        result = call.emit(_VARIADIC[call.node.op_type], result, value)
    return result


@onnx_operator("Mean")
def mean(call: Call) -> Value:
    call.ignore("consumed_inputs")
    values = call.inputs()
    total = values[0]
    for value in values[1:]:
        total = call.emit(arithmetic.AddFusion(), total, value)
    if len(values) == 1:
        return total
    return call.emit(arithmetic.DivFusion(), total, call.like(len(values), values[0]))


@onnx_operator("Where")
def where(call: Call) -> Value:
    return call.emit(comparison.Where(), call.input(0), call.input(1), call.input(2))


@onnx_operator("Clip")
def clip(call: Call) -> Value:
    """The bounds are attributes before version 11 and scalar inputs since then."""
    call.ignore("consumed_inputs")
    x = call.input(0)
    if call.version < 11:
        # The standard's default bounds are the largest floats; infinities as bounds keep infinite elements.
        low = call.real("min", -np.inf) if call.has_attribute("min") else -np.inf
        high = call.real("max", np.inf) if call.has_attribute("max") else np.inf
        return limited(call, x, low, high)
    bounds = [call.optional(1), call.optional(2)]
    dtype = call.dtype(x)
    fixed = all(bound is None or bound.data is not None for bound in bounds)
    if fixed and dtype is DataType.FLOAT32:
        low, high = (
            default if bound is None else float(bound.array().reshape(-1)[0])
            for bound, default in zip(bounds, (-np.inf, np.inf), strict=True)
        )
        return limited(call, x, low, high)
    if bounds[0] is not None:
        x = call.emit(arithmetic.Maximum(), x, bounds[0])
    if bounds[1] is not None:
        x = call.emit(arithmetic.Minimum(), x, bounds[1])
    return x


def limited(call: Call, x: Value, low: float, high: float) -> Value:
    """Clips x to [low, high]; the result is `high` if low > high."""
    from mslite.converter.mindir.ops.activation import Activation
    from mslite.converter.mindir.ops.enums import ActivationType

    if low == -np.inf and high == np.inf:
        return x
    if low == 0.0 and high == np.inf:
        return call.emit(Activation(activation_type=ActivationType.RELU), x)
    if low == 0.0 and high == 6.0:
        return call.emit(Activation(activation_type=ActivationType.RELU6), x)
    return call.emit(unary.Clip(min=low, max=high), x)

"""Arithmetic primitives of MindSpore 2.x for Python's operators: with a scalar, with a factor, and in place.

An in-place primitive returns its changed operand as a new value; `in_place.py` rejects later reads of the old value.
"""

from __future__ import annotations

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import Operator, comparison
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Abs, Floor, Sign

from .call import Call
from .elementwise import both
from .entries import Entry
from .generic import cast_to_common_type, convert_same_operator
from .registry import mslite_operator, primitive

_SCALED: dict[str, type[Operator]] = {
    **dict.fromkeys(("AddExt", "AddScalar", "InplaceAddExt", "InplaceAddsExt"), ops.AddFusion),
    **dict.fromkeys(("SubExt", "SubScalar", "InplaceSubExt", "InplaceSubScalar"), ops.SubFusion),
}

_PLAIN: dict[str, type[Operator]] = {
    **dict.fromkeys(("InplaceMul", "InplaceMuls", "Muls"), ops.MulFusion),
    **dict.fromkeys(("FloorDivScalar", "InplaceFloorDivide", "InplaceFloorDivides", "scalar_floordiv"), ops.FloorDiv),
    **dict.fromkeys(("RemainderTensorTensor", "RemainderTensorScalar", "RemainderScalarTensor"), ops.FloorMod),
    **dict.fromkeys(("InplaceRemainderTensorTensor", "InplaceRemainderTensorScalar", "scalar_mod"), ops.FloorMod),
    **dict.fromkeys(("FmodTensor", "FmodScalar", "TruncateMod"), ops.Mod),
    **dict.fromkeys(("BitwiseAndScalar", "BitwiseAndTensor"), ops.BitwiseAnd),
    **dict.fromkeys(("BitwiseOrScalar", "BitwiseOrTensor"), ops.BitwiseOr),
    **dict.fromkeys(("BitwiseXorScalar", "BitwiseXorTensor"), ops.BitwiseXor),
    "LeftShift": ops.ShiftLeft,
    "RightShift": ops.ShiftRight,
    "Atan2Ext": ops.Atan2,
    "scalar_add": ops.AddFusion,
    "scalar_sub": ops.SubFusion,
    "scalar_mul": ops.MulFusion,
}

_COMPARISONS: dict[str, type[Operator]] = {
    **dict.fromkeys(("EqScalar", "EqualExt", "scalar_eq"), comparison.Equal),
    **dict.fromkeys(("GreaterEqualScalar", "scalar_ge"), comparison.GreaterEqual),
    **dict.fromkeys(("LessScalar", "scalar_lt"), comparison.Less),
    "scalar_ne": comparison.NotEqual,
    "scalar_gt": comparison.Greater,
    "scalar_le": comparison.LessEqual,
}

_EXACT = ("PowTensorScalar", "PowScalarTensor")
_TRUE_DIVISIONS = ("Divs", "InplaceDiv", "InplaceDivs", "scalar_div")
_ROUNDED_DIVISIONS = ("DivMod", "DivMods", "InplaceDivMod", "InplaceDivMods")


def operands(call: Call) -> tuple[Value, Value]:
    return cast_to_common_type(call, *both(call))


@primitive(*_PLAIN, operators=" ".join(sorted({kind.__name__ for kind in _PLAIN.values()})), arguments="input other")
def plain(call: Call) -> Value:
    return call.emit(_PLAIN[call.operator](), *operands(call))


@primitive(*_COMPARISONS, operators="Equal NotEqual Less LessEqual Greater GreaterEqual", arguments="input other")
def compare(call: Call) -> Value:
    return call.emit(_COMPARISONS[call.operator](), *operands(call))


@primitive(*_EXACT, operators="PowFusion", arguments="input exponent")
def power(call: Call) -> Value:
    return call.emit(ops.PowFusion(scale=1.0, shift=0.0), *operands(call))


@primitive(*_SCALED, operators="AddFusion SubFusion MulFusion", arguments="input other alpha")
def scaled(call: Call) -> Value:
    """Converts an addition or subtraction with a factor: input + alpha * other."""
    first, second = operands(call)
    alpha = call.real("alpha", 1.0)
    if alpha != 1:
        second = call.emit(ops.MulFusion(), second, call.like(alpha, second))
    return call.emit(_SCALED[call.operator](), first, second)


@primitive(*_TRUE_DIVISIONS, operators="DivFusion", arguments="input other")
def divide(call: Call) -> Value:
    """Converts true division: the quotient of integers is floating-point."""
    return call.emit(ops.DivFusion(), *operands(call))


@primitive(*_ROUNDED_DIVISIONS, operators="DivFusion FloorDiv Floor Abs Sign", arguments="input other rounding_mode")
def divide_rounded(call: Call) -> Value:
    mode = call.attribute("rounding_mode")
    if mode in (None, ""):
        return call.emit(ops.DivFusion(), *operands(call))
    if mode in ("floor", 2):
        return call.emit(ops.FloorDiv(), *operands(call))
    if mode in ("trunc", 1):
        return _truncated_quotient(call)
    raise call.block(f"{mode!r} is neither floor nor trunc", attribute="rounding_mode")


@primitive("TruncateDiv", operators="DivFusion Floor Abs Sign", arguments="x y")
def truncate_divide(call: Call) -> Value:
    return _truncated_quotient(call)


def _truncated_quotient(call: Call) -> Value:
    """Returns the quotient rounded towards zero. DivFusion already rounds integers towards zero."""
    first, second = operands(call)
    quotient = call.emit(ops.DivFusion(), first, second)
    known = call.dtype(first)
    if known is not DataType.UNKNOWN and numpy_type(known).kind in "iu":
        return quotient
    return truncated(call, quotient)


def truncated(call: Call, x: Value) -> Value:
    """Returns the integer part of floating-point values."""
    size = call.emit(Floor(), call.emit(Abs(), x))
    return call.emit(ops.MulFusion(), call.emit(Sign(), x), size)


@primitive("Trunc", operators="Floor Abs Sign MulFusion", arguments="input")
def truncate(call: Call) -> Value:
    return truncated(call, call.input(0))


@primitive("TensorMove", "Clone", "Contiguous", "Copy", "Detach", operators="")
def copied(call: Call) -> Entry:
    """Converts a copy to its operand: no operator changes a tensor in place."""
    return call.input(0)


# ---- assignments ----

_ASSIGNED = {"AssignAdd": ops.AddFusion, "AssignSub": ops.SubFusion}


@primitive(
    "Assign", *_ASSIGNED, operators="ReadVariable AssignVariable AddFusion SubFusion", arguments="variable value"
)
def assign(call: Call) -> Entry:
    """Converts an assignment: the parameter becomes a variable, which keeps its value for the next run."""
    if call.scope.session.trains:
        operator = mslite_operator(call.operator)
        if operator is None:
            raise call.block("the primitive is unsupported in training", "Use Assign with the sum or difference")
        return convert_same_operator(call, operator)
    kind = _ASSIGNED.get(call.operator)
    return call.input(1) if kind is None else call.emit(kind(), call.input(0), call.input(1))

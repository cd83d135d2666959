"""Python scalars that are computed at run time, such as loop counters and sizes, and their arithmetic."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator, comparison, unary
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops.enums import DataType

from .call import Call
from .entries import Entry
from .generic import cast_to_common_type
from .registry import primitive

_OF_TWO: dict[str, type[Operator]] = {
    "ScalarAdd": ops.AddFusion,
    "ScalarSub": ops.SubFusion,
    "ScalarMul": ops.MulFusion,
    "ScalarFloorDiv": ops.FloorDiv,
    "ScalarMod": ops.FloorMod,
    "ScalarMax": ops.Maximum,
    "ScalarMin": ops.Minimum,
    "ScalarEq": comparison.Equal,
    "ScalarNe": comparison.NotEqual,
    "ScalarGt": comparison.Greater,
    "ScalarGe": comparison.GreaterEqual,
    "ScalarLt": comparison.Less,
    "ScalarLe": comparison.LessEqual,
    "bit_and": ops.BitwiseAnd,
    "bit_or": ops.BitwiseOr,
}


def _floats(call: Call) -> tuple[Value, Value]:
    """Returns both operands as float32, because results of Python's `/` and `**` may not be integers."""
    return call.cast(call.input(0), DataType.FLOAT32), call.cast(call.input(1), DataType.FLOAT32)


@primitive(*_OF_TWO, operators=" ".join(sorted({kind.__name__ for kind in _OF_TWO.values()})), arguments="x y")
def of_two(call: Call) -> Value:
    return call.emit(_OF_TWO[call.operator](), *cast_to_common_type(call, call.input(0), call.input(1)))


@primitive("ScalarDiv", operators="DivFusion Cast", arguments="x y")
def quotient(call: Call) -> Value:
    return call.emit(ops.DivFusion(), *_floats(call))


@primitive("ScalarPow", operators="PowFusion Cast", arguments="x y")
def power(call: Call) -> Value:
    return call.cast(call.emit(ops.PowFusion(scale=1.0, shift=0.0), *_floats(call)), call.declared_type)


@primitive("ScalarUsub", operators="Neg", arguments="x")
def negated(call: Call) -> Value:
    return call.emit(unary.Neg(), call.input(0))


@primitive("ScalarCast", operators="Cast", arguments="x dtype")
def converted(call: Call) -> Value:
    return call.cast(call.input(0), call.declared_type)


@primitive("ScalarUadd", operators="", arguments="x")
def as_it_is(call: Call) -> Entry:
    return call.input(0)


@primitive("ScalarLog", operators="Log Cast", arguments="x")
def logarithm(call: Call) -> Value:
    return call.emit(unary.Log(), call.cast(call.input(0), DataType.FLOAT32))


@primitive("ScalarBool", operators="NotEqual", arguments="x")
def truth(call: Call) -> Value:
    return _truth(call)


def _truth(call: Call) -> Value:
    x = call.input(0)
    return x if call.dtype(x) is DataType.BOOL else call.emit(comparison.NotEqual(), x, call.like(0, x))


@primitive("BoolNot", "LogicalNot", "ScalarBoolNot", operators="LogicalNot NotEqual", arguments="x")
def untruth(call: Call) -> Value:
    """Converts logical not, also of numbers: `~x` in construct is true if x is 0. In files that mslite wrote, the
    operand is already boolean, or a number for its own LogicalNot, which keeps the data type."""
    return call.emit(unary.LogicalNot(), call.input(0) if call.scope.session.written_by_mslite else _truth(call))

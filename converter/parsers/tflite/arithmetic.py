"""Element-wise arithmetic, comparisons and logic."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops import comparison, unary
from mslite.converter.mindir.ops.creation import ZerosLike
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.parsers.shifts import clipped_shift

from .call import Call
from .registry import tflite_operator

_FUSED = {"ADD": ops.AddFusion, "SUB": ops.SubFusion, "MUL": ops.MulFusion, "DIV": ops.DivFusion}

_BINARY = {
    "FLOOR_DIV": ops.FloorDiv(),
    "FLOOR_MOD": ops.FloorMod(),
    "MAXIMUM": ops.Maximum(),
    "MINIMUM": ops.Minimum(),
    "SQUARED_DIFFERENCE": ops.SquaredDifference(),
    "POW": ops.PowFusion(scale=1.0, shift=0.0),
    "ATAN2": ops.Atan2(),
    "BITWISE_XOR": ops.BitwiseXor(),
    "EQUAL": comparison.Equal(),
    "NOT_EQUAL": comparison.NotEqual(),
    "GREATER": comparison.Greater(),
    "GREATER_EQUAL": comparison.GreaterEqual(),
    "LESS": comparison.Less(),
    "LESS_EQUAL": comparison.LessEqual(),
    "LOGICAL_AND": comparison.LogicalAnd(),
    "LOGICAL_OR": comparison.LogicalOr(),
}

_UNARY = {
    "ABS": unary.Abs(),
    "CEIL": unary.Ceil(),
    "COS": unary.Cos(),
    "EXP": unary.ExpFusion(),
    "FLOOR": unary.Floor(),
    "LOG": unary.Log(),
    "LOGICAL_NOT": unary.LogicalNot(),
    "NEG": unary.Neg(),
    "ROUND": unary.Round(),
    "RSQRT": unary.Rsqrt(),
    "SIGN": unary.Sign(),
    "SIN": unary.Sin(),
    "SQRT": unary.Sqrt(),
    "SQUARE": unary.Square(),
    "ZEROS_LIKE": ZerosLike(),
}


@tflite_operator(*_FUSED)
def fused(call: Call) -> Value:
    """Converts arithmetic with a fused activation. MindSpore Lite ignores the activation of float SubFusion and
    DivFusion, so there it becomes a separate node."""
    if call.node.name in ("SUB", "DIV") and call.input(0).dtype is DataType.FLOAT32:
        return call.activated(call.emit(_FUSED[call.node.name](), call.weight(0), call.weight(1)))
    activation, follow = call.fused()
    op = _FUSED[call.node.name](activation_type=activation)
    return follow(call.emit(op, call.weight(0), call.weight(1)))


@tflite_operator(*_BINARY)
def binary(call: Call) -> Value:
    return call.emit(_BINARY[call.node.name], call.input(0), call.input(1))


@tflite_operator("RIGHT_SHIFT")
def right_shift(call: Call) -> Value:
    return clipped_shift(call, ops.ShiftRight(), call.input(0), call.input(1))


@tflite_operator(*_UNARY)
def one_operand(call: Call) -> Value:
    return call.emit(_UNARY[call.node.name], call.input(0))


@tflite_operator("ADD_N")
def add_n(call: Call) -> Value:
    values = call.inputs()
    if len(values) == 1:
        return values[0]
    return call.emit(ops.AddN(), *values)


@tflite_operator("SELECT_V2")
def select(call: Call) -> Value:
    """Converts SELECT_V2: a or b by condition; all three broadcast."""
    return call.emit(comparison.Where(), call.input(0), call.input(1), call.input(2))


@tflite_operator("SELECT")
def select_rows(call: Call) -> Value:
    """Converts SELECT: as SELECT_V2, but a vector condition selects along the first dimension."""
    condition, rank = call.input(0), call.rank(1)
    if call.rank(0) == 1 and rank > 1:
        condition = call.emit(Reshape(), condition, call.ints((-1,) + (1,) * (rank - 1)))
    return call.emit(comparison.Where(), condition, call.input(1), call.input(2))


@tflite_operator("WHERE")
def where(call: Call) -> Value:
    """Converts WHERE: the indices of true elements, [count, rank]."""
    return call.as_declared(call.emit(comparison.Where(), call.input(0)))

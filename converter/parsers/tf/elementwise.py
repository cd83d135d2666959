"""Element-wise arithmetic, comparisons, logic and casts."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator, comparison, unary
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops.creation import OnesLike, ZerosLike
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.rearrange import Bitcast, Reshape, Unsqueeze
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.parsers.shifts import clipped_shift

from .call import Call
from .complex_numbers import from_real
from .registry import tf_operator

BINARY: dict[str, Operator] = {
    "Add": ops.AddFusion(),
    "AddV2": ops.AddFusion(),
    "Sub": ops.SubFusion(),
    "Mul": ops.MulFusion(),
    "Div": ops.DivFusion(),
    "RealDiv": ops.DivFusion(),
    "TruncateDiv": ops.DivFusion(),
    "FloorDiv": ops.FloorDiv(),
    "FloorMod": ops.FloorMod(),
    "Mod": ops.Mod(),
    "TruncateMod": ops.Mod(),
    "Maximum": ops.Maximum(),
    "Minimum": ops.Minimum(),
    "SquaredDifference": ops.SquaredDifference(),
    "Pow": ops.PowFusion(scale=1.0, shift=0.0),
    "Atan2": ops.Atan2(),
    "BitwiseAnd": ops.BitwiseAnd(),
    "BitwiseOr": ops.BitwiseOr(),
    "BitwiseXor": ops.BitwiseXor(),
    "Equal": comparison.Equal(),
    "NotEqual": comparison.NotEqual(),
    "Greater": comparison.Greater(),
    "GreaterEqual": comparison.GreaterEqual(),
    "Less": comparison.Less(),
    "LessEqual": comparison.LessEqual(),
    "LogicalAnd": comparison.LogicalAnd(),
    "LogicalOr": comparison.LogicalOr(),
}

SHIFTS: dict[str, ops.ShiftLeft | ops.ShiftRight] = {"LeftShift": ops.ShiftLeft(), "RightShift": ops.ShiftRight()}

_UNARY: dict[str, Operator] = {
    "Abs": unary.Abs(),
    "Acos": unary.Acos(),
    "Acosh": unary.Acosh(),
    "Asin": unary.Asin(),
    "Asinh": unary.Asinh(),
    "Atan": unary.Atan(),
    "Atanh": unary.Atanh(),
    "Ceil": unary.Ceil(),
    "Cos": unary.Cos(),
    "Cosh": unary.Cosh(),
    "Erf": unary.Erf(),
    "Exp": unary.ExpFusion(),
    "Floor": unary.Floor(),
    "Inv": unary.Reciprocal(),
    "Invert": unary.BitwiseNot(),
    "IsFinite": unary.IsFinite(),
    "IsInf": unary.IsInf(),
    "IsNan": unary.IsNaN(),
    "Log": unary.Log(),
    "Log1p": unary.Log1p(),
    "LogicalNot": unary.LogicalNot(),
    "Neg": unary.Neg(),
    "OnesLike": OnesLike(),
    "Reciprocal": unary.Reciprocal(),
    "Rint": unary.Round(),
    "Round": unary.Round(),
    "Rsqrt": unary.Rsqrt(),
    "Sign": unary.Sign(),
    "Sin": unary.Sin(),
    "Sinh": unary.Sinh(),
    "Sqrt": unary.Sqrt(),
    "Square": unary.Square(),
    "Tan": unary.Tan(),
    "ZerosLike": ZerosLike(),
}


@tf_operator(*BINARY)
def binary(call: Call) -> Value:
    return call.emit(BINARY[call.operator], call.input(0), call.input(1))


@tf_operator(*SHIFTS)
def shift(call: Call) -> Value:
    return clipped_shift(call, SHIFTS[call.operator], call.input(0), call.input(1))


@tf_operator(*_UNARY)
def one_operand(call: Call) -> Value:
    return call.emit(_UNARY[call.operator], call.input(0))


@tf_operator("Erfc")
def erfc(call: Call) -> Value:
    """Converts Erfc: 1 - erf(x)."""
    x = call.input(0)
    return call.emit(ops.SubFusion(), call.like(1, x), call.emit(unary.Erf(), x))


@tf_operator("Expm1")
def expm1(call: Call) -> Value:
    """Converts Expm1: exp(x) - 1."""
    x = call.input(0)
    return call.emit(ops.SubFusion(), call.emit(unary.ExpFusion(), x), call.like(1, x))


@tf_operator("DivNoNan", "MulNoNan")
def zero_wins(call: Call) -> Value:
    """Converts DivNoNan and MulNoNan: 0 if the second operand is 0."""
    a, b = call.input(0), call.input(1)
    op = ops.DivFusion() if call.operator == "DivNoNan" else ops.MulFusion()
    zero = call.like(0, b)
    return call.emit(comparison.Where(), call.emit(comparison.Equal(), b, zero), zero, call.emit(op, a, b))


@tf_operator("Xdivy", "Xlogy", "Xlog1py")
def zero_first(call: Call) -> Value:
    """Converts x / y, x * log(y) or x * log(1 + y), with 0 if x is 0."""
    x, y = call.input(0), call.input(1)
    if call.operator == "Xdivy":
        result = call.emit(ops.DivFusion(), x, y)
    else:
        log = unary.Log() if call.operator == "Xlogy" else unary.Log1p()
        result = call.emit(ops.MulFusion(), x, call.emit(log, y))
    zero = call.like(0, x)
    return call.emit(comparison.Where(), call.emit(comparison.Equal(), x, zero), zero, result)


@tf_operator("ApproximateEqual")
def nearly_equal(call: Call) -> Value:
    """Converts ApproximateEqual: |a - b| < tolerance."""
    distance = call.emit(unary.Abs(), call.emit(ops.SubFusion(), call.input(0), call.input(1)))
    return call.emit(comparison.Less(), distance, call.like(call.real("tolerance", 1e-5), distance))


@tf_operator("AddN", "AccumulateNV2")
def add_n(call: Call) -> Value:
    values = call.inputs()
    if not values:
        raise call.block("it has no input")
    return values[0] if len(values) == 1 else call.emit(ops.AddN(), *values)


@tf_operator("BiasAdd", "BiasAddV1")
def bias_add(call: Call) -> Value:
    """Converts BiasAdd: adds a vector along the channels."""
    x, bias = call.input(0), call.input(1)
    rank = call.require_rank(x)
    if call.operator == "BiasAdd" and call.channels_first() and rank > 2:
        bias = call.emit(Reshape(), bias, call.ints((-1,) + (1,) * (rank - 2)))
        return call.emit(ops.AddFusion(), x, bias)
    return call.spatial(ops.BiasAdd(), x, bias)


@tf_operator("SelectV2")
def select_v2(call: Call) -> Value:
    """Converts SelectV2: a or b by condition; all three broadcast."""
    return call.emit(comparison.Where(), call.input(0), call.input(1), call.input(2))


@tf_operator("Select")
def select(call: Call) -> Value:
    """Converts Select: as SelectV2 with equal shapes, but a vector condition selects along the first dimension."""
    condition, a, b = call.input(0), call.input(1), call.input(2)
    rank = call.require_rank(a)
    if call.require_rank(condition) == 1 and rank > 1:
        condition = call.emit(Reshape(), condition, call.ints((-1,) + (1,) * (rank - 1)))
    return call.emit(comparison.Where(), condition, a, b)


@tf_operator("Where")
def where(call: Call) -> Value:
    """Converts Where: the indices of nonzero elements, int64 [count, rank]."""
    x = call.input(0)
    if x.dtype is not DataType.BOOL:
        x = call.emit(comparison.NotEqual(), x, call.like(0, x))
    return call.as_type(call.emit(comparison.Where(), x), DataType.INT64)


@tf_operator("ClipByValue")
def clip(call: Call) -> Value:
    lower = call.emit(ops.Maximum(), call.input(0), call.input(1))
    return call.emit(ops.Minimum(), lower, call.input(2))


@tf_operator("Cast")
def cast(call: Call) -> Value:
    target = call.type("DstT")
    if target in (DataType.STRING, DataType.TENSOR_LIST, DataType.UNKNOWN, DataType.BFLOAT16):
        raise call.block(f"casts to {target.name.lower()} are unsupported", "Cast to another type", "DstT")
    if target in (DataType.COMPLEX64, DataType.COMPLEX128):
        return from_real(call, call.input(0))
    return call.as_type(call.input(0), target)


@tf_operator("Bitcast")
def bitcast(call: Call) -> Value:
    """Converts Bitcast, which keras.ops.argmax, one_hot and signbit use to detect negative zeros."""
    target, x = call.type("type"), call.input(0)
    unknown = (
        DataType.STRING,
        DataType.TENSOR_LIST,
        DataType.UNKNOWN,
        DataType.COMPLEX64,
        DataType.COMPLEX128,
        DataType.BOOL,
    )
    if target in unknown or x.dtype in unknown or x in call.scope.session.pairs:
        raise call.block("only integer and floating-point types are supported", "Use another type", "type")
    return call.emit(Bitcast(data_type=int(target)), x)


@tf_operator("Bucketize")
def bucketize(call: Call) -> Value:
    """Converts Bucketize: for each element, the number of boundaries <= it."""
    x, boundaries = call.input(0), call.reals("boundaries")
    wide = call.emit(Unsqueeze(axis=(call.require_rank(x),)), call.as_type(x, DataType.FLOAT32))
    passed = call.emit(comparison.GreaterEqual(), wide, call.const(boundaries, "float32"))
    numbers = call.as_type(passed, DataType.INT32)
    op = ReduceFusion(keep_dims=False, mode=ReduceMode.ReduceSum, coeff=1.0)
    return call.emit(op, numbers, call.ints((-1,)))

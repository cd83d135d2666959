"""Element-wise functions that are lowered to several operators."""

from __future__ import annotations

from math import log, pi

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.assembly import Split
from mslite.converter.mindir.ops.comparison import Equal, Greater, Less, Where
from mslite.converter.mindir.ops.enums import ActivationType, DataType, ReduceMode
from mslite.converter.mindir.ops.unary import (
    Abs,
    Acosh,
    Asin,
    Asinh,
    Atan,
    BitwiseNot,
    Clip,
    Erf,
    ExpFusion,
    IsInf,
    IsNaN,
    Log,
    Log1p,
    Neg,
    Sign,
    Sin,
    Sqrt,
    Square,
)

from .arithmetic import truncated
from .call import Call
from .entries import Entry
from .generic import cast_to_common_type
from .registry import primitive
from .statistics import p_norm, reduced
from .unsupported import NO_COMPLEX

_PLAIN: dict[str, Operator] = {
    "AcoshExt": Acosh(),
    "AsinExt": Asin(),
    "AsinhExt": Asinh(),
    "AtanExt": Atan(),
    "InplaceSign": Sign(),
    "Invert": BitwiseNot(),
    "IsNan": IsNaN(),
    "IsNegInf": IsInf(detect_negative=True, detect_positive=False),
}


@primitive(*_PLAIN, operators=" ".join(sorted({op.name for op in _PLAIN.values()})), arguments="input")
def plain(call: Call) -> Value:
    if call.operator in ("IsNan", "IsNegInf"):
        return call.emit(_PLAIN[call.operator], call.input(0))
    return call.emit(_PLAIN[call.operator], call.typed(0))


@primitive("CheckNumerics", operators="", arguments="x")
def unchecked(call: Call) -> Entry:
    """Converts CheckNumerics to its operand: NaN and infinity are not errors at inference."""
    return call.input(0)


@primitive("Logit", operators="Clip DivFusion Log", arguments="input eps")
def logit(call: Call) -> Value:
    """Converts Logit: log(x / (1 - x)), with x clamped to [eps, 1 - eps] if eps is set."""
    x, least = call.input(0), call.real("eps", -1.0)
    if least >= 0:
        x = call.emit(Clip(min=least, max=1 - least), x)
    return call.emit(Log(), call.emit(ops.DivFusion(), x, call.emit(ops.SubFusion(), call.like(1, call.input(0)), x)))


@primitive("Hypot", operators="Square AddFusion Sqrt", arguments="x1 x2")
def hypotenuse(call: Call) -> Value:
    squares = (call.emit(Square(), each) for each in cast_to_common_type(call, call.input(0), call.input(1)))
    return call.emit(Sqrt(), call.emit(ops.AddFusion(), *squares))


@primitive("DivNoNan", operators="Where Equal DivFusion", arguments="x1 x2")
def divide_or_zero(call: Call) -> Value:
    x, y = cast_to_common_type(call, call.input(0), call.input(1))
    is_zero = call.emit(Equal(), y, call.like(0, y))
    quotient = call.emit(ops.DivFusion(), x, call.emit(Where(), is_zero, call.like(1, y), y))
    return call.emit(Where(), is_zero, call.like(0, y), quotient)


@primitive("Fmax", "Fmin", operators="Maximum Minimum IsNaN Where", arguments="x1 x2")
def extreme_but_nan(call: Call) -> Value:
    """Converts Fmax and Fmin: the larger or smaller value; if one is NaN, the other one."""
    x, y = cast_to_common_type(call, call.input(0), call.input(1))
    known = call.dtype(x)
    op: Operator = ops.Maximum() if call.operator == "Fmax" else ops.Minimum()
    chosen = call.emit(op, x, y)
    if known is not DataType.UNKNOWN and numpy_type(known).kind != "f":
        return chosen
    chosen = call.emit(Where(), call.emit(IsNaN(), x), y, chosen)
    return call.emit(Where(), call.emit(IsNaN(), y), x, chosen)


@primitive("Heaviside", operators="Where Equal Greater Cast", arguments="x values")
def step(call: Call) -> Value:
    """Converts Heaviside: 0 below 0, 1 above, `values` at 0."""
    x, value = cast_to_common_type(call, call.input(0), call.input(1))
    above = call.cast(call.emit(Greater(), x, call.like(0, x)), call.dtype(x))
    return call.emit(Where(), call.emit(Equal(), x, call.like(0, x)), value, above)


@primitive("Frac", operators="SubFusion MulFusion Floor Abs Sign", arguments="input")
def fraction(call: Call) -> Value:
    return call.emit(ops.SubFusion(), call.input(0), truncated(call, call.input(0)))


@primitive("Sinc", operators="Sin MulFusion DivFusion Where", arguments="input")
def sinc(call: Call) -> Value:
    """Converts Sinc: sin(pi x) / (pi x), and 1 at 0."""
    x = call.typed(0)
    is_zero = call.emit(Equal(), x, call.const(0, np.float32))
    angle = call.emit(
        ops.MulFusion(), call.emit(Where(), is_zero, call.const(1, np.float32), x), call.const(pi, np.float32)
    )
    return call.emit(
        Where(), is_zero, call.const(1, np.float32), call.emit(ops.DivFusion(), call.emit(Sin(), angle), angle)
    )


@primitive("Erfc", operators="Erf SubFusion", arguments="input")
def complement_of_error_function(call: Call) -> Value:
    x = call.typed(0)
    return call.emit(ops.SubFusion(), call.const(1, np.float32), call.emit(Erf(), x))


@primitive("ApproximateEqual", operators="SubFusion Abs Less", arguments="x y")
def nearly_equal(call: Call) -> Value:
    distance = call.emit(Abs(), call.emit(ops.SubFusion(), *cast_to_common_type(call, call.input(0), call.input(1))))
    return call.emit(Less(), distance, call.like(call.real("tolerance", 1e-5), call.input(0)))


@primitive("LogAddExp2", operators="Maximum ExpFusion Log1p AddFusion", arguments="input other")
def log_add_exp_2(call: Call) -> Value:
    """Converts LogAddExp2: log2(2^a + 2^b)."""
    first, second = cast_to_common_type(call, call.input(0), call.input(1))
    distance = call.emit(Neg(), call.emit(Abs(), call.emit(ops.SubFusion(), first, second)))
    grown = call.emit(ExpFusion(base=2.0, scale=1.0, shift=0.0), distance)
    rest = call.emit(ops.MulFusion(), call.emit(Log1p(), grown), call.like(1 / log(2), first))
    return call.emit(ops.AddFusion(), call.emit(ops.Maximum(), first, second), rest)


@primitive("XLogYScalarOther", "XLogYScalarSelf", operators="MulFusion Log", arguments="input other")
def x_log_y(call: Call) -> Value:
    x, y = cast_to_common_type(call, call.input(0), call.input(1))
    return call.emit(ops.MulFusion(), x, call.emit(Log(), y))


@primitive("Swiglu", operators="Split Activation MulFusion", arguments="input dim")
def gated(call: Call) -> Value:
    """Converts Swiglu: silu(first half) * second half."""
    x = call.input(0)
    axis = call.axis(x, call.integer("dim", -1), "dim")
    half = call.size(x, axis, "a split into halves") // 2
    op = Split(output_num=2, size_splits=(half, half), axis=axis)
    first, second = (call.value(each) for each in call.emit_many(op, [x], 2).items)
    return call.emit(ops.MulFusion(), call.emit(Activation(activation_type=ActivationType.SWISH), first), second)


@primitive("Nansum", operators="Where IsNaN ReduceFusion", arguments="input dim keepdim dtype")
def sum_but_nan(call: Call) -> Value:
    x = call.typed(0)
    clean = call.emit(Where(), call.emit(IsNaN(), x), call.like(0, x), x)
    return reduced(call, ReduceMode.ReduceSum, clean, call.integers("dim"), call.boolean("keepdim"))


@primitive("Eps", operators="MulFusion", arguments="x")
def smallest_step(call: Call) -> Value:
    """Converts Eps: a tensor in the shape of the operand, filled with the machine epsilon of its data type."""
    x = call.input(0)
    known = call.dtype(x)
    step = float(np.finfo(numpy_type(DataType.FLOAT32 if known is DataType.UNKNOWN else known).char).eps)
    zeros = call.emit(ops.MulFusion(), x, call.like(0, x))
    return call.emit(ops.AddFusion(), zeros, call.like(step, x))


@primitive("Renorm", operators="ReduceFusion Where MulFusion DivFusion", arguments="input_x")
def shortened(call: Call) -> Value:
    """Converts Renorm: scales slices along a dimension with a norm above `maxnorm` to that norm."""
    x, most = call.input(0), call.real("maxnorm", 0.0)
    axis = call.axis(x, call.integer("dim", 0), "dim")
    others = tuple(other for other in range(call.rank(x)) if other != axis)
    norm = p_norm(call, x, call.real("p", 2.0), others, True)
    factor = call.emit(ops.DivFusion(), call.like(most, x), norm)
    above = call.emit(Greater(), norm, call.like(most, x))
    return call.emit(ops.MulFusion(), x, call.emit(Where(), above, factor, call.like(1, x)))


@primitive("Conj", "Real", operators="", arguments="input")
def real_part(call: Call) -> Entry:
    """Converts Conj and Real of a real tensor to the tensor itself. Raises Blocked for complex tensors."""
    if call.dtype(call.input(0)) in (DataType.COMPLEX64, DataType.COMPLEX128):
        raise call.block(*NO_COMPLEX)
    return call.input(0)

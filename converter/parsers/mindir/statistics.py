"""Reductions of `mint` and of methods of Tensor, with arguments `dim`, `keepdim` and `dtype`; norms, variances."""

from __future__ import annotations

from math import prod

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import reduction as ops
from mslite.converter.mindir.ops.arithmetic import DivFusion, Maximum, PowFusion, SubFusion
from mslite.converter.mindir.ops.comparison import NotEqual
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.ops.unary import Abs, Sqrt, Square

from .call import Call
from .entries import Entry, Sequence
from .registry import primitive

_MODES = {"SumExt": ReduceMode.ReduceSum, "MeanExt": ReduceMode.ReduceMean, "ProdExt": ReduceMode.ReduceProd}


def reduced(call: Call, mode: ReduceMode, x: Value, axes: tuple[int, ...] | None, keep: bool) -> Value:
    """Emits a reduction; None or no axes reduce all dimensions."""
    op = ops.ReduceFusion(keep_dims=keep, mode=mode, coeff=1.0)
    return call.emit(op, x, call.ints(axes)) if axes else call.emit(op, x)


@primitive(*_MODES, operators="ReduceFusion Cast", arguments="input dim keepdim dtype")
def reduce_as(call: Call) -> Value:
    x = call.typed(0)
    return reduced(call, _MODES[call.operator], x, call.integers("dim"), call.boolean("keepdim"))


@primitive("Max", "Min", operators="ReduceFusion", arguments="input")
def extreme(call: Call) -> Value:
    mode = ReduceMode.ReduceMax if call.operator == "Max" else ReduceMode.ReduceMin
    return reduced(call, mode, call.input(0), None, False)


@primitive("MaxDim", "MinDim", operators="ReduceFusion ArgMaxFusion ArgMinFusion", arguments="input dim keepdim")
def extreme_with_index(call: Call) -> Entry:
    """Converts MaxDim and MinDim: the extremes and their indices, the first one of equal elements."""
    axis, keep = call.integer("dim", 0), call.boolean("keepdim")
    mode = ReduceMode.ReduceMax if call.operator == "MaxDim" else ReduceMode.ReduceMin
    return Sequence(
        (
            reduced(call, mode, call.input(0), (axis,), keep),
            call.cast(_place(call, call.operator == "MaxDim", call.input(0), axis, keep), DataType.INT64),
        )
    )


def _place(call: Call, largest: bool, x: Value, axis: int, keep: bool) -> Value:
    kind = ops.ArgMaxFusion if largest else ops.ArgMinFusion
    return call.emit(kind(axis=axis, top_k=1, keep_dims=keep), x)


@primitive("ArgMaxExt", "ArgMinExt", operators="ArgMaxFusion ArgMinFusion Reshape Cast", arguments="input dim keepdim")
def place_of_extreme(call: Call) -> Value:
    """Converts ArgMaxExt and ArgMinExt. Without a dimension, the index is that in the flattened tensor."""
    axis, x, keep = call.integers("dim"), call.input(0), call.boolean("keepdim")
    if not axis:
        x, axis, keep = call.emit(Reshape(), x, call.ints((-1,))), (0,), False
    return call.cast(_place(call, call.operator == "ArgMaxExt", x, axis[0], keep), DataType.INT64)


@primitive("ReduceAny", operators="ReduceFusion Cast NotEqual", arguments="x axis keep_dims")
@primitive("Any", "AnyExt", operators="ReduceFusion Cast NotEqual", arguments="input dim keepdim")
def reduce_any(call: Call) -> Value:
    """Converts ReduceAny as the maximum of zeros and ones."""
    x, axes = call.input(0), call.integers("axis", "dim")
    if call.dtype(x) is not DataType.BOOL:
        x = call.emit(NotEqual(), x, call.like(0, x))
    largest = reduced(
        call, ReduceMode.ReduceMax, call.cast(x, DataType.INT32), axes, call.boolean("keep_dims", False, "keepdim")
    )
    return call.cast(largest, DataType.BOOL)


@primitive("LogSumExp", operators="ReduceLogSumExp", arguments="input dim keepdim")
def log_sum_exp(call: Call) -> Value:
    op = ops.ReduceLogSumExp(keep_dims=call.boolean("keepdim"))
    axes = call.integers("dim")
    return call.emit(op, call.input(0), call.ints(axes)) if axes else call.emit(op, call.input(0))


@primitive("CountNonZero", operators="ReduceFusion NotEqual Cast", arguments="input dim")
def count_non_zero(call: Call) -> Value:
    x = call.input(0)
    found = call.emit(NotEqual(), x, call.like(0, x))
    counted = reduced(call, ReduceMode.ReduceSum, call.cast(found, DataType.INT32), call.integers("dim"), False)
    return call.cast(counted, DataType.INT64 if call.declared_type is DataType.UNKNOWN else call.declared_type)


# ---- norms and deviations ----


@primitive(
    "LpNormV2",
    "Norm",
    "LinalgVectorNorm",
    operators="ReduceFusion Abs PowFusion Sqrt Square",
    arguments="input ord dim keepdim",
)
def norm(call: Call) -> Value:
    axes, keep = call.integers("dim"), call.boolean("keepdim")
    return p_norm(call, call.typed(0), call.real("ord", 2.0, "p"), axes, keep)


@primitive("LpNorm", operators="ReduceFusion Abs PowFusion Sqrt Square Maximum", arguments="input")
def lower_bounded_norm(call: Call) -> Value:
    """Converts LpNorm, which is at least `epsilon`."""
    p, axes, keep = float(call.integer("p", 2)), call.integers("axis"), call.boolean("keep_dims")
    found = p_norm(call, call.typed(0), p, axes, keep)
    return call.emit(Maximum(), found, call.like(call.real("epsilon", 1e-12), found))


def p_norm(call: Call, x: Value, p: float, axes: tuple[int, ...] | None, keep: bool) -> Value:
    """Returns the norm (sum |x|^p)^(1/p) along axes."""
    if p == 2:
        return call.emit(Sqrt(), reduced(call, ReduceMode.ReduceSum, call.emit(Square(), x), axes, keep))
    size = call.emit(Abs(), x)
    if p == 1:
        return reduced(call, ReduceMode.ReduceSum, size, axes, keep)
    if p in (float("inf"), float("-inf")):
        mode = ReduceMode.ReduceMax if p > 0 else ReduceMode.ReduceMin
        return reduced(call, mode, size, axes, keep)
    if p == 0:
        counted = call.cast(call.emit(NotEqual(), x, call.like(0, x)), DataType.FLOAT32)
        return reduced(call, ReduceMode.ReduceSum, counted, axes, keep)
    total = reduced(call, ReduceMode.ReduceSum, call.emit(PowFusion(), size, call.like(p, size)), axes, keep)
    return call.emit(PowFusion(), total, call.like(1 / p, total))


@primitive(
    *("Var", "Std", "VarMean", "StdMean"),
    operators="ReduceFusion SubFusion Square DivFusion Sqrt",
    arguments="input dim correction keepdim",
)
@primitive("ReduceStd", operators="ReduceFusion SubFusion Square DivFusion Sqrt", arguments="x axis unbiased keep_dims")
def deviation(call: Call) -> Entry:
    """Converts variance and standard deviation, with the mean as a second result of some primitives. The divisor is the
    number of elements minus `correction`."""
    x = call.input(0)
    axes = call.integers("dim", "axis") or ()
    keep = call.boolean("keepdim", False, "keep_dims")
    correction = call.integer("correction", int(call.boolean("unbiased", True)))
    mean = reduced(call, ReduceMode.ReduceMean, x, axes, True)
    squares = call.emit(Square(), call.emit(SubFusion(), x, mean))
    total = reduced(call, ReduceMode.ReduceSum, squares, axes, keep)
    variance = call.emit(DivFusion(), total, _degrees(call, x, axes, correction))
    result = variance if call.operator.startswith("Var") else call.emit(Sqrt(), variance)
    if call.operator in ("Var", "Std"):
        return result
    return Sequence((result, mean if keep else reduced(call, ReduceMode.ReduceMean, x, axes, False)))


def _degrees(call: Call, x: Value, axes: tuple[int, ...], correction: int) -> Value:
    """Returns the number of reduced elements minus the correction; computed at run time if sizes are dynamic."""
    shape = call.shape(x)
    chosen = axes or (None if shape is None else tuple(range(len(shape))))
    if shape is not None and chosen is not None and all(shape[axis] >= 0 for axis in chosen):
        return call.like(prod(shape[axis] for axis in chosen) - correction, x)
    sizes = call.emit(Shape(), x)
    if axes:
        sizes = call.emit(Gather(), sizes, call.ints(axes), call.ints(0))
    count = call.cast(reduced(call, ReduceMode.ReduceProd, sizes, None, False), DataType.FLOAT32)
    return call.emit(SubFusion(), count, call.const(correction, "float32"))

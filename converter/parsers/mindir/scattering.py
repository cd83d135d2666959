"""Scatter with reductions, grid sampling, one-hot, interpolation, guarded products."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import arithmetic as ops
from mslite.converter.mindir.ops.comparison import Equal, Where
from mslite.converter.mindir.ops.indexing import OneHot, ScatterElements, ScatterReduceElements, ScatterReduceNd
from mslite.converter.mindir.ops.resize import GridSampler
from mslite.converter.mindir.ops.unary import Acos, Log, Neg, Round

from .call import Call
from .generic import cast_to_common_type
from .registry import primitive

_REDUCTIONS = {"TensorScatterMul": "mul", "TensorScatterMax": "max", "TensorScatterMin": "min"}


@primitive(*_REDUCTIONS, operators="ScatterReduceNd", arguments="input_x indices updates")
def scatter_reduced(call: Call) -> Value:
    op = ScatterReduceNd(reduction=_REDUCTIONS[call.operator])
    return call.emit(op, *(call.input(index) for index in range(3)))


@primitive("TensorScatterSub", operators="ScatterReduceNd Neg", arguments="input_x indices updates")
def scatter_subtracted(call: Call) -> Value:
    return call.emit(ScatterReduceNd(reduction="add"), call.input(0), call.input(1), call.emit(Neg(), call.input(2)))


@primitive(
    "TensorScatterElements",
    operators="ScatterElements ScatterReduceElements",
    arguments="data indices updates axis reduce",
)
def scatter_elements(call: Call) -> Value:
    axis, kind = call.integer("axis", 0), call.attribute("reduce") or call.attribute("reduction") or "none"
    operands = [call.input(index) for index in range(3)]
    if kind in ("none", 0):
        return call.emit(ScatterElements(axis=axis), *operands)
    if kind in ("add", 1):
        return call.emit(ScatterReduceElements(axis=axis, reduction="add"), *operands)
    raise call.block(f"{kind!r} is neither none nor add", attribute="reduce")


_INTERPOLATIONS = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


@primitive(
    "GridSampler2D",
    "GridSampler3D",
    operators="GridSampler",
    arguments="input_x grid interpolation_mode padding_mode align_corners",
)
def grid_sample(call: Call) -> Value:
    """Converts GridSampler. The modes are strings or mslite's enum values."""
    mode, padding = call.attribute("interpolation_mode"), call.attribute("padding_mode")
    op = GridSampler(
        interpolation_mode=_INTERPOLATIONS.get(mode, mode if isinstance(mode, int) else 0),
        padding_mode=_PADDINGS.get(padding, padding if isinstance(padding, int) else 0),
        align_corners=call.boolean("align_corners"),
    )
    return call.emit(op, call.input(0), call.input(1))


@primitive("OneHotExt", operators="OneHot", arguments="tensor num_classes on_value off_value axis")
def one_hot(call: Call) -> Value:
    count = call.integer("num_classes", -1)
    if count < 1:
        raise call.block("the number of classes is computed from the values", "Set num_classes", "num_classes")
    values = [call.input(0), call.ints(count), *(call.input(index) for index in (2, 3) if index < len(call.entries))]
    return call.emit(OneHot(axis=call.integer("axis", -1)), *values)


@primitive("Lerp", "LerpScalar", operators="SubFusion MulFusion AddFusion", arguments="input end weight")
def interpolated(call: Call) -> Value:
    """Converts Lerp: start + weight * (end - start)."""
    start, end = cast_to_common_type(call, call.input(0), call.input(1))
    step = call.emit(ops.MulFusion(), call.emit(ops.SubFusion(), end, start), call.input(2))
    return call.emit(ops.AddFusion(), start, step)


@primitive("Xlogy", operators="MulFusion Log", arguments="input other")
def x_log_y(call: Call) -> Value:
    """Converts Xlogy to x * log(y), as MindSpore computes it on a CPU: 0 * log(0) is NaN."""
    x, y = cast_to_common_type(call, call.input(0), call.input(1))
    return call.emit(ops.MulFusion(), x, call.emit(Log(), y))


@primitive("Xdivy", "MulNoNan", operators="Where Equal MulFusion DivFusion", arguments="input other")
def zero_wins(call: Call) -> Value:
    """Converts Xdivy (x / y, but 0 if x is 0) and MulNoNan (x * y, but 0 if y is 0)."""
    x, y = cast_to_common_type(call, call.input(0), call.input(1))
    product = call.emit(ops.DivFusion() if call.operator == "Xdivy" else ops.MulFusion(), x, y)
    decisive = y if call.operator == "MulNoNan" else x
    return call.emit(Where(), call.emit(Equal(), decisive, call.like(0, decisive)), call.like(0, product), product)


@primitive("Rint", operators="Round", arguments="input_x")
def to_even(call: Call) -> Value:
    return call.emit(Round(), call.input(0))


@primitive("ACos", "AcosExt", operators="Acos", arguments="input")
def arc_cosine(call: Call) -> Value:
    return call.emit(Acos(), call.input(0))

"""Scatter operators, and in-place copies into tensors."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import indexing as ops
from mslite.converter.mindir.ops.arithmetic import MulFusion
from mslite.converter.mindir.ops.assembly import BroadcastTo, StridedSlice
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape, Shape, Transpose
from mslite.converter.mindir.ops.unary import Neg, Reciprocal

from .call import Call
from .registry import primitive

_OPERATIONS = ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min")
_REDUCTIONS = {"Mul": "mul", "Div": "mul", "Max": "max", "Min": "min"}


def placed(call: Call, kind: str, x: Value, tuples: Value, updates: Value) -> Value:
    """Scatters `updates` into x at index tuples; `kind` is the reduction."""
    updates = call.cast(updates, call.dtype(x))
    if kind == "Update":
        return call.emit(ops.ScatterNdUpdate(), x, tuples, updates)
    if kind in ("Add", "Sub"):
        return call.emit(ops.TensorScatterAdd(), x, tuples, call.emit(Neg(), updates) if kind == "Sub" else updates)
    if kind == "Div":
        known = call.dtype(x)
        if known is not DataType.UNKNOWN and numpy_type(known).kind != "f":
            raise call.block(
                "scatter with division is unsupported for integers", "Cast the tensor to float32 in the model"
            )
        updates = call.emit(Reciprocal(), updates)
    return call.emit(ops.ScatterReduceNd(reduction=_REDUCTIONS[kind]), x, tuples, updates)


def _kind(call: Call) -> str:
    return next(each for each in _OPERATIONS if call.operator.endswith(each))


@primitive(*(f"ScatterNd{each}" for each in _OPERATIONS), "ScatterNonAliasingAdd", "TensorScatterDiv",
           operators="ScatterNdUpdate TensorScatterAdd ScatterReduceNd", arguments="input_x indices updates use_locking")  # fmt: skip
def scatter_tuples(call: Call) -> Value:
    return placed(call, _kind(call), call.input(0), call.input(1), call.input(2))


@primitive(*(f"Scatter{each}" for each in _OPERATIONS),
           operators="ScatterNdUpdate TensorScatterAdd ScatterReduceNd ExpandDims", arguments="input_x indices updates use_locking")  # fmt: skip
def scatter_rows(call: Call) -> Value:
    return placed(call, _kind(call), call.input(0), _tuples(call, call.input(1)), call.input(2))


def _tuples(call: Call, rows: Value) -> Value:
    return call.emit(ExpandDims(), rows, call.ints(-1))


_OLD_ROWS = {"InplaceAdd": "Add", "InplaceSub": "Sub", "InplaceUpdate": "Update", "InplaceUpdateV2": "Update"}


@primitive("InplaceAdd", "InplaceSub", "InplaceUpdate", operators="ScatterNdUpdate TensorScatterAdd", arguments="x v")
@primitive("InplaceUpdateV2", operators="ScatterNdUpdate", arguments="x indices v")
def rows_of_list(call: Call) -> Value:
    """Converts older in-place primitives, which have row numbers in the attribute `indices`."""
    rows = np.asarray(call.integers("indices") or (), np.int32).reshape(-1, 1)
    return placed(call, _OLD_ROWS[call.operator], call.input(0), call.ints(rows), call.input(len(call.entries) - 1))


# ---- along one dimension ----


@primitive(
    "IndexAddExt",
    "InplaceIndexAddExt",
    operators="TensorScatterAdd Transpose",
    arguments="input dim index source alpha",
)
@primitive("IndexAdd", "InplaceIndexAdd", operators="TensorScatterAdd Transpose", arguments="x indices y axis")
def add_slices(call: Call) -> Value:
    """Converts IndexAdd: adds slices at indices of a dimension."""
    if call.operator in ("IndexAdd", "InplaceIndexAdd"):
        axis, index, source = call.integer("axis", 0), call.input(1), call.input(2)
    else:
        axis, index, source = call.integer("dim", 0), call.input(2), call.input(3)
        alpha = call.real("alpha", 1.0)
        source = source if alpha == 1 else call.emit(MulFusion(), source, call.like(alpha, source))
    return _slices(call, "Add", axis, index, source)


@primitive("InplaceIndexCopy", operators="ScatterNdUpdate Transpose", arguments="input dim index tensor")
def copy_slices(call: Call) -> Value:
    return _slices(call, "Update", call.integer("dim", 0), call.input(2), call.input(3))


@primitive(*("IndexFill", "IndexFillScalar", "IndexFillTensor", "InplaceIndexFillScalar", "InplaceIndexFillTensor"),
           operators="Fill ScatterNdUpdate Transpose", arguments="input dim index value")  # fmt: skip
def fill_slices(call: Call) -> Value:
    x, index = call.input(0), call.input(2)
    axis = call.axis(x, call.integer("dim", 0), "dim")
    shape = list(call.require_shape(x, "a fill of slices"))
    shape[axis] = prod(call.require_shape(index, "a fill of slices"))
    filled = call.emit(Fill(), call.cast(call.input(3), call.dtype(x)), call.ints(shape))
    return _slices(call, "Update", axis, call.emit(Reshape(), index, call.ints((-1,))), filled)


def _slices(call: Call, kind: str, axis: int, index: Value, source: Value) -> Value:
    x = call.input(0)
    axis = call.axis(x, axis, "axis")
    if axis == 0:
        return placed(call, kind, x, _tuples(call, index), source)
    order = list(range(call.rank(x)))
    order[0], order[axis] = order[axis], order[0]
    first, given = (call.emit(Transpose(), each, call.ints(order)) for each in (x, source))
    return call.emit(Transpose(), placed(call, kind, first, _tuples(call, index), given), call.ints(order))


_BY_NAME = {"none": "none", "add": "add", "multiply": "mul", 0: "none", 1: "add", 2: "mul"}


@primitive(
    "Scatter", "ScatterValue", operators="ScatterElements ScatterReduceElements", arguments="input dim index src reduce"
)
@primitive(*("InplaceScatterSrc", "InplaceScatterSrcReduce", "InplaceScatterValue", "InplaceScatterValueReduce"),
           operators="ScatterElements ScatterReduceElements", arguments="input dim index src reduce")  # fmt: skip
@primitive("ScatterAddExt", "InplaceScatterAdd", operators="ScatterReduceElements", arguments="input dim index src")
def scatter_elements(call: Call) -> Value:
    """Converts Scatter: writes or reduces elements of `src` (or a scalar) at the indices of a dimension. Only the part
    of `src` with the shape of `index` is read."""
    x, axis, index, source = call.input(0), call.integer("dim", 0), call.input(2), call.input(3)
    given = call.attribute("reduce")
    kind = (
        "add" if call.operator.endswith(("AddExt", "ScatterAdd")) else _BY_NAME.get("none" if given is None else given)
    )
    if kind is None:
        raise call.block(f"{given!r} is not none, add or multiply", attribute="reduce")
    source = call.cast(source, call.dtype(x))
    sizes, own = call.require_shape(index, "a scatter of elements"), call.shape(source)
    if not own:
        source = call.emit(Fill(), source, call.ints(sizes))
    elif own != sizes:
        begin, step = call.ints((0,) * len(sizes)), call.ints((1,) * len(sizes))
        source = call.emit(StridedSlice(), source, begin, call.ints(sizes), step)
    if kind == "none":
        return call.emit(ops.ScatterElements(axis=axis), x, index, source)
    return call.emit(ops.ScatterReduceElements(axis=axis, reduction=kind), x, index, source)


@primitive("ScatterAddWithAxis", operators="ScatterReduceElements", arguments="x indices updates axis")
def add_elements(call: Call) -> Value:
    op = ops.ScatterReduceElements(axis=call.integer("axis", 0), reduction="add")
    return call.emit(op, call.input(0), call.input(1), call.input(2))


# ---- copies ----


@primitive("InplaceCopy", operators="BroadcastTo Cast", arguments="input src non_blocking")
def copy_over(call: Call) -> Value:
    return _like_first(call, call.input(1))


@primitive("InplaceFillScalar", "InplaceFillTensor", operators="Fill", arguments="input value")
@primitive("InplaceZero", operators="Fill", arguments="input")
def fill_over(call: Call) -> Value:
    x = call.input(0)
    value = call.input(1) if len(call.entries) > 1 else call.like(0, x)
    return call.emit(Fill(), call.cast(value, call.dtype(x)), call.emit(Shape(), x))


def _like_first(call: Call, source: Value) -> Value:
    """Returns `source` in the shape and data type of the first operand."""
    x = call.input(0)
    source = call.cast(source, call.dtype(x))
    if call.shape(x) is not None and call.shape(source) == call.shape(x):
        return source
    return call.emit(BroadcastTo(), source, call.emit(Shape(), x))

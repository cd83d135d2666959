"""Operators along axes: reductions, ArgMax, sorting, cumulative sums."""

from __future__ import annotations

import numpy as np

from ..builder import Builder
from ..evaluate import Rejected
from ..values import FLOATS, NUMBERS, Value
from .registry import operator


def axes_of(g: Builder, x: Value, least: int = 0) -> list[int]:
    """Returns some of the axes, in any order, some negative."""
    chosen = g.subset(list(range(x.rank)), least)
    return [axis - x.rank if g.maybe(3) else axis for axis in (reversed(chosen) if g.maybe(4) else chosen)]


def axis_of(g: Builder, x: Value) -> int:
    """Returns one axis, rarely a negative one."""
    axis = g.integer(0, x.rank - 1)
    return axis - x.rank if g.maybe(3) else axis


@operator("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceL2")
def reduction(g: Builder, name: str) -> None:
    x = g.pick(
        (*FLOATS, "float32", "int32", "int64", "int8", "uint8", "bool")
        if name in ("ReduceMax", "ReduceMin")
        else (*FLOATS, "int32", "int64")
    )
    reduce(g, name, x)


@operator("ReduceLogSum", "ReduceLogSumExp")
def logarithmic(g: Builder, name: str) -> None:
    x = g.pick(FLOATS)
    reduce(g, name, g.node("Abs", x) if name == "ReduceLogSum" else x)


def reduce(g: Builder, name: str, x: Value) -> None:
    if x.size == 0:
        raise Rejected("onnxruntime does not reduce what is empty")
    if name == "ReduceProd" and not x.always(
        lambda array: np.prod(np.maximum(np.abs(array.astype(np.float64)), 1.0)) < 1e6
    ):
        raise Rejected("the product would not fit")
    if name == "ReduceL2" and not x.always(lambda array: np.sum(np.square(array.astype(np.float64))) < 2**24):
        raise Rejected("the root of integers is taken in float32")
    axes, keep = axes_of(g, x), g.choose((None, 0, 1))
    if axes or g.opset < 18:
        g.with_axes(name, x, axes, keepdims=keep)
        return
    none = g.maybe()
    g.node(
        name, x, None if none else g.constant([], "int64"), keepdims=keep, noop_with_empty_axes=g.choose((None, 0, 1))
    )


@operator("ArgMax", "ArgMin")
def index_of_largest(g: Builder, name: str) -> None:
    x = g.pick((*FLOATS, "int32", "int8", "uint8"), low=1)
    if x.size == 0:
        raise Rejected("onnxruntime keeps the axis of what is empty")
    last = g.choose((None, 0, 1)) if g.opset >= 12 else None
    g.node(name, x, axis=axis_of(g, x), keepdims=g.choose((None, 0, 1)), select_last_index=last)


@operator("TopK")
def top(g: Builder, name: str) -> None:
    x = g.pick((*FLOATS, "int32", "int64"), low=1)
    axis = axis_of(g, x)
    if not x.fixed(axis):
        raise Rejected("an open axis")
    count = g.integer(0 if g.maybe(20) else 1, x.shape[axis])
    if g.opset < 10:
        g.nodes_results(name, x, outputs=2, axis=axis, k=count)
        return
    k = g.constant([count], "int64")
    if g.opset < 11:
        g.nodes_results(name, x, k, outputs=2, axis=axis)
        return
    g.nodes_results(name, x, k, outputs=2, axis=axis, largest=g.choose((None, 0, 1)), sorted=g.choose((None, 1)))


@operator("CumSum")
def running(g: Builder, name: str) -> None:
    x = g.pick((*FLOATS, "int32", "int64"), low=1)
    axis = g.constant(axis_of(g, x), g.choose(("int64", "int32")))
    g.node(name, x, axis, exclusive=g.choose((None, 0, 1)), reverse=g.choose((None, 0, 1)))


@operator("Softmax", "LogSoftmax", "Hardmax")
def softmax(g: Builder, name: str) -> None:
    x = g.pick(FLOATS, low=1)
    least = 1 if g.opset >= 13 else 2  # minimum rank for the default axis
    if g.opset < 13 and x.size == 0:
        raise Rejected("the converter restores a shape in which 0 is no size")
    g.node(name, x, axis=None if x.rank >= least and g.maybe(3) else axis_of(g, x))


@operator("LpNormalization")
def lp_normalization(g: Builder, name: str) -> None:
    x = g.pick(FLOATS, low=1)
    g.node(name, x, axis=axis_of(g, x), p=g.choose((None, 1, 2)))


@operator("MeanVarianceNormalization")
def mean_variance(g: Builder, name: str) -> None:
    x = g.pick(FLOATS[:1], low=2, high=4)  # its function body has float32 constants
    g.node(name, x, axes=[0, 2, 3] if x.rank == 4 and g.maybe() else [*range(1, x.rank)])


@operator("Trilu", since=14)
def triangle(g: Builder, name: str) -> None:
    x = g.pick((*NUMBERS, "bool"), low=2)
    k = g.constant(g.integer(-4, 4), "int64") if g.maybe() else None
    g.node(name, x, k, upper=g.choose((None, 0, 1)))


@operator("NonZero", "Unique")
def counting(g: Builder, name: str) -> None:
    # For a scalar, NonZero has no rows in the standard and one in onnxruntime.
    least = 1 if name == "NonZero" else 0
    x = g.pick(("float32", "int64", "int8", *(("int32", "bool") if least else ())), low=least)
    if name == "NonZero":
        g.node(name, x)
        return
    axis = axis_of(g, x) if x.rank and g.maybe() else None
    if axis is not None and x.size == 0:
        raise Rejected("onnxruntime ends the process")
    wanted = [True, g.maybe(), g.maybe(), g.maybe()]
    g.nodes_results(name, x, outputs=wanted, axis=axis, sorted=g.choose((None, 0, 1)))


@operator("Size", "Shape")
def measure(g: Builder, name: str) -> None:
    x = g.pick(("float32", "int64", "bool", "float16"))
    if name == "Shape" and g.opset >= 15 and g.maybe():
        g.node(name, x, start=g.integer(-3, 3), end=g.choose((None, g.integer(-3, 5))))
    else:
        g.node(name, x)


@operator("Range")
def sequence(g: Builder, name: str) -> None:
    dtype = g.choose(("float32", "int64", "int32"))
    start, step, count = g.integer(-5, 5), g.choose((1, 2, -1, 3, -2)), g.integer(0, 9)
    limits = np.array([start, start + step * count, step], dtype)
    g.node(name, *(g.constant(limit) for limit in limits))

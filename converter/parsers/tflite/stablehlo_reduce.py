"""StableHLO operators with a body subgraph: reduce, reduce_window and sort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mslite.converter.mindir.graph import Array, Value, numpy_type
from mslite.converter.mindir.ops import Operator, arithmetic, comparison
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import GatherD
from mslite.converter.mindir.ops.reduction import ReduceFusion, TopKFusion
from mslite.converter.mindir.ops.unary import Cast

from .call import Call
from .matrices import TO_THE_END, spread
from .registry import tflite_operator

_MAX_PIECES = 1024
"""Largest sum of the window sizes of all dimensions."""

_PLAIN = "Export the model with a reduction by add, multiply, maximum, minimum, and, or"

_KINDS = {
    "ADD": "add",
    "MUL": "mul",
    "MULTIPLY": "mul",
    "MAXIMUM": "max",
    "MINIMUM": "min",
    "LOGICAL_AND": "all",
    "AND": "all",
    "LOGICAL_OR": "any",
    "OR": "any",
}
_WINDOW_KINDS = ("", "add", "mul", "min", "max", "all", "any")
_PAIRS: dict[str, Operator] = {
    "add": arithmetic.AddFusion(),
    "mul": arithmetic.MulFusion(),
    "max": arithmetic.Maximum(),
    "min": arithmetic.Minimum(),
    "all": comparison.LogicalAnd(),
    "any": comparison.LogicalOr(),
}
_MODES = {
    "add": ReduceMode.ReduceSum,
    "mul": ReduceMode.ReduceProd,
    "max": ReduceMode.ReduceMax,
    "min": ReduceMode.ReduceMin,
}


def region_kind(call: Call, option: str) -> str:
    """Returns what the body that an option refers to computes from its two scalars: `add`, `mul`, `max`, `min`, `all`,
    `any`, or `second` if it returns the second one. Raises Blocked."""
    number, graphs = call.options.integer(option), call.scope.session.model.graphs
    if not 0 < number < len(graphs):
        raise call.block(f"there is no subgraph {number}", attribute=option)
    graph = graphs[number]
    if len(graph.inputs) == 2 and len(graph.outputs) == 1:
        if not graph.operators and graph.outputs[0] == graph.inputs[1]:
            return "second"
        if len(graph.operators) == 1:
            (node,) = graph.operators
            kind = _KINDS.get(node.name.removeprefix("STABLEHLO_"))
            if kind and sorted(node.inputs) == sorted(graph.inputs) and tuple(node.outputs) == tuple(graph.outputs):
                return kind
    raise call.block("the body of the reduction is unsupported", _PLAIN, option)


def _neutral(kind: str, dtype: np.dtype[Any]) -> float | int | bool:
    if kind in ("all", "any"):
        return kind == "all"
    if kind in ("add", "mul"):
        return int(kind == "mul")
    if dtype.kind == "f":
        return -np.inf if kind == "max" else np.inf
    limits = np.iinfo(dtype)
    return int(limits.min if kind == "max" else limits.max)


def _with_initial(call: Call, kind: str, y: Value, initial: Value) -> Value:
    """Returns `y` combined with the initial value, unless that is the neutral element."""
    data = initial.data
    if data is not None and data.size == 1 and data.item() == _neutral(kind, data.dtype):
        return y
    return call.emit(_PAIRS[kind], y, initial)


@tflite_operator("STABLEHLO_REDUCE")
def reduce(call: Call) -> Value:
    """Converts reduce. Its inputs are one tensor x and the initial value."""
    if call.input_count != 2:
        raise call.block(f"a reduction of {call.input_count // 2} tensors is unsupported", _PLAIN)
    kind, rank = region_kind(call, "body"), call.rank(0)
    axes = [call.axis(axis, rank, "dimensions") for axis in call.options.integers("dimensions") or ()]
    if kind == "second" or len(set(axes)) != len(axes):
        raise call.block("the body or the dimensions of the reduction are not valid", attribute="dimensions")
    x = call.input(0)
    if kind in ("all", "any"):
        if call.source(0).dtype is not DataType.BOOL:
            raise call.block("a bitwise reduction is unsupported", _PLAIN)
        mode = ReduceMode.ReduceMin if kind == "all" else ReduceMode.ReduceMax
        numbers = call.emit(Cast(), x, call.ints(int(DataType.INT32)))
        y = call.emit(ReduceFusion(mode=mode, coeff=1.0), numbers, call.ints(axes))
        y = call.emit(Cast(), y, call.ints(int(DataType.BOOL)))
    else:
        y = call.emit(ReduceFusion(mode=_MODES[kind], coeff=1.0), x, call.ints(axes)) if axes else x
    return _with_initial(call, kind, y, call.input(1))


# ---- windows ----


def _windows(
    call: Call,
    kind: str,
    window: Sequence[int],
    strides: Sequence[int],
    base: Sequence[int],
    dilations: Sequence[int],
    pads: Array,
) -> Value:
    """Reduces windows one dimension after the other: a strided slice for each window element, combined pairwise."""
    rank = call.rank(0)
    if any(len(numbers) != rank for numbers in (window, strides, base, dilations)) or pads.shape != (rank, 2):
        raise call.block(f"its windows do not match {rank} dimensions")
    if min((*window, *strides, *base, *dilations), default=1) < 1 or sum(window) > _MAX_PIECES:
        raise call.block(f"windows of {tuple(window)} are not valid or too large", "Use smaller windows")
    if pads.size and (pads.min() < 0 or pads.max() >= 1 << 31):
        raise call.block(f"a padding of {pads.tolist()} is unsupported", "Export without negative padding")
    initial = call.input(1)
    x = spread(call, call.input(0), call.shape(0), base, initial)
    sizes = [max((size - 1) * step + 1, 0) for size, step in zip(call.shape(0), base, strict=True)]
    if pads.any():
        x = call.emit(PadFusion(), x, call.const(pads, np.int32), initial)
        sizes = [size + int(border.sum()) for size, border in zip(sizes, pads, strict=True)]
    for axis in range(rank):
        if window[axis] == strides[axis] == 1:
            continue
        count = max((sizes[axis] - (window[axis] - 1) * dilations[axis] - 1) // strides[axis] + 1, 0)
        total: Value | None = None
        for place in range(window[axis]):
            first = [0] * rank
            first[axis] = place * dilations[axis]
            end = [TO_THE_END] * rank
            end[axis] = first[axis] + max(count - 1, 0) * strides[axis] + (1 if count else 0)
            step = [strides[axis] if i == axis else 1 for i in range(rank)]
            piece = call.emit(StridedSlice(), x, call.ints(first), call.ints(end), call.ints(step))
            total = piece if total is None else call.emit(_PAIRS[kind], total, piece)
        assert total is not None
        x = total
        sizes[axis] = count
    return _with_initial(call, kind, x, initial)


@tflite_operator("STABLEHLO_REDUCE_WINDOW")
def stablehlo_reduce_window(call: Call) -> Value:
    """Converts reduce_window. Its inputs are x and the initial value, which is also the padding value."""
    if call.input_count != 2:
        raise call.block(f"a reduction of {call.input_count // 2} tensors is unsupported", _PLAIN)
    rank = call.rank(0)
    names = ("window", "strides", "base_dilations", "window_dilations")
    window, strides, base, dilations = (call.options.integers(name) or (1,) * rank for name in names)
    pads = np.array(call.options.integers("padding") or (0,) * (2 * rank), np.int64)
    if pads.size != 2 * rank:
        raise call.block(f"{pads.size} padding values do not match {rank} dimensions", attribute="padding")
    kind = region_kind(call, "body")
    if kind == "second":
        raise call.block("the body of the reduction is unsupported", _PLAIN)
    return _windows(call, kind, window, strides, base, dilations, pads.reshape(rank, 2))


@tflite_operator("REDUCE_WINDOW")
def reduce_window(call: Call) -> Value:
    """Converts REDUCE_WINDOW. Its inputs are x, initial value, window, strides, window dilations."""
    function = call.options.integer("function")
    if not 1 <= function < len(_WINDOW_KINDS):
        raise call.block(f"{function} is unknown", attribute="reduce_function")
    names = ("the window", "the strides", "the dilations")
    window, strides, dilations = (call.integers(index, name) for index, name in enumerate(names, 2))
    rank = call.rank(0)
    borders = np.zeros((rank, 2), np.int64)
    return _windows(call, _WINDOW_KINDS[function], window, strides, (1,) * rank, dilations, borders)


# ---- sorting ----

_LESS = {"LESS", "LESS_EQUAL"}
_GREATER = {"GREATER", "GREATER_EQUAL"}
_DIRECTIONS = {2: False, 3: False, 4: True, 5: True}
"""Direction of STABLEHLO_COMPARE -> whether it sorts in ascending order."""


def _ascending(call: Call) -> tuple[bool, int]:
    """Returns whether the order is ascending, and the index of the tensor to sort by. Raises Blocked."""
    number, graphs = call.options.integer("comparator"), call.scope.session.model.graphs
    if 0 < number < len(graphs):
        graph = graphs[number]
        if len(graph.operators) == 1 and len(graph.outputs) == 1 and len(graph.inputs) == 2 * call.input_count:
            (node,) = graph.operators
            places = [graph.inputs.index(index) if index in graph.inputs else -1 for index in node.inputs]
            if len(places) == 2 and min(places) >= 0 and places[0] // 2 == places[1] // 2 and places[0] != places[1]:
                up: bool | None = node.name in _LESS if node.name in _LESS | _GREATER else None
                if node.name == "STABLEHLO_COMPARE":
                    up = _DIRECTIONS.get(node.options.integer("direction"))
                if up is not None:
                    return up == (places[0] < places[1]), places[0] // 2
    raise call.block("the comparator of the sort is unsupported", "Sort by less or greater of one tensor")


@tflite_operator("STABLEHLO_SORT")
def sort(call: Call) -> tuple[Value, ...]:
    """Converts sort: sorts tensors by one of them; equal elements keep their order."""
    up, key = _ascending(call)
    axis = call.axis(call.options.integer("dimension"), call.rank(0))
    size = call.shape(0)[axis]
    dtype = numpy_type(call.source(key).dtype)
    if dtype.kind not in "fi":
        raise call.block(f"sorting by {dtype} is unsupported", "Sort by float or signed integer tensors")
    op = TopKFusion(sorted=True, axis=axis, largest=-1 if up else 1)
    values, order = call.emit_many(op, [call.input(key), call.ints((size,))], 2)
    order.dtype = DataType.INT32
    gather: Callable[[int], Value] = lambda index: call.emit(GatherD(), call.input(index), call.ints(axis), order)  # noqa: E731
    return tuple(values if index == key else gather(index) for index in range(call.input_count))

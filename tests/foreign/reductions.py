"""Reductions, scans, sorting and constant tensors, computed with onnxruntime's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from tests.kernels import random_sequences as sequences
from tests.kernels.random_calls import Call, Draw, axes_of, axis_of, ints, normal, shapes, typed

from .assembly import only
from .graph import Array, Graph, run
from .registry import compared

_MODES = {
    ReduceMode.ReduceMean: "ReduceMean",
    ReduceMode.ReduceMax: "ReduceMax",
    ReduceMode.ReduceMin: "ReduceMin",
    ReduceMode.ReduceProd: "ReduceProd",
    ReduceMode.ReduceSum: "ReduceSum",
    ReduceMode.ReduceSumSquare: "ReduceSumSquare",
    ReduceMode.ReduceASum: "ReduceL1",
    ReduceMode.ReduceL2: "ReduceL2",
    ReduceMode.ReduceAll: "ReduceMin",
}


@st.composite
def reductions(draw: Draw, name: str) -> Call:
    shape = draw(shapes(1, 5, 1, 5))
    axes = axes_of(draw, len(shape), 1)
    if name == "All":
        x = typed(draw, shape, ("bool",))
        return Call(OPERATORS[name](keep_dims=draw(st.integers(0, 1))), (x, ints(*axes)), (1,))
    keep = draw(st.booleans())
    if name == "ReduceLogSumExp":
        return Call(OPERATORS[name](keep_dims=keep), (normal(draw, shape), ints(*axes)), (1,))
    mode = draw(st.sampled_from(list(_MODES)))
    if mode is ReduceMode.ReduceAll:
        return Call(OPERATORS[name](keep_dims=keep, mode=mode), (typed(draw, shape, ("bool",)), ints(*axes)), (1,))
    to_end = draw(st.integers(0, 3)) == 0
    op = OPERATORS[name](keep_dims=keep, mode=mode, reduce_to_end=to_end, coeff=0.5 if to_end else 0.0)
    return Call(op, (normal(draw, shape, 0.5, 2), ints(*(axes[:1] if to_end else axes))), (1,))


@compared("ReduceFusion", "ReduceLogSumExp", "All", strategy=reductions)
def reduce(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x, axes) = Graph(), inputs
    name = "ReduceMin" if op.name == "All" else _MODES[op.mode] if op.name == "ReduceFusion" else op.name
    to_end = getattr(op, "reduce_to_end", False)
    along = np.arange(axes[0] % x.ndim, x.ndim) if to_end else axes.astype(np.int64)
    y = graph(name, x, along, keepdims=int(op.keep_dims))
    return graph.run(graph("Mul", y, op.coeff) if to_end else y)


@st.composite
def orders(draw: Draw, name: str) -> Call:
    x = typed(draw, draw(shapes(1, 4, 1, 7)), ("float32", "int32", "int64"))
    axis = axis_of(draw, x.ndim)
    count = draw(st.integers(1, x.shape[axis]))
    if name == "TopKFusion":
        x = np.random.default_rng(x.size).permutation(x.size).reshape(x.shape).astype(x.dtype)  # unique values
        return Call(OPERATORS[name](axis=axis, largest=draw(st.integers(-1, 1))), (x, ints(count)), (1,))
    return Call(OPERATORS[name](axis=axis, top_k=1, keep_dims=draw(st.booleans())), (x,))


@compared("ArgMaxFusion", "ArgMinFusion", "TopKFusion", strategy=orders)
def order(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    x, *rest = inputs
    if op.name == "TopKFusion":
        return run("TopK", x, rest[0].astype(np.int64), outputs=2, axis=op.axis, largest=int(op.largest >= 0))
    return run(op.name.removesuffix("Fusion"), x, axis=op.axis, keepdims=int(op.keep_dims))


@st.composite
def scans(draw: Draw, name: str) -> Call:
    shape = draw(shapes(1, 4, 1, 6))
    op = OPERATORS[name](exclusive=draw(st.booleans()), reverse=draw(st.booleans()))
    return Call(op, (normal(draw, shape, 0.5, 1.5), ints(axis_of(draw, len(shape)))[0].reshape(())), (1,))


@compared("CumSum", "CumProd", strategy=scans)
def scan(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """Computes products of positive values through logarithms."""
    graph, (x, axis) = Graph(), inputs
    flags = {"exclusive": int(op.exclusive), "reverse": int(op.reverse)}
    if op.name == "CumSum":
        return graph.run(graph("CumSum", x, axis, **flags))
    return graph.run(graph("Exp", graph("CumSum", graph("Log", x), axis, **flags)))


@st.composite
def segments(draw: Draw, name: str) -> Call:
    rows, count = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    ids = np.array([draw(st.integers(0, count - 1)) for _ in range(rows)], np.int32)
    return Call(
        OPERATORS[name](), (normal(draw, (rows, *draw(shapes(0, 2, 1, 4)))), ids, ints(count)[0].reshape(())), (2,)
    )


@st.composite
def picked(draw: Draw, name: str) -> Call:
    rows, count = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    indices = ints(*(draw(st.integers(0, rows - 1)) for _ in range(count)))
    ids = ints(*sorted(draw(st.integers(0, 5)) for _ in range(count)))
    return Call(OPERATORS[name](), (normal(draw, (rows, *draw(shapes(0, 2, 1, 4)))), indices, ids))


@compared(
    "UnsortedSegmentSum", "SparseSegmentSum", strategy=lambda name: segments(name) if name[0] == "U" else picked(name)
)
def segment_sum(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    if op.name == "SparseSegmentSum":
        x, indices, ids = inputs
        x, count = graph("Gather", x, indices.astype(np.int64)), int(ids[-1]) + 1
    else:
        x, ids, count = inputs[0], inputs[1], int(inputs[2])
    zeros = np.zeros((count, *inputs[0].shape[1:]), np.float32)
    return graph.run(graph("ScatterND", zeros, ids[:, None].astype(np.int64), x, reduction="add"))


# ---- constant tensors ----


@compared("Range", "LinSpace", "EyeLike", strategy=lambda name: only(sequences.creations(), name))
def created(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    if op.name == "Range":
        return graph.run(graph("Range", *inputs))
    if op.name == "EyeLike":
        return graph.run(graph("EyeLike", inputs[0], k=op.k))
    start, stop, count = inputs
    steps = graph("Range", np.float32(0), np.float32(count), np.float32(1))
    width = graph("Div", graph("Sub", stop, start), float(max(int(count) - 1, 1)))
    return graph.run(graph("Add", graph("Mul", steps, width), start))


@st.composite
def filled(draw: Draw, name: str) -> Call:
    shape = ints(*draw(shapes()))
    value = typed(draw, (), ("float32", "int32", "int64", "bool"))
    if name == "ConstantOfShape":
        kind = draw(st.sampled_from((DataType.FLOAT32, DataType.INT32, DataType.INT64)))
        return Call(OPERATORS[name](data_type=int(kind), value=(float(draw(st.integers(-9, 9))),)), (shape,), (0,))
    return Call(OPERATORS[name](), (value, shape) if name == "Fill" else (shape, value), (0, 1))


@compared("Fill", "FillV2", "ConstantOfShape", strategy=filled)
def fill(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    kinds = {DataType.FLOAT32: np.float32, DataType.INT32: np.int32, DataType.INT64: np.int64}
    if op.name == "ConstantOfShape":
        value, shape = np.asarray(op.value[0], kinds[DataType(op.data_type)]), inputs[0]
    else:
        value, shape = inputs if op.name == "Fill" else inputs[::-1]
    return run("Expand", value, shape.astype(np.int64))


@st.composite
def ragged(draw: Draw, name: str) -> Call:
    rows = [
        (draw(st.integers(-9, 9)), draw(st.integers(1, 5)), draw(st.sampled_from((1, 2, -3))))
        for _ in range(draw(st.integers(1, 4)))
    ]
    columns = [(start, start + count * delta, delta) for start, count, delta in rows]
    return Call(OPERATORS[name](), tuple(ints(*column) for column in zip(*columns, strict=True)))


@compared("RaggedRange", strategy=ragged)
def ragged_range(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    ranges = [graph("Range", *(np.asarray(number) for number in row)) for row in zip(*inputs, strict=True)]
    sizes = graph("Concat", np.zeros(1, np.int64), *(graph("Shape", each) for each in ranges), axis=0)
    return graph.run(graph("CumSum", sizes, 0), graph("Concat", *ranges, axis=0))

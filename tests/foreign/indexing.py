"""Gather and scatter operators, computed with onnxruntime's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS, Operator
from tests.kernels import random_calls as calls
from tests.kernels import random_sequences as sequences
from tests.kernels.random_calls import Call, Draw, axis_of, ints, normal, shapes, typed

from .assembly import only
from .graph import Array, Graph, run
from .registry import compared


@compared("Gather", "GatherNd", "GatherD", "ScatterNdUpdate", strategy=lambda name: only(calls.lookups(), name))
def look_up(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    x, *rest = inputs
    if op.name == "Gather":
        return run("Gather", x, rest[0], axis=int(rest[1]))
    if op.name == "GatherD":
        return run("GatherElements", x, rest[1], axis=int(rest[0]))
    name = "GatherND" if op.name == "GatherNd" else "ScatterND"
    return run(name, x, rest[0].astype(np.int64), *rest[1:])


@compared("Tril", "Triu", strategy=lambda name: only(calls.lookups(), name))
def triangle(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("Trilu", *inputs, upper=int(op.name == "Triu"))


@st.composite
def batched(draw: Draw, name: str) -> Call:
    shape = draw(shapes(2, 4, 1, 5))
    dims = draw(st.integers(1, len(shape) - 1))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    rest = draw(shapes(1, 2, 1, 4))
    x = normal(draw, shape)
    if name == "BatchGather":
        axis = draw(st.integers(dims, len(shape) - 1))
        indices = generator.integers(0, shape[axis], (*shape[:dims], *rest)).astype(np.int32)
        return Call(OPERATORS[name](axis=axis, batch_dims=dims), (x, indices))
    depth = draw(st.integers(1, len(shape) - dims))
    rows = [generator.integers(0, size, (*shape[:dims], *rest)) for size in shape[dims : dims + depth]]
    return Call(OPERATORS[name](batch_dims=dims), (x, np.stack(rows, -1).astype(np.int32)))


@compared("BatchGather", "BatchGatherNd", strategy=batched)
def batch_gather(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """Computes Gather along an axis as GatherND of x with that axis moved after the batch dimensions."""
    graph, (x, indices) = Graph(), inputs
    indices, dims = indices.astype(np.int64), op.batch_dims
    if op.name == "BatchGatherNd":
        return graph.run(graph("GatherND", x, indices, batch_dims=dims))
    order = [*range(dims), op.axis, *(i for i in range(dims, x.ndim) if i != op.axis)]
    y = graph("GatherND", graph("Transpose", x, perm=order), indices[..., None], batch_dims=dims)
    between = op.axis - dims  # dimensions of x before the indices in the output
    places = indices.ndim - dims
    rank = x.ndim - 1 + places
    moved = [*range(dims), *range(dims + places, dims + places + between), *range(dims, dims + places)]
    return graph.run(graph("Transpose", y, perm=[*moved, *range(dims + places + between, rank)]))


@st.composite
def scattered(draw: Draw, name: str) -> Call:
    shape = draw(shapes(1, 3, 1, 5))
    depth = draw(st.integers(1, len(shape)))
    count = draw(st.integers(1, 6))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    indices = np.stack([generator.integers(0, size, count) for size in shape[:depth]], -1).astype(np.int32)
    updates = normal(draw, (count, *shape[depth:]), 0.5, 1.5)
    if name == "ScatterNd":
        return Call(OPERATORS[name](), (indices, updates, ints(*shape)), (2,))
    attributes = {"reduction": draw(st.sampled_from(("add", "mul", "max", "min")))} if "Reduce" in name else {}
    return Call(OPERATORS[name](**attributes), (normal(draw, shape), indices, updates))


@compared("ScatterNd", "TensorScatterAdd", "ScatterReduceNd", strategy=scattered)
def scatter(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    if op.name == "ScatterNd":
        indices, updates, shape = inputs
        x = np.zeros(tuple(shape), np.float32)
    else:
        x, indices, updates = inputs
    return run("ScatterND", x, indices.astype(np.int64), updates, reduction=getattr(op, "reduction", "add"))


@st.composite
def scattered_elements(draw: Draw, name: str) -> Call:
    shape = draw(shapes(1, 3, 1, 5))
    axis = axis_of(draw, len(shape))
    size = [draw(st.integers(1, each)) for each in shape]
    order = np.argsort(np.random.default_rng(draw(st.integers(0, 99))).uniform(size=shape), axis)
    indices = order[tuple(map(slice, size))].astype(np.int32)  # unique positions
    attributes = {"reduction": draw(st.sampled_from(("add", "mul", "max", "min")))} if "Reduce" in name else {}
    op = OPERATORS[name](axis=axis, **attributes)
    return Call(op, (normal(draw, shape), indices, normal(draw, tuple(size))))


@compared("ScatterElements", "ScatterReduceElements", strategy=scattered_elements)
def scatter_elements(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("ScatterElements", *inputs, axis=op.axis, reduction=getattr(op, "reduction", "none"))


@compared(
    "OneHot", strategy=lambda name: only(sequences.creations(), name).filter(lambda call: call.inputs[0].ndim > 0)
)
def one_hot(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    indices, depth, on, off = inputs
    beyond = np.where(indices < depth, indices, -int(depth) - 1)  # out of range in onnxruntime
    return run("OneHot", beyond.astype(np.int64), depth.astype(np.int64), np.stack([off, on]), axis=op.axis)


@st.composite
def rows_of_tables(draw: Draw, name: str) -> Call:
    tables, rows = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    width = draw(shapes(1, 2, 1, 4))
    ids = typed(draw, draw(shapes(1, 3, 1, 4)), ("int32",)) % np.int32(rows * tables)
    op = OPERATORS[name](max_norm=draw(st.sampled_from((0.0, 1.5))))
    return Call(op, (*(normal(draw, (rows, *width)) for _ in range(tables)), ids))


@compared("EmbeddingLookupFusion", strategy=rows_of_tables)
def embedding(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (*tables, ids) = Graph(), inputs
    woven = graph("ConcatFromSequence", graph("SequenceConstruct", *tables), axis=1, new_axis=1)
    table = graph("Reshape", woven, np.array([-1, *tables[0].shape[1:]], np.int64))
    y = graph("Gather", table, ids)
    if op.max_norm > 0:
        axes = np.arange(ids.ndim, ids.ndim + tables[0].ndim - 1)
        norm = graph("ReduceL2", y, axes, keepdims=1)
        y = graph("Mul", y, graph("Min", graph("Div", op.max_norm, norm), 1.0))
    return graph.run(y)


@st.composite
def repetitions(draw: Draw, name: str) -> Call:
    if name == "Unique":
        return Call(OPERATORS[name](), (typed(draw, draw(shapes(1, 1, 1, 30)), ("float32", "int32")).round(),))
    x = typed(draw, draw(shapes(1, 3, 1, 5)), ("int64",)) % np.int64(3)
    axis = axis_of(draw, x.ndim)
    return Call(OPERATORS[name](has_axis=draw(st.booleans()), axis=axis, sorted_=draw(st.booleans())), (x,))


@compared("Unique", "UniqueSlices", strategy=repetitions)
def unique(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    (x,) = inputs
    if op.name == "Unique":
        wide = x.astype(np.int64) if x.dtype == np.int32 else x
        values, _, inverse, _ = run("Unique", wide, outputs=4, sorted=0)
        return [values, inverse]
    axis = {"axis": op.axis} if op.has_axis else {}
    return run("Unique", x, outputs=4, sorted=int(op.sorted_), **axis)


@st.composite
def boxes(draw: Draw, name: str) -> Call:
    shape = draw(shapes(1, 4, 1, 6))
    size = tuple(draw(st.integers(1, each)) for each in shape)
    starts = ints(*(draw(st.integers(-2, each + 1)) for each in shape))
    return Call(OPERATORS[name](), (normal(draw, shape), normal(draw, size), starts))


@compared("DynamicUpdateSlice", strategy=boxes)
def dynamic_update_slice(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    """Pads the update to the whole shape, and selects it with a padded mask of ones."""
    graph, (x, update, starts) = Graph(), inputs
    room = graph("Sub", graph("Shape", x), graph("Shape", update))
    first = graph("Min", graph("Max", starts.astype(np.int64), 0), room)
    pads = graph("Concat", first, graph("Sub", room, first), axis=0)
    box = graph("Pad", np.ones(update.shape, np.float32), pads)
    return graph.run(graph("Where", graph("Greater", box, 0.5), graph("Pad", update, pads), x))

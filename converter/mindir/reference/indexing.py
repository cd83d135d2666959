"""References of operators that gather and scatter elements by index."""

from __future__ import annotations

import numpy as np

from ..ops import indexing as ops
from ._declare import Array, Inputs, case, integers, normal, reference


def _given(inputs: Inputs) -> list[Array]:
    return [array for array in inputs if array is not None]


@reference("Gather")
def gather(op: ops.Gather, inputs: Inputs) -> list[Array]:
    """numpy.take along the axis of the third input; negative indices count from the end."""
    x, indices, *axis = _given(inputs)
    return [np.take(x, indices, int(axis[0].item()) if axis else 0)]


@reference("BatchGather")
def batch_gather(op: ops.BatchGather, inputs: Inputs) -> list[Array]:
    """numpy.take for each index of the leading `batch_dims` dimensions."""
    x, indices = _given(inputs)
    b = op.batch_dims
    flat_x, flat_indices = x.reshape(-1, *x.shape[b:]), indices.reshape(-1, *indices.shape[b:])
    axis = op.axis % x.ndim - b
    y = np.stack([np.take(a, i, axis) for a, i in zip(flat_x, flat_indices, strict=True)])
    return [y.reshape(*x.shape[:b], *y.shape[1:])]


def _at_tuples(x: Array, indices: Array) -> Array:
    return (
        x[tuple(np.moveaxis(indices, -1, 0))] if indices.shape[-1] else np.broadcast_to(x, indices.shape[:-1] + x.shape)
    )


@reference("GatherNd")
def gather_nd(op: ops.GatherNd, inputs: Inputs) -> list[Array]:
    """x[tuple] for each index tuple."""
    x, indices = _given(inputs)
    return [_at_tuples(x, indices)]


@reference("BatchGatherNd")
def batch_gather_nd(op: ops.BatchGatherNd, inputs: Inputs) -> list[Array]:
    """GatherNd for each index of the leading `batch_dims` dimensions."""
    x, indices = _given(inputs)
    b = op.batch_dims
    flat_x, flat_indices = x.reshape(-1, *x.shape[b:]), indices.reshape(-1, *indices.shape[b:])
    y = np.stack([_at_tuples(a, i) for a, i in zip(flat_x, flat_indices, strict=True)])
    return [y.reshape(*indices.shape[:b], *y.shape[1:])]


@reference("GatherD")
def gather_d(op: ops.GatherD, inputs: Inputs) -> list[Array]:
    """torch.gather: y[i][j] = x[index[i][j]][j] for dimension 0; index may be smaller than x."""
    x, dim, index = _given(inputs)
    axis = int(dim.item()) % x.ndim
    box = tuple(slice(None) if i == axis else slice(size) for i, size in enumerate(index.shape))
    return [np.take_along_axis(x[box], np.where(index < 0, index + x.shape[axis], index), axis)]


_REDUCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _scatter_nd(x: Array, indices: Array, updates: Array, reduction: str | None) -> Array:
    y = x.copy()
    depth = indices.shape[-1]
    for position in np.ndindex(indices.shape[:-1]):
        at = tuple(indices[position])
        assert len(at) == depth
        y[at] = updates[position] if reduction is None else _REDUCTIONS[reduction](y[at], updates[position])
    return y


def _scatter_elements(x: Array, indices: Array, updates: Array, axis: int, reduction: str | None) -> Array:
    y = x.copy()
    for position in np.ndindex(indices.shape):
        at = list(position)
        at[axis] = indices[position]
        target = tuple(at)
        y[target] = updates[position] if reduction is None else _REDUCTIONS[reduction](y[target], updates[position])
    return y


@reference("ScatterNd")
def scatter_nd(op: ops.ScatterNd, inputs: Inputs) -> list[Array]:
    """Zeros with the updates added, in order."""
    indices, updates, shape = _given(inputs)
    return [_scatter_nd(np.zeros(tuple(shape), updates.dtype), indices, updates, "add")]


@reference("ScatterNdUpdate")
def scatter_nd_update(op: ops.ScatterNdUpdate, inputs: Inputs) -> list[Array]:
    """The last of several updates of a position is kept."""
    x, indices, updates = _given(inputs)
    return [_scatter_nd(x, indices, updates, None)]


@reference("TensorScatterAdd")
def tensor_scatter_add(op: ops.TensorScatterAdd, inputs: Inputs) -> list[Array]:
    """x with the updates added, in order."""
    x, indices, updates = _given(inputs)
    return [_scatter_nd(x, indices, updates, "add")]


@reference("ScatterReduceNd")
def scatter_reduce_nd(op: ops.ScatterReduceNd, inputs: Inputs) -> list[Array]:
    """ONNX ScatterND with a reduction."""
    x, indices, updates = _given(inputs)
    return [_scatter_nd(x, indices, updates, op.reduction)]


@reference("ScatterElements")
def scatter_elements(op: ops.ScatterElements, inputs: Inputs) -> list[Array]:
    """ONNX ScatterElements."""
    x, indices, updates = _given(inputs)
    return [_scatter_elements(x, indices, updates, op.axis, None)]


@reference("ScatterReduceElements")
def scatter_reduce_elements(op: ops.ScatterReduceElements, inputs: Inputs) -> list[Array]:
    """ONNX ScatterElements with a reduction."""
    x, indices, updates = _given(inputs)
    return [_scatter_elements(x, indices, updates, op.axis, op.reduction)]


@reference("OneHot")
def one_hot(op: ops.OneHot, inputs: Inputs) -> list[Array]:
    """on where the index equals the position along `axis`, else off; with three inputs the third is (off, on)."""
    indices, depth, on, *off = _given(inputs)
    low, high = (off[0].reshape(()), on.reshape(())) if off else (on[0], on[1])
    axis = op.axis % (indices.ndim + 1)
    places = np.arange(int(depth.item())).reshape(-1, *[1] * (indices.ndim - axis))
    return [np.where(np.expand_dims(indices, axis) == places, high, low).astype(on.dtype)]


@reference("EmbeddingLookupFusion")
def embedding_lookup(op: ops.EmbeddingLookupFusion, inputs: Inputs) -> list[Array]:
    """Row r is row r // tables of table r % tables, scaled down to `max_norm` if its norm is larger."""
    *tables, ids = _given(inputs)
    rows = np.stack([tables[i % len(tables)][i // len(tables)] for i in ids.ravel()]).astype(np.float64)
    if op.max_norm > 0:
        norms = np.sqrt((rows**2).reshape(len(rows), -1).sum(1))
        rows *= np.minimum(1, op.max_norm / norms).reshape(-1, *[1] * (rows.ndim - 1))
    return [rows.reshape(*ids.shape, *rows.shape[1:]).astype(np.float32)]


@reference("Unique")
def unique(op: ops.Unique, inputs: Inputs) -> list[Array]:
    """Distinct elements in the order of first occurrence, and the index of each element among them."""
    (x,) = _given(inputs)
    _, first, inverse = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return [x.ravel()[first[order]], np.argsort(order)[inverse.ravel()].astype(np.int32)]


@reference("UniqueSlices")
def unique_slices(op: ops.UniqueSlices, inputs: Inputs) -> list[Array]:
    """numpy.unique, or in the order of first occurrence."""
    (x,) = _given(inputs)
    axis = op.axis if op.has_axis else None
    y, first, inverse, counts = np.unique(x, True, True, True, axis)
    inverse = inverse.ravel()
    if not op.sorted_:
        order = np.argsort(first)
        y, first, counts = np.take(y, order, axis or 0), first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    return [y, first.astype(np.int64), inverse.astype(np.int64), counts.astype(np.int64)]


@reference("Tril")
def tril(op: ops.Tril, inputs: Inputs) -> list[Array]:
    """numpy.tril."""
    x, *k = _given(inputs)
    return [np.tril(x, int(k[0].item()) if k else 0)]


@reference("Triu")
def triu(op: ops.Triu, inputs: Inputs) -> list[Array]:
    """numpy.triu."""
    x, *k = _given(inputs)
    return [np.triu(x, int(k[0].item()) if k else 0)]


def _int(value: int) -> Array:
    return np.array(value, np.int32)


for _axis in (0, 1, -1):
    case(f"axis{_axis}", ops.Gather(), [normal(3, 4, 5), integers(-3, 3, 2, 3), _int(_axis)], (2,))
case("scalar", ops.Gather(), [normal(3, 4), _int(-1), _int(0)], (1, 2))
case("no-axis", ops.Gather(), [integers(0, 9, 7, dtype=np.int8), integers(0, 7, 5, dtype=np.int64)])
case("rows", ops.Gather(), [normal(50, 700), integers(0, 50, 90), _int(0)], (2,))
case("plain", ops.BatchGather(axis=1, batch_dims=1), [normal(3, 4, 5), integers(0, 4, 3, 2)])
case("inner", ops.BatchGather(axis=2, batch_dims=1), [normal(3, 4, 5), integers(-5, 5, 3, 2, 2)])
case("two", ops.BatchGather(axis=-1, batch_dims=2), [normal(2, 3, 5), integers(0, 5, 2, 3)])
case("slices", ops.GatherNd(), [normal(3, 4, 5), integers(-3, 3, 6, 2)])
case("elements", ops.GatherNd(), [normal(3, 4), integers(0, 3, 2, 5, 2, dtype=np.int64)])
case("whole", ops.GatherNd(), [normal(3, 4), np.zeros((2, 0), np.int32)])
case("plain", ops.BatchGatherNd(batch_dims=1), [normal(3, 4, 5), integers(0, 4, 3, 2, 1)])
case("two", ops.BatchGatherNd(batch_dims=2), [normal(2, 3, 4, 5), integers(0, 4, 2, 3, 1, 2)])
case("plain", ops.GatherD(), [normal(3, 4), _int(0), integers(-3, 3, 2, 4)], (1,))
case("inner", ops.GatherD(), [normal(3, 4, 6), _int(-1), integers(0, 6, 3, 2, 9, dtype=np.int64)], (1,))
case("rows", ops.ScatterNd(), [integers(0, 5, 7, 1), normal(7, 3), np.array([5, 3], np.int32)], (2,))
case("elements", ops.ScatterNd(), [integers(0, 3, 4, 2), integers(-9, 9, 4), np.array([3, 3], np.int32)], (2,))
case("rows", ops.ScatterNdUpdate(), [normal(5, 3), integers(0, 5, 4, 1), normal(4, 3)])
case("elements", ops.ScatterNdUpdate(), [normal(5, 3), integers(-3, 3, 2, 4, 2), normal(2, 4)])
case(
    "bytes",
    ops.ScatterNdUpdate(),
    [integers(0, 9, 6, dtype=np.uint8), integers(0, 6, 3, 1), integers(0, 9, 3, dtype=np.uint8)],
)
case("repeated", ops.TensorScatterAdd(), [normal(4, 3), integers(0, 2, 9, 1), normal(9, 3)])
case("axis0", ops.ScatterElements(), [normal(4, 5), integers(-4, 4, 2, 5), normal(2, 5)])
case("axis1", ops.ScatterElements(axis=1), [normal(4, 5), integers(0, 5, 3, 2, dtype=np.int64), normal(3, 2)])
for _reduction in ("add", "mul", "max", "min"):
    _small = (integers(0, 2, 6, 1), normal(6, 3))
    case(_reduction, ops.ScatterReduceNd(reduction=_reduction), [normal(2, 3), *_small])
    _small = (integers(0, 4, 6, 5), integers(-9, 9, 6, 5, dtype=np.int64))
    case(_reduction, ops.ScatterReduceElements(reduction=_reduction), [integers(-9, 9, 4, 6, dtype=np.int64), *_small])
    _small = (integers(0, 5, 3, 6), normal(3, 6))
    case(f"{_reduction}-1", ops.ScatterReduceElements(reduction=_reduction, axis=1), [normal(4, 5), *_small])
for _axis in (-1, 0, 1):
    case(
        f"axis{_axis}",
        ops.OneHot(axis=_axis),
        [integers(-1, 6, 3, 4), _int(5), np.array(2, np.float32), np.array(-1, np.float32)],
        (1, 2, 3),
    )
case("pair", ops.OneHot(axis=-1), [integers(0, 5, 3, dtype=np.int64), _int(5), np.array([0, 1], np.int64)], (1,))
case("plain", ops.EmbeddingLookupFusion(), [normal(9, 4), integers(0, 9, 2, 3)])
case("tables", ops.EmbeddingLookupFusion(max_norm=1.5), [normal(3, 4), normal(3, 4), integers(0, 6, 7)])
case("ints", ops.Unique(), [integers(0, 9, 30)])
case("floats", ops.Unique(), [integers(0, 50, 200).astype(np.float32)])
for _sorted in (True, False):
    case(f"flat-{_sorted}", ops.UniqueSlices(sorted_=_sorted), [integers(0, 5, 4, 6, dtype=np.int64)])
    for _axis in (0, 1, -1):
        _op = ops.UniqueSlices(has_axis=True, axis=_axis, sorted_=_sorted)
        case(f"axis{_axis}-{_sorted}", _op, [integers(0, 2, 7, 3, 2).astype(np.float32)])
for _k in (-3, -1, 0, 2, 9):
    case(f"k{_k}", ops.Tril(), [normal(2, 4, 5), _int(_k)])
    case(f"k{_k}", ops.Triu(), [normal(2, 4, 5), np.array([_k])])
case("plain", ops.Tril(), [normal(5, 3)])
case("plain", ops.Triu(), [integers(0, 9, 3, 5, dtype=np.int8)])


@reference("DynamicUpdateSlice")
def dynamic_update_slice(op: ops.DynamicUpdateSlice, inputs: Inputs) -> list[Array]:
    """x with a box replaced; the box is clamped to x."""
    x, update, starts = _given(inputs)
    y = x.copy()
    begin = np.clip(starts, 0, np.array(x.shape) - update.shape)
    y[tuple(slice(b, b + size) for b, size in zip(begin, update.shape, strict=True))] = update
    return [y]


for _label, _starts in (("inside", [1, 2, 0]), ("moved", [-4, 9, 1])):
    case(_label, ops.DynamicUpdateSlice(), [normal(3, 5, 4), normal(2, 2, 3), np.array(_starts, np.int32)])
case("all", ops.DynamicUpdateSlice(), [integers(0, 9, 4), integers(0, 9, 4), np.array([0], np.int64)])

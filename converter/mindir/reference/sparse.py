"""References of sparse tensors in coordinate form."""

from __future__ import annotations

import numpy as np

from ..ops import sparse as ops
from ._declare import Array, Inputs, case, float32, int32, int64, integers, normal, reference


def _given(inputs: Inputs) -> list[Array]:
    return [np.asarray(array) for array in inputs if array is not None]


@reference("SparseToDense")
def sparse_to_dense(op: ops.SparseToDense, inputs: Inputs) -> list[Array]:
    """The values at the indices, the default elsewhere."""
    indices, shape, values, default = _given(inputs)
    y = np.full(tuple(shape), default.reshape(()), values.dtype)
    places = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    for place, value in zip(places, np.broadcast_to(values.reshape(-1), len(places)), strict=True):
        y[tuple(place)] = value
    return [y]


@reference("SparseFillEmptyRows")
def sparse_fill_empty_rows(op: ops.SparseFillEmptyRows, inputs: Inputs) -> list[Array]:
    """The elements of each row, or the default in column 0 of an empty row."""
    indices, values, shape, default = _given(inputs)
    rows = int(shape[0])
    empty = ~np.isin(np.arange(rows), indices[:, 0])
    extra = np.zeros((int(empty.sum()), indices.shape[1]), indices.dtype)
    extra[:, 0] = np.flatnonzero(empty)
    order = np.argsort(np.concatenate([indices[:, 0], extra[:, 0]]), kind="stable")
    all_values = np.concatenate([values, np.full(len(extra), default.reshape(()), values.dtype)])
    reverse = np.argsort(order)[: len(indices)].astype(indices.dtype)
    return [np.concatenate([indices, extra])[order], all_values[order], empty, reverse]


@reference("SparseReshape")
def sparse_reshape(op: ops.SparseReshape, inputs: Inputs) -> list[Array]:
    """The same positions in row-major order."""
    indices, old, new = _given(inputs)
    dims = new.copy()
    dims[new < 0] = np.prod(old) // max(-int(np.prod(new)), 1)
    flat = np.ravel_multi_index(tuple(indices.T), tuple(old))
    return [np.stack(np.unravel_index(flat, tuple(dims)), 1).astype(indices.dtype), dims]


@reference("SparseSegmentSum")
def sparse_segment_sum(op: ops.SparseSegmentSum, inputs: Inputs) -> list[Array]:
    """Sums of gathered rows."""
    data, indices, segments = _given(inputs)
    y = np.zeros((int(segments[-1]) + 1 if segments.size else 0, *data.shape[1:]), data.dtype)
    np.add.at(y, segments, data[indices])
    return [y]


_PLACES = int32([[0, 1], [2, 3], [2, 0], [4, 2]])
case("matrix", ops.SparseToDense(), [_PLACES, int32([5, 4]), normal(4), float32(-1)], [1])
case("shape-from-run", ops.SparseToDense(), [_PLACES, int32([5, 4]), normal(4), float32(0)])
case("one-value", ops.SparseToDense(), [int64([1, 3]), int64([6]), int64(7), int64(-2)], [1])
case("vector", ops.SparseToDense(), [int32([0, 5]), int32([6]), integers(0, 9, 2), int32(3)], [1])
case("scalar-index", ops.SparseToDense(), [int32(2), int32([4]), np.array([True]), np.array(False)], [1])
_RISING = int64([[0, 1], [2, 3], [2, 0], [4, 2]])
case("gaps", ops.SparseFillEmptyRows(), [_RISING, normal(4), int64([6, 5]), float32(0.5)])
case("full", ops.SparseFillEmptyRows(), [int32([[0, 1], [1, 0]]), int32([3, 4]), int32([2, 2]), int32(0)])
case("nothing", ops.SparseFillEmptyRows(), [np.zeros((0, 2), np.int64), normal(0), int64([3, 5]), float32(2)])
case("split", ops.SparseReshape(), [_PLACES, int32([5, 4]), int32([2, -1, 5])])
case("flat", ops.SparseReshape(), [_RISING, int64([5, 4]), int64([20])])
case("rows", ops.SparseSegmentSum(), [normal(5, 3), int32([0, 4, 4, 2]), int32([0, 0, 2, 3])])
case("numbers", ops.SparseSegmentSum(), [integers(-9, 9, 6, dtype=np.int64), int64([5, 1]), int64([1, 1])])

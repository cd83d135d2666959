"""Sparse tensors in coordinate form."""

from __future__ import annotations

from ._declare import Operator, operator


@operator(144, inputs="indices shape values default", tflite="SPARSE_TO_DENSE", tensorflow="SparseToDense")
class SparseToDense(Operator):
    """A dense tensor from coordinates and values."""


@operator(
    214,
    inputs="indices values shape default",
    outputs="indices values empty_row reverse_index",
    since_1_3=False,
    tensorflow="SparseFillEmptyRows",
)
class SparseFillEmptyRows(Operator):
    """Gives empty rows a default value."""


@operator(
    215, inputs="indices in_shape out_shape", outputs="indices shape", since_1_3=False, tensorflow="SparseReshape"
)
class SparseReshape(Operator):
    """Coordinates in another shape."""


@operator(216, inputs="data indices segment_ids", since_1_3=False, tensorflow="SparseSegmentSum")
class SparseSegmentSum(Operator):
    """Sums gathered rows by segment."""

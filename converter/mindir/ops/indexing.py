"""Gathering and scattering of elements by index."""

from __future__ import annotations

from ._declare import Operator, boolean, long, operator, real, text


@operator(69, inputs="params indices [axis]", tflite="GATHER", onnx="Gather", tensorflow="GatherV2")
class Gather(Operator):
    """Slices of params along `axis`."""


@operator(70, inputs="params indices", tflite="GATHER_ND", onnx="GatherND", tensorflow="GatherNd")
class GatherNd(Operator):
    """Slices of params at index tuples."""


@operator(210, inputs="x dim index", since_1_3=False, onnx="GatherElements")
class GatherD(Operator):
    """Elements of x along one dimension (torch.gather)."""


@operator(128, inputs="indices updates shape", tflite="SCATTER_ND")
class ScatterNd(Operator):
    """Zeros with updates added at index tuples."""


@operator(171, inputs="x indices updates", since_1_3=False, onnx="ScatterND")
class ScatterNdUpdate(Operator):
    """A copy of x with updates written at index tuples."""


@operator(213, inputs="x indices updates", since_1_3=False)
class TensorScatterAdd(Operator):
    """A copy of x with updates added at index tuples."""


@operator(217, inputs="x indices updates", since_1_3=False, onnx="ScatterElements Scatter")
class ScatterElements(Operator):
    """A copy of x with elements written along `axis`."""

    axis: int = long(0)


@operator(105, inputs="indices depth on_value [off_value]", tflite="ONE_HOT", onnx="OneHot", tensorflow="OneHot")
class OneHot(Operator):
    """One-hot vectors."""

    axis: int = long(0)


@operator(54, inputs="tables* ids")
class EmbeddingLookupFusion(Operator):
    """Rows of tables, optionally with a limited norm."""

    max_norm: float = real(0)


@operator(163, outputs="y index", tflite="UNIQUE", tensorflow="Unique")
class Unique(Operator):
    """Distinct elements, and the index of each input element among them."""


@operator(219, inputs="x [k]", since_1_3=False, onnx="Trilu")
class Tril(Operator):
    """Lower triangle of matrices."""


@operator(218, inputs="x [k]", since_1_3=False, onnx="Trilu")
class Triu(Operator):
    """Upper triangle of matrices."""


@operator(1101, inputs="params indices", tflite="GATHER_ND", onnx="GatherND", custom_type="mslite.BatchGatherNd")
class BatchGatherNd(Operator):
    """GatherNd for each index of the leading `batch_dims` dimensions."""

    batch_dims: int = long(0)


@operator(1102, inputs="params indices", tflite="GATHER", tensorflow="GatherV2", custom_type="mslite.BatchGather")
class BatchGather(Operator):
    """Gather along `axis` for each index of the leading `batch_dims` dimensions of params and indices."""

    axis: int = long(0)
    batch_dims: int = long(1)


@operator(1103, inputs="x indices updates", onnx="ScatterElements Scatter", custom_type="mslite.ScatterReduceElements")
class ScatterReduceElements(Operator):
    """A copy of x with updates reduced into it along `axis`."""

    axis: int = long(0)
    reduction: str | None = text(1)
    """`add`, `mul`, `max` or `min`"""


@operator(1104, inputs="x indices updates", onnx="ScatterND", custom_type="mslite.ScatterReduceNd")
class ScatterReduceNd(Operator):
    """A copy of x with updates reduced into it at index tuples."""

    reduction: str | None = text(0)
    """`add`, `mul`, `max` or `min`"""


@operator(1105, outputs="y indices inverse_indices counts", onnx="Unique", custom_type="mslite.UniqueSlices")
class UniqueSlices(Operator):
    """Distinct elements, or distinct slices along `axis`; the other outputs are one-dimensional, of type int64."""

    has_axis: bool = boolean(0)
    """without an axis, the tensor is flattened"""
    axis: int = long(1)
    sorted_: bool = boolean(2, True)
    """ascending, else in the order of first occurrence"""


@operator(
    1134,
    inputs="x update starts",
    tflite="DYNAMIC_UPDATE_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE",
    tensorflow="XlaDynamicUpdateSlice",
    custom_type="mslite.DynamicUpdateSlice",
)
class DynamicUpdateSlice(Operator):
    """A copy of x with `update` written at the indices `starts`, which are clamped so that it fits."""

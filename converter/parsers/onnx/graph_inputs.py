"""The declared types of graph inputs, and the inferred types of other values."""

from __future__ import annotations

from collections.abc import Callable

from onnx import TypeProto

from mslite.converter.mindir.ops.enums import DataType

from .model import graph_error
from .tensors import MAX_DIMENSION, TensorError, data_type

_MAX_RANK = 8

Block = Callable[[str, str, str], None]
"""Reports an unsupported input: name, reason, remedy."""

PartialShape = tuple[int | None, ...] | None


def input_type(
    name: str, kind: TypeProto, model_name: str, inner: bool, block: Block
) -> tuple[DataType, list[int | str] | None]:
    """Returns type and dimensions (sizes or names, None without a rank) of a graph input. `inner`: of a subgraph.

    Calls `block` for unsupported types. Raises ConversionError for invalid dimensions.
    """
    which = kind.WhichOneof("value")
    if which == "optional_type" and kind.optional_type.elem_type.WhichOneof("value") == "tensor_type":
        which, kind = "tensor_type", kind.optional_type.elem_type  # required here: `.ms` files have no optional inputs
    if which is None and inner:
        return DataType.UNKNOWN, None  # the type may be missing; the caller of the body defines it
    if which != "tensor_type":
        label = (which or "nothing").replace("_type", "").replace("_", " ")
        remedy = "Only dense tensors are supported; export the model without sequences, maps and optionals"
        block(name, f"the type of this graph input is '{label}'", remedy)
        return DataType.UNKNOWN, None
    dtype = DataType.UNKNOWN
    try:
        dtype = data_type(kind.tensor_type.elem_type)
    except TensorError as error:
        block(name, f"{error} for a graph input", "Export the model with another type")
    if dtype is DataType.STRING:
        block(name, "this graph input holds strings", "Move text processing out of the model")
    if not kind.tensor_type.HasField("shape"):
        return dtype, None
    dims: list[int | str] = []
    for dim in kind.tensor_type.shape.dim:
        if not dim.HasField("dim_value"):
            dims.append(dim.dim_param)
        elif 0 <= dim.dim_value <= MAX_DIMENSION:
            dims.append(dim.dim_value)
        elif dim.dim_value == -1:
            dims.append("")  # some exporters write -1 for an unknown size
        else:
            raise graph_error(model_name, f"'{name}' has the invalid dimension {dim.dim_value}")
    if len(dims) > _MAX_RANK:
        raise graph_error(model_name, f"'{name}' has {len(dims)} dimensions; {_MAX_RANK} are supported")
    return dtype, dims


def known_type(kind: TypeProto) -> tuple[DataType, PartialShape]:
    """Returns type and shape of an inferred type."""
    if kind.WhichOneof("value") != "tensor_type":
        return DataType.UNKNOWN, None
    try:
        dtype = data_type(kind.tensor_type.elem_type)
    except TensorError:
        dtype = DataType.UNKNOWN
    if not kind.tensor_type.HasField("shape"):
        return dtype, None
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.tensor_type.shape.dim]
    return dtype, tuple(size if size is None or size >= 0 else None for size in sizes)

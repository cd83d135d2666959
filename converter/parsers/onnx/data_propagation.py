"""Decides whether onnx's type inference may propagate the contents of tensors (`data_prop`).

onnx creates an object for each element of any vector, float values too, and a symbol for an unknown element: 2^30
symbols for a vector of 2^30 elements that is an input of Add.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from enum import Enum

import onnx
from onnx import GraphProto, ModelProto, TypeProto

from .protos import all_nodes, sub_graphs

_LARGEST_CONTENTS = 1 << 16
_LARGEST_SUM = 1 << 20
"""Limit of the elements of all nodes together."""


class PropagatedSize(Enum):
    """The amount of data that onnx would propagate."""

    SMALL = "small"
    LARGE = "large"
    UNKNOWN_SHARE = "not known"
    """The length of a vector, or whether a tensor is a vector, is only known with contents."""


def propagated_size(model: ModelProto, types: Mapping[str, TypeProto]) -> PropagatedSize:
    """Estimates the amount from the types that are known without contents."""
    if not _concatenations_stay_small(model.graph, {}):
        return PropagatedSize.LARGE
    total, is_known = 0, True
    for node in all_nodes(model.graph.node):
        if node.domain not in ("", "ai.onnx") or not _is_followed(node.op_type):
            continue
        for name in (*node.input, *node.output):
            length = _length(types.get(name)) if name else 0
            if length is None:
                is_known = False
            else:
                total += length
    if total > _LARGEST_SUM:
        return PropagatedSize.LARGE
    return PropagatedSize.SMALL if is_known else PropagatedSize.UNKNOWN_SHARE


@functools.cache
def _is_followed(operator: str) -> bool:
    return any(one.has_data_propagation_function for one in _schemas().get(operator, ()))


@functools.cache
def _schemas() -> dict[str, list[onnx.defs.OpSchema]]:
    found: dict[str, list[onnx.defs.OpSchema]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            found.setdefault(schema.name, []).append(schema)
    return found


def _length(kind: TypeProto | None) -> int | None:
    """Returns the number of elements of a vector, 0 for another tensor, None if unknown."""
    if kind is None or not kind.HasField("tensor_type"):
        return None if kind is None else 0
    if not kind.tensor_type.HasField("shape"):
        return None
    dims = kind.tensor_type.shape.dim
    if len(dims) != 1:
        return 0
    return int(dims[0].dim_value) if dims[0].HasField("dim_value") else None


def _concatenations_stay_small(graph: GraphProto, sizes: dict[str, int]) -> bool:
    """Returns whether no chain of Concat creates long contents from short ones.

    onnx does not limit their length: sixty Concat nodes of a value with itself would never end.
    """
    sizes.update((tensor.name, sum(tensor.dims) if len(tensor.dims) == 1 else 1) for tensor in graph.initializer)
    for node in graph.node:
        given = [sizes.get(name, 1) for name in node.input]
        size = sum(given) if node.op_type == "Concat" else max(given, default=1)
        if node.op_type == "Concat" and size > _LARGEST_CONTENTS:
            return False
        sizes.update((name, size) for name in node.output)
        if not all(_concatenations_stay_small(inner, sizes) for inner in sub_graphs(node)):
            return False
    return True

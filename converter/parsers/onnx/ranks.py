"""Ranks that ONNX's own type inference leaves open: a target shape of n numbers makes a tensor of n dimensions.

So are the shapes of results that are shaped as their input is.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx
from onnx import ModelProto, NodeProto, TypeProto

from mslite.converter.mindir.verifier import MAX_RANK

_TARGET_INPUT = {"Reshape": 1, "ConstantOfShape": 0, "Expand": 1}
"""Operators whose result has at least as many dimensions as this input has numbers; all but Expand exactly."""

_LIKE_INPUT = frozenset({"GroupNormalization", "MeanVarianceNormalization"})
"""Operators whose definition by others is all that tells the shape, and does not always; it is that of their input."""


def complete_ranks(model: ModelProto, types: Mapping[str, TypeProto]) -> bool:
    """Notes the ranks that follow from target shapes of known length, or from the input, in the main graph. Says whether there were any.

    Type inference, run again, carries them on to the nodes behind.
    """
    graph = model.graph
    found: list[onnx.ValueInfoProto] = []
    for node in graph.node:
        if (
            node.op_type not in {*_TARGET_INPUT, *_LIKE_INPUT}
            or node.domain not in ("", "ai.onnx")
            or len(node.output) != 1
        ):
            continue
        if _rank(node.output[0], types) is not None:
            continue
        if node.op_type in _LIKE_INPUT:
            if node.input and _rank(node.input[0], types) is not None:
                found.append(onnx.ValueInfoProto(name=node.output[0], type=types[node.input[0]]))
            continue
        rank, kind = _result_rank(node, types), _element_type(node, types)
        if rank is not None and kind is not None and 0 <= rank <= MAX_RANK:
            found.append(onnx.helper.make_tensor_value_info(node.output[0], kind, [None] * rank))
    if found:
        named = {value.name for value in found}
        others = [value for value in graph.value_info if value.name not in named]
        del graph.value_info[:]
        graph.value_info.extend([*others, *found])
    return bool(found)


def _rank(name: str, types: Mapping[str, TypeProto]) -> int | None:
    kind = types.get(name)
    if kind is None or not kind.tensor_type.HasField("shape"):
        return None
    return len(kind.tensor_type.shape.dim)


def _result_rank(node: NodeProto, types: Mapping[str, TypeProto]) -> int | None:
    index = _TARGET_INPUT[node.op_type]
    if index >= len(node.input):
        return None
    target = types.get(node.input[index])
    if target is None or not target.tensor_type.HasField("shape") or len(target.tensor_type.shape.dim) != 1:
        return None
    dim = target.tensor_type.shape.dim[0]
    if not dim.HasField("dim_value"):
        return None
    length = int(dim.dim_value)
    if node.op_type != "Expand":
        return length
    source = _rank(node.input[0], types)
    return None if source is None else max(length, source)


def _element_type(node: NodeProto, types: Mapping[str, TypeProto]) -> int | None:
    if node.op_type == "ConstantOfShape":
        values = [attribute.t.data_type for attribute in node.attribute if attribute.name == "value"]
        return values[0] if values else onnx.TensorProto.FLOAT
    source = types.get(node.input[0]) if node.input else None
    if source is None or source.tensor_type.elem_type == onnx.TensorProto.UNDEFINED:
        return None
    return int(source.tensor_type.elem_type)

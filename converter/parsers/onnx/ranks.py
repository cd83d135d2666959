"""Infers ranks and shapes that ONNX's type inference does not find.

A target shape of n elements gives the rank n; some outputs have the shape of the input.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx
from onnx import ModelProto, NodeProto, TypeProto, ValueInfoProto

from mslite.converter.mindir.verifier import MAX_RANK

from .sequence_ranks import ranks_out_of_sequences

_TARGET_INPUT = {"Reshape": 1, "ConstantOfShape": 0, "Expand": 1}
"""Operators whose output rank is the length of this input; for Expand it may be larger."""

_LIKE_INPUT = frozenset({"GroupNormalization", "MeanVarianceNormalization"})
"""Operators with the shape of their input. ONNX infers them by their definition, which does not always work."""

_RANK_OF_INPUT = frozenset({"Slice", "Transpose"})
"""Operators that keep the rank. ONNX does not infer it for negative axes in old operator sets, or for a scalar."""


def complete_ranks(model: ModelProto, types: Mapping[str, TypeProto]) -> bool:
    """Adds ranks that follow from target shapes of known length, or from inputs, to the main graph.

    Returns whether there were any. The caller then runs type inference again for the nodes downstream.
    """
    graph = model.graph
    found: list[ValueInfoProto] = []
    for node in graph.node:
        if node.domain in ("", "ai.onnx"):
            found += [info for info in _infos(node, types) if _rank(info.name, types) is None]
    for name, rank in ranks_out_of_sequences(graph.node, lambda name: _rank(name, types)).items():
        kind = types[name].tensor_type.elem_type if name in types else 0
        if kind and _rank(name, types) is None and 0 <= rank <= MAX_RANK:
            found.append(onnx.helper.make_tensor_value_info(name, kind, [None] * rank))
    if found:
        named = {value.name for value in found}
        others = [value for value in graph.value_info if value.name not in named]
        del graph.value_info[:]
        graph.value_info.extend([*others, *found])
    return bool(found)


def _infos(node: NodeProto, types: Mapping[str, TypeProto]) -> list[ValueInfoProto]:
    """Returns the inferred output types of a node."""
    if node.op_type == "Loop":
        return _carried(node, types)
    if len(node.output) != 1:
        return []
    if node.op_type in _LIKE_INPUT:
        known = bool(node.input) and _rank(node.input[0], types) is not None
        return [ValueInfoProto(name=node.output[0], type=types[node.input[0]])] if known else []
    if node.op_type not in {*_TARGET_INPUT, *_RANK_OF_INPUT}:
        return []
    rank, kind = _result_rank(node, types), _element_type(node, types)
    if rank is None or kind is None or not 0 <= rank <= MAX_RANK:
        return []
    return [onnx.helper.make_tensor_value_info(node.output[0], kind, [None] * rank)]


def _carried(node: NodeProto, types: Mapping[str, TypeProto]) -> list[ValueInfoProto]:
    """Returns types of loop variables: rank and sizes of the initial value, if the body's output declares the same."""
    body = next((attribute.g for attribute in node.attribute if attribute.name == "body"), None)
    if body is None:
        return []
    found = []
    for first, last, declared in zip(node.input[2:], node.output, body.output[1:], strict=False):
        rank, kind = _rank(first, types), declared.type.tensor_type
        if last and rank is not None and kind.HasField("shape") and len(kind.shape.dim) == rank:
            pairs = zip(types[first].tensor_type.shape.dim, kind.shape.dim, strict=True)
            sizes = [one.dim_value if one.HasField("dim_value") and one == other else None for one, other in pairs]
            found.append(onnx.helper.make_tensor_value_info(last, kind.elem_type, sizes))
    return found


def _rank(name: str, types: Mapping[str, TypeProto]) -> int | None:
    kind = types.get(name)
    if kind is None or not kind.tensor_type.HasField("shape"):
        return None
    return len(kind.tensor_type.shape.dim)


def _result_rank(node: NodeProto, types: Mapping[str, TypeProto]) -> int | None:
    if node.op_type in _RANK_OF_INPUT:
        return _rank(node.input[0], types) if node.input else None
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

"""Infers types downstream of operators that the model's operator set lacks. onnxruntime added some before ONNX did."""

from __future__ import annotations

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TypeProto, helper

from .data_propagation import PropagatedSize
from .inference_guard import inference_opset
from .isolated_inference import infer_isolated

_ROUNDS_PER_NODE = 2
"""Each round finds the type of at least one node, or completes it."""


def infer_with_newer(model: ModelProto, contents: PropagatedSize) -> ModelProto:
    """Returns the model with inferred types. ONNX's inference alone does not support operators of newer operator sets.

    `contents`: whether inference may propagate the contents of tensors. Raises the exceptions of onnx.
    """
    inferred = _infer(model, contents)
    version = max((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), default=1)
    newer = [node for node in inferred.graph.node if _is_newer(node, version)]
    for _ in range(_ROUNDS_PER_NODE * len(newer)):
        types = _types_of(inferred)
        ready = [node for node in newer if _is_typed(node, types)]
        told = {name: kind for node in ready for name, kind in _outputs(node, version, types).items()}
        if not _tell(inferred.graph, told):
            break
        inferred = _infer(inferred, contents)
    return inferred


def _infer(model: ModelProto, contents: PropagatedSize) -> ModelProto:
    if contents is PropagatedSize.UNKNOWN_SHARE:
        return infer_isolated(model)
    return onnx.shape_inference.infer_shapes(model, data_prop=contents is PropagatedSize.SMALL)


def _tell(graph: GraphProto, told: dict[str, TypeProto]) -> bool:
    """Adds types to the graph that are more specific than its own; returns whether there were any."""
    found = False
    given = {value.name: value for value in (*graph.value_info, *graph.output)}
    for name, kind in told.items():
        if name not in given:
            graph.value_info.append(helper.make_value_info(name, kind))
        elif _says_more(kind, given[name].type):
            given[name].type.CopyFrom(kind)
        else:
            continue
        found = True
    return found


def _says_more(kind: TypeProto, known: TypeProto) -> bool:
    """Returns whether a type has a shape or a size that `known` lacks."""
    one, two = kind.tensor_type, known.tensor_type
    if not one.HasField("shape") or not two.HasField("shape"):
        return bool(one.HasField("shape"))
    return any(
        a.HasField("dim_value") and not b.HasField("dim_value")
        for a, b in zip(one.shape.dim, two.shape.dim, strict=False)
    )


def _is_typed(node: NodeProto, types: dict[str, TypeProto]) -> bool:
    return all(name in types for name in node.input if name)


def _outputs(node: NodeProto, version: int, types: dict[str, TypeProto]) -> dict[str, TypeProto]:
    """Returns the output types of a node that its definition can infer."""
    operands = {name: types[name] for name in node.input if name}
    try:
        told = onnx.shape_inference.infer_node_outputs(_first_schema(node, version), node, operands)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):  # the converter reports the error
        return {}
    return dict(told)


def _is_newer(node: NodeProto, version: int) -> bool:
    later = inference_opset(node)
    if later is not None:
        return bool(onnx.defs.has(node.op_type, later, ""))
    if node.domain not in ("", "ai.onnx") or onnx.defs.has(node.op_type, version, ""):
        return False
    return bool(onnx.defs.has(node.op_type, ""))


def _first_schema(node: NodeProto, version: int) -> onnx.defs.OpSchema:
    """Returns the operator's schema in the first operator set after `version` that has it."""
    later = inference_opset(node)
    if later is not None:
        return onnx.defs.get_schema(node.op_type, later, "")
    sets = range(version + 1, onnx.defs.onnx_opset_version() + 1)
    first = next(one for one in sets if onnx.defs.has(node.op_type, one, ""))
    return onnx.defs.get_schema(node.op_type, first, "")


def _types_of(model: ModelProto) -> dict[str, TypeProto]:
    graph = model.graph
    types = {value.name: value.type for value in (*graph.output, *graph.value_info, *graph.input)}
    for tensor in graph.initializer:
        if all(size >= 0 for size in tensor.dims):
            types.setdefault(tensor.name, helper.make_tensor_type_proto(tensor.data_type, tensor.dims))
    return types

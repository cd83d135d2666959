"""Types behind operators that the model's operator set does not have yet: onnxruntime took some over before the standard."""

from __future__ import annotations

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TypeProto, helper

from .inference_guard import set_of


def infer_with_newer(model: ModelProto, contents: bool) -> ModelProto:
    """The model with the types that ONNX's inference tells, which takes such nodes for unknown.

    `contents`: whether inference follows what small integer tensors hold. Raises what onnx raises.
    """
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=contents)
    version = max((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), default=1)
    waiting = [node for node in inferred.graph.node if _is_newer(node, version)]
    while waiting:
        types = _types_of(inferred)
        ready = [node for node in waiting if _is_typed(node, types)]
        waiting = [node for node in waiting if not _is_typed(node, types)]
        if not ready:
            break
        told = {name: kind for node in ready for name, kind in _outputs(node, version, types).items()}
        if _tell(inferred.graph, told):
            inferred = onnx.shape_inference.infer_shapes(inferred, data_prop=contents)
    return inferred


def _tell(graph: GraphProto, told: dict[str, TypeProto]) -> bool:
    """Writes types into the graph whose shapes it does not know; whether there were any."""
    found = False
    given = {value.name: value for value in (*graph.value_info, *graph.output)}
    for name, kind in told.items():
        if name not in given:
            graph.value_info.append(helper.make_value_info(name, kind))
        elif given[name].type.tensor_type.HasField("shape"):
            continue
        else:
            given[name].type.CopyFrom(kind)
        found = True
    return found


def _is_typed(node: NodeProto, types: dict[str, TypeProto]) -> bool:
    return all(name in types for name in node.input if name)


def _outputs(node: NodeProto, version: int, types: dict[str, TypeProto]) -> dict[str, TypeProto]:
    """The types of a node's results, as far as its definition tells them."""
    operands = {name: types[name] for name in node.input if name}
    try:
        told = onnx.shape_inference.infer_node_outputs(_first_schema(node, version), node, operands)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):  # its converter says what is wrong
        return {}
    return dict(told)


def _is_newer(node: NodeProto, version: int) -> bool:
    later = set_of(node)
    if later is not None:
        return bool(onnx.defs.has(node.op_type, later, ""))
    if node.domain not in ("", "ai.onnx") or onnx.defs.has(node.op_type, version, ""):
        return False
    return bool(onnx.defs.has(node.op_type, ""))


def _first_schema(node: NodeProto, version: int) -> onnx.defs.OpSchema:
    """The operator as the first operator set behind `version` has it."""
    later = set_of(node)
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

"""Types of the inputs of loop bodies that leave them to the node: what the converters of a body ask for."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

from .protos import all_nodes


def complete_bodies(model: ModelProto, types: Mapping[str, TypeProto]) -> bool:
    """Writes types into bodies of Scan and Loop that have none. Says whether there were any.

    A Scan's states keep their rank; what a Loop carries may change its shape, so only its element type is noted.
    """
    changed = False
    for node in all_nodes(model.graph.node):
        if node.op_type not in ("Scan", "Loop") or node.domain not in ("", "ai.onnx"):
            continue
        body = next((a.g for a in node.attribute if a.name == "body" and a.type == AttributeProto.GRAPH), None)
        if body is not None:
            complete = _complete_scan if node.op_type == "Scan" else _complete_loop
            changed |= complete(node, body, types)
    return changed


def _complete_loop(node: NodeProto, body: GraphProto, types: Mapping[str, TypeProto]) -> bool:
    if len(body.input) != len(node.input):
        return False
    changed = False
    for index, value in enumerate(body.input):
        if value.type.tensor_type.elem_type or value.type.WhichOneof("value") not in (None, "tensor_type"):
            continue
        kind = {0: TensorProto.INT64, 1: TensorProto.BOOL}.get(index) or _element(types, node.input[index])
        if kind:
            value.type.tensor_type.elem_type = kind
            changed = True
    return changed


def _complete_scan(node: NodeProto, body: GraphProto, types: Mapping[str, TypeProto]) -> bool:
    attributes = {attribute.name: attribute for attribute in node.attribute}
    if "num_scan_inputs" not in attributes or len(body.input) != len(node.input):
        return False
    scanned = int(attributes["num_scan_inputs"].i)
    states = len(node.input) - scanned
    axes = list(attributes["scan_input_axes"].ints) if "scan_input_axes" in attributes else [0] * scanned
    changed = False
    for index, value in enumerate(body.input):
        source = types.get(node.input[index])
        if value.type.tensor_type.HasField("shape") or source is None or not source.tensor_type.HasField("shape"):
            continue
        dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in source.tensor_type.shape.dim]
        if index < states:
            dims = [None] * len(dims)
        elif index - states < len(axes) and -len(dims) <= axes[index - states] < len(dims):
            del dims[axes[index - states]]
        else:
            continue
        _write(value, source.tensor_type.elem_type, dims)
        changed = True
    return changed


def _element(types: Mapping[str, TypeProto], name: str) -> int:
    return int(types[name].tensor_type.elem_type) if name in types else 0


def _write(value: ValueInfoProto, kind: int, dims: list[int | None]) -> None:
    tensor = value.type.tensor_type
    tensor.elem_type = tensor.elem_type or kind
    tensor.shape.SetInParent()
    for dim in dims:
        entry = tensor.shape.dim.add()
        if dim is not None:
            entry.dim_value = dim

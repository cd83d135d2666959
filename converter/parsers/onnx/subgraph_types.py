"""Prepares subgraphs for type inference: adds the types of their inputs, and the constants that they read."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

from .protos import all_nodes, sub_graphs

_SHORT = 64
"""Elements of the largest constant that is copied."""


def complete_bodies(model: ModelProto, types: Mapping[str, TypeProto]) -> bool:
    """Adds missing input types to bodies of Scan and Loop, and copies short constants into the graphs that read them.

    A state of Scan keeps its rank. A variable of Loop may change its shape, so only its element type is set. Returns
    whether anything was added.
    """
    changed = _sink_constants(model.graph, {})
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


def _sink_constants(graph: GraphProto, outer: Mapping[str, TensorProto]) -> bool:
    """Copies short integer constants of outer graphs into subgraphs that read them; inference does not look outside."""
    visible = dict(outer)
    for tensor in [*graph.initializer, *_constants(graph)]:
        if tensor.data_type in (TensorProto.INT64, TensorProto.INT32) and 0 <= prod(tensor.dims) <= _SHORT:
            visible[tensor.name] = tensor
        else:
            visible.pop(tensor.name, None)
    changed = False
    for node in graph.node:
        for inner in sub_graphs(node):
            own = {value.name for value in inner.input} | {tensor.name for tensor in inner.initializer}
            own.update(name for entry in inner.node for name in entry.output)
            reads = {name for entry in inner.node for name in entry.input}
            for name in sorted(reads - own):
                if name in visible and visible[name].data_location != TensorProto.EXTERNAL:
                    inner.initializer.add().CopyFrom(visible[name])
                    changed = True
            hidden = {name: tensor for name, tensor in visible.items() if name not in own}
            changed |= _sink_constants(inner, hidden)
    return changed


def _constants(graph: GraphProto) -> list[TensorProto]:
    """Returns the tensors of Constant nodes, named like their outputs."""
    found = []
    for node in graph.node:
        values = [attribute.t for attribute in node.attribute if attribute.name == "value"]
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx") and values and node.output:
            tensor = TensorProto()
            tensor.CopyFrom(values[0])
            tensor.name = node.output[0]
            found.append(tensor)
    return found

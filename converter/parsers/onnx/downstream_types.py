"""Infers the types of values downstream of a node that ONNX's type inference does not support."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, helper

from .order import node_reads
from .types import infer_types

_INTEGERS = frozenset((TensorProto.INT64, TensorProto.INT32))
_MAX_CONTENTS = 64
"""Limit of nodes upstream that are added to compute the contents of shape tensors."""


class DownstreamTypes:
    """Infers the types of the nodes downstream of values whose types became known.

    Each call infers all nodes together whose input types are known.
    """

    def __init__(self, model: ModelProto, graph: GraphProto) -> None:
        self._model = model
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        self._readers: dict[str, list[NodeProto]] = {}
        self._producers: dict[str, NodeProto] = {}
        self._reads: dict[int, set[str]] = {}
        self._place: dict[int, int] = {}
        for index, node in enumerate(graph.node):
            self._place[id(node)] = index
            reads = {name for name in node_reads(node) if name}
            self._reads[id(node)] = reads
            for name in reads:
                self._readers.setdefault(name, []).append(node)
            self._producers.update((name, node) for name in node.output)

    def infer(self, told: Sequence[str], types: dict[str, TypeProto]) -> dict[str, TypeProto]:
        """Returns the types that follow from the types of the values `told`. `types`: these and all earlier types."""
        nodes = self._ready(told, types)
        if not nodes:
            return {}
        nodes = self._contents(nodes, types) + nodes
        made = {name for node in nodes for name in node.output}
        outer = list(
            dict.fromkeys(name for node in nodes for name in sorted(self._reads[id(node)]) if name not in made)
        )
        part = ModelProto()
        part.ir_version = self._model.ir_version
        part.opset_import.extend(self._model.opset_import)
        part.functions.extend(self._model.functions)
        part.graph.name = "behind"
        part.graph.node.extend(nodes)
        part.graph.initializer.extend(self._constants[name] for name in outer if name in self._constants)
        part.graph.input.extend(
            helper.make_value_info(name, types[name]) for name in outer if name not in self._constants and name in types
        )
        found = infer_types(part)
        return {
            name: kind
            for name, kind in found.items()
            if name not in types or (_has_type(found, name) and not _is_whole(types[name]))
        }

    def _ready(self, told: Sequence[str], types: dict[str, TypeProto]) -> list[NodeProto]:
        """Returns the nodes whose input types are all known now, producers first."""
        known, nodes, seen, names = set(told), [], set(), list(told)
        for name in names:  # grows
            for node in self._readers.get(name, ()):
                if id(node) in seen or not onnx.defs.has(node.op_type, node.domain):
                    continue
                if all(
                    read in known or read in self._constants or _has_type(types, read) for read in self._reads[id(node)]
                ):
                    seen.add(id(node))
                    nodes.append(node)
                    known.update(node.output)
                    names.extend(output for output in node.output if output)
        return nodes

    def _contents(self, nodes: Sequence[NodeProto], types: dict[str, TypeProto]) -> list[NodeProto]:
        """Returns the nodes that compute the shape inputs of `nodes`."""
        found: dict[int, NodeProto] = {id(node): node for node in nodes}
        before: list[NodeProto] = []
        names = [name for node in nodes for name in self._reads[id(node)]]
        for name in names:  # grows
            node = self._producers.get(name)
            is_shape = name in types and types[name].tensor_type.elem_type in _INTEGERS
            if node is None or id(node) in found or not is_shape or len(before) == _MAX_CONTENTS:
                continue
            if onnx.defs.has(node.op_type, node.domain):
                found[id(node)] = node
                before.append(node)
                names.extend(self._reads[id(node)])
        return sorted(before, key=lambda node: self._place[id(node)])


def _has_type(types: dict[str, TypeProto], name: str) -> bool:
    return name in types and (types[name].tensor_type.HasField("shape") or not types[name].HasField("tensor_type"))


def _is_whole(kind: TypeProto) -> bool:
    shape = kind.tensor_type.shape if kind.tensor_type.HasField("shape") else None
    return shape is not None and all(dim.HasField("dim_value") for dim in shape.dim)

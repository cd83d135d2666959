"""Replaces an If with a constant condition by the nodes of the branch that is taken."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper

from mslite.converter.mindir.graph import Array

from .protos import sub_graphs


def inline_branch(
    node: NodeProto, condition: Array, initializers: dict[str, TensorProto], taken: set[str]
) -> tuple[list[NodeProto], list[TensorProto]] | None:
    """Returns the nodes and constants of the branch; None if the node is malformed."""
    wanted = "then_branch" if bool(np.all(condition)) else "else_branch"
    branch = next((attribute.g for attribute in node.attribute if attribute.name == wanted), None)
    if branch is None or branch.input or len(branch.output) != len(node.output) or branch.sparse_initializer:
        return None
    prefix = node.name or (node.output[0] if node.output else "If")
    inside = [tensor.name for tensor in branch.initializer]
    inside += [name for inner in branch.node for name in inner.output if name]
    renamed: dict[str, str] = {}
    for name in inside:
        new, number = f"{prefix}/{name}", 1
        while new in taken:
            new, number = f"{prefix}/{name}_{number}", number + 1
        taken.add(new)
        renamed[name] = new
    nodes = [_renamed(inner, renamed) for inner in branch.node]
    tensors = []
    for tensor in branch.initializer:
        copy = TensorProto()
        copy.CopyFrom(tensor)
        copy.name = renamed[tensor.name]
        initializers[copy.name] = copy
        tensors.append(copy)
    for result, name in zip(branch.output, node.output, strict=True):
        if name:
            source = renamed.get(result.name, result.name)
            nodes.append(helper.make_node("Identity", [source], [name], name=f"{prefix}/{name}/Identity"))
    return nodes, tensors


def _renamed(node: NodeProto, names: Mapping[str, str]) -> NodeProto:
    """Returns a copy with renamed inputs and outputs, including those in its subgraphs."""
    copy = NodeProto()
    copy.CopyFrom(node)
    _rename(copy, names)
    return copy


def _rename(node: NodeProto, names: Mapping[str, str]) -> None:
    node.input[:] = [names.get(name, name) for name in node.input]
    node.output[:] = [names.get(name, name) for name in node.output]
    for graph in sub_graphs(node):
        _rename_graph(graph, names)


def _rename_graph(graph: GraphProto, names: Mapping[str, str]) -> None:
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    own.update(name for inner in graph.node for name in inner.output)
    visible = {old: new for old, new in names.items() if old not in own}
    for inner in graph.node:
        _rename(inner, visible)
    for value in graph.output:
        value.name = visible.get(value.name, value.name)

"""Replaces nonstandard nodes by the standard nodes that define them, in all graphs of a model."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto
from onnx.defs import has as is_standard

from mslite.converter.parsers.naming import Blocked, UnknownInput
from mslite.converter.parsers.onnx.plugin import plugin_converter
from mslite.converter.parsers.onnx.protos import all_nodes, sub_graphs
from mslite.converter.parsers.onnx.tensors import TensorError
from mslite.converter.parsers.onnx.unexpanded import Unexpanded, node_key

from .body import Body, UnknownType
from .registry import EXPANDERS, STANDARD, Expander


def expander_of(node: NodeProto, version: int) -> Expander | None:
    """Returns the expansion of a node. onnxruntime added some operators to the standard domain before ONNX did."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    if plugin_converter(domain, node.op_type) is not None:
        return None
    if domain == "" and is_standard(node.op_type, version, ""):
        return EXPANDERS.get((STANDARD, node.op_type))
    return EXPANDERS.get((domain, node.op_type))


def is_expandable(node: NodeProto, version: int) -> bool:
    """Returns whether this node has an expansion."""
    return expander_of(node, version) is not None


def expand_nodes(
    model: ModelProto,
    version: int,
    types: Mapping[str, TypeProto],
    constants: Mapping[str, TensorProto],
    unexpanded: Unexpanded,
) -> bool:
    """Expands the nodes of the whole model once; returns whether a node was replaced."""
    names = {name for node in all_nodes(model.graph.node) for name in (*node.input, *node.output, node.name)}
    names.update(constants)
    known = dict(constants)
    unexpanded.waiting.clear()

    def in_graph(graph: GraphProto) -> bool:
        known.update((tensor.name, tensor) for tensor in graph.initializer)
        known.update(_constant_nodes(graph))
        kept: list[NodeProto] = []
        changed = False
        for node in graph.node:
            for inner in sub_graphs(node):
                changed |= in_graph(inner)
            nodes = _expand(node, version, types, known, names, unexpanded)
            changed |= nodes is not None
            kept.extend([node] if nodes is None else nodes)
        if changed:
            copies = [NodeProto.FromString(node.SerializeToString()) for node in kept]
            del graph.node[:]
            graph.node.extend(copies)
        return changed

    return in_graph(model.graph)


def _constant_nodes(graph: GraphProto) -> dict[str, TensorProto]:
    found: dict[str, TensorProto] = {}
    for node in graph.node:
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx") and node.output:
            tensors = [a.t for a in node.attribute if a.name == "value" and a.type == AttributeProto.TENSOR]
            found.update((node.output[0], tensor) for tensor in tensors)
    return found


def _expand(
    node: NodeProto,
    version: int,
    types: Mapping[str, TypeProto],
    constants: Mapping[str, TensorProto],
    names: set[str],
    unexpanded: Unexpanded,
) -> list[NodeProto] | None:
    expander = expander_of(node, version)
    key = node_key(node)
    if expander is None or not unexpanded.is_open(node):
        return None
    body = Body(node, version, types, constants, names)
    try:
        expander(body)
        body.check_all_read()
    except UnknownType as unknown:
        unexpanded.waiting[key] = UnknownInput(
            f"{unknown.what} is not known", "Give --inputShape, or export the model with fixed shapes"
        )
        return None
    except Blocked as blocked:
        unexpanded.refused[key] = blocked
        return None
    except TensorError as error:
        unexpanded.refused[key] = Blocked(str(error), "Export the model again")
        return None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # An attribute or input is of a wrong kind; no exporter writes such files.
        unexpanded.refused[key] = Blocked(
            f"does not match the operator's definition ({error})", "Export the model again"
        )
        return None
    return body.nodes

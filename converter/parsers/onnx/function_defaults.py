"""Default attributes in calls of a model's functions."""

from __future__ import annotations

from onnx import ModelProto

from .protos import all_nodes


def fill_defaults(model: ModelProto) -> None:
    """Adds missing attributes with their defaults to calls of functions. onnx's inliner ignores these defaults."""
    defaults = {(one.domain, one.name, one.overload): one.attribute_proto for one in model.functions}
    for nodes in (model.graph.node, *(function.node for function in model.functions)):
        for node in all_nodes(nodes):
            present = {attribute.name for attribute in node.attribute}
            for attribute in defaults.get((node.domain, node.op_type, node.overload), ()):
                if attribute.name not in present:
                    node.attribute.append(attribute)

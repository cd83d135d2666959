"""Functions of a model that use another operator set than the model."""

from __future__ import annotations

import onnx
from onnx import FunctionProto, ModelProto, NodeProto

from .protos import all_nodes

_STANDARD = ("", "ai.onnx")


def align_versions(model: ModelProto) -> None:
    """Changes functions to the model's operator set if their operators are the same in both.

    Adds domains that only functions import to the model. Other differences stay, and the inliner reports them.
    """
    versions = {entry.domain: entry.version for entry in model.opset_import}
    for function in model.functions:
        for entry in function.opset_import:
            if entry.domain not in versions and not (
                entry.domain in _STANDARD and any(d in versions for d in _STANDARD)
            ):
                versions[entry.domain] = entry.version
                model.opset_import.add(domain=entry.domain, version=entry.version)
            wanted = versions.get(entry.domain, entry.version)
            if entry.version != wanted and entry.domain in _STANDARD and _same(function, entry.version, wanted):
                entry.version = wanted


def _same(function: FunctionProto, old: int, new: int) -> bool:
    """Returns whether every standard operator of the function is the same in both versions."""
    for node in all_nodes(function.node):
        if node.domain not in _STANDARD:
            continue
        try:
            schemas = [onnx.defs.get_schema(node.op_type, version, "") for version in (old, new)]
        except onnx.defs.SchemaError:
            return False
        if schemas[0].since_version != schemas[1].since_version:
            return False
    return True


def use_version(function: FunctionProto, version: int) -> bool:
    """Changes a definition of the standard to a newer operator set; returns False if a signature is incompatible there.

    Compatible: more types, more attributes, or fewer attributes that the node does not set.
    """
    for entry in function.opset_import:
        if entry.domain not in _STANDARD:
            continue
        for node in all_nodes(function.node):
            if node.domain in _STANDARD and not _alike(node, entry.version, version):
                return False
        entry.version = version
    return True


def _alike(node: NodeProto, old: int, new: int) -> bool:
    try:
        before, after = (onnx.defs.get_schema(node.op_type, version, "") for version in (old, new))
    except onnx.defs.SchemaError:
        return False
    if before.since_version == after.since_version:
        return True
    inputs = [[one.name for one in schema.inputs] for schema in (before, after)]
    given = {attribute.name for attribute in node.attribute}
    unset = onnx.AttributeProto()
    return inputs[0] == inputs[1][: len(inputs[0])] and all(
        after.attributes[name].default_value == attribute.default_value
        if name in after.attributes
        else name not in given and attribute.default_value == unset
        for name, attribute in before.attributes.items()
    )

"""Finds the constants that [train_param] names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.layer_names import is_named, module_name
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.spelling import meant


def named_constants(nodes: Sequence[Node], names: Collection[str], source: str, key: str) -> list[Value]:
    """Returns the constants with these names, and those of layers with these names, in the order of use.

    `layer` also matches `layer.weight` and `layer/Conv`; `*` matches any characters. `key` is the key of the names,
    for messages. Raises ConversionError for an unknown name.
    """
    pairs = [
        (node, value)
        for node in nodes
        for value in node.inputs
        if value.data is not None and value.dtype is DataType.FLOAT32
    ]
    found: set[Value] = set()
    for name in sorted(names):
        these = {
            value
            for node, value in pairs
            if any(is_named(known, name) for known in (value.name, node.name, module_name(node.name)))
        }
        if not these:
            known = {text for node, value in pairs for text in (value.name, node.name)}
            raise ConversionError(
                f"{source}: {key} names '{name}', which is not a constant or layer of the model{meant(name, known)}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
        found |= these
    return list(dict.fromkeys(value for _, value in pairs if value in found))

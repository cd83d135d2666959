"""Which constants the names in `frozen`, `lora_layers` and `lora_trained` stand for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.spelling import meant

_ENDS = ("/", ".", "_nhwc")
"""What follows a name in those of its parts, and in those that the converter gives to rearranged constants."""


def named_constants(nodes: Sequence[Node], names: Collection[str], source: str, key: str) -> list[Value]:
    """The constants of these names, and of the layers of these names, in the order of their use. `layer` also stands for `layer.weight` and `layer/Conv`,
    `*` for any characters.

    Raises ConversionError for a name that nothing has.
    """
    pairs = [
        (node, value)
        for node in nodes
        for value in node.inputs
        if value.data is not None and value.dtype is DataType.FLOAT32
    ]
    chosen: set[Value] = set()
    for name in sorted(names):
        found = {value for node, value in pairs if _is_named(value.name, name) or _is_named(node.name, name)}
        if not found:
            known = {text for node, value in pairs for text in (value.name, node.name)}
            raise ConversionError(
                f"{source}: {key} names '{name}', which is no constant and no layer of the model{meant(name, known)}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
        chosen |= found
    return list(dict.fromkeys(value for _, value in pairs if value in chosen))


def _is_named(name: str, wanted: str) -> bool:
    name, wanted = name.lstrip("/"), wanted.lstrip("/")
    if name == wanted or fnmatchcase(name, wanted.replace("[", "[[]")):
        return True
    return name.startswith(tuple(wanted + end for end in _ENDS))

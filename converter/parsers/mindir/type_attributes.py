"""Reads the attribute that has the types and shapes of a node's results, and recognizes constants that are tensors."""

from __future__ import annotations

from mslite.converter.parsers.protobuf import Message

from .messages import AttributeType

_TUPLES = (AttributeType.TUPLE, AttributeType.LIST)
_ORDERS = (AttributeType.UMONAD, AttributeType.IOMONAD)
_TYPE_KINDS = frozenset((AttributeType.TENSORS, *_TUPLES, AttributeType.SCALAR, AttributeType.NONE, *_ORDERS))
_MAX_TUPLES = 16
"""The deepest nesting of tuples."""


def is_type(attribute: Message) -> bool:
    """Returns whether the attribute has the types and shapes of the node's results."""
    if attribute.HasField("ref_attr_name"):
        return "shape:" in attribute.ref_attr_name
    return bool(attribute.name == "shape" and attribute.type in _TYPE_KINDS and not _has_contents(attribute))


def _has_contents(attribute: Message) -> bool:
    """Returns whether the attribute has values: then it is an attribute of the primitive that is named `shape`."""
    return any(len(item.ints) or item.HasField("i") for item in attribute.values)


def is_tensor(attribute: Message) -> bool:
    """Returns whether a constant is one tensor with contents, in the typed form."""
    if attribute.HasField("ref_attr_name") or attribute.type != AttributeType.TENSORS or not attribute.tensors:
        return False
    return bool(attribute.tensors[0].HasField("raw_data") or attribute.tensors[0].HasField("external_data"))


def is_monad(info: Message) -> bool:
    return info.HasField("attr_info") and info.attr_info.type in _ORDERS


def result_types(node: Message) -> list[Message]:
    """Returns the TensorProtos with the types and shapes of the node's results."""
    for attribute in node.attribute:
        if is_type(attribute):
            return [tensor for item in (attribute, *attribute.values) for tensor in item.tensors]
    return []


def tuple_length(node: Message) -> int:
    """Returns the number of results according to the type attribute; 0 without one."""
    for attribute in node.attribute:
        if not is_type(attribute):
            continue
        if attribute.type in _TUPLES:
            return len(attribute.values)
        if attribute.HasField("ref_attr_name") and "[" in attribute.ref_attr_name:
            return len(attribute.tensors)
        return 1 if len(attribute.tensors) else 0
    return 0


Structure = tuple["Structure | None", ...]
"""The elements of a tuple: None for a tensor, a Structure for a tuple. Order edges are left out."""


def tuple_structure(node: Message) -> Structure | None:
    """Returns the structure of the node's result if it is a tuple that contains tuples, else None."""
    for attribute in node.attribute:
        if is_type(attribute) and attribute.type in _TUPLES:
            made = _structure(attribute, 0)
            return made if any(item is not None for item in made) else None
    return None


def _structure(kind: Message, depth: int) -> Structure:
    if depth > _MAX_TUPLES:
        return ()
    return tuple(
        _structure(item, depth + 1) if item.type in _TUPLES else None
        for item in kind.values
        if item.type not in _ORDERS
    )

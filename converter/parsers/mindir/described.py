"""The attribute in which a node says type and shape of its result, and how constants say that they are tensors."""

from __future__ import annotations

from mslite.converter.parsers.protobuf import Message

from .messages import AttributeType

_TUPLES = (AttributeType.TUPLE, AttributeType.LIST)
_ORDERS = (AttributeType.UMONAD, AttributeType.IOMONAD)
_TYPE_KINDS = frozenset((AttributeType.TENSORS, *_TUPLES, AttributeType.SCALAR, AttributeType.NONE, *_ORDERS))
_MOST_TUPLES = 16
"""Of tuples within each other."""


def is_type(attribute: Message) -> bool:
    """True for the attribute that says type and shape of a node's result."""
    if attribute.HasField("ref_attr_name"):
        return "shape:" in attribute.ref_attr_name
    return bool(attribute.name == "shape" and attribute.type in _TYPE_KINDS and not _has_contents(attribute))


def _has_contents(attribute: Message) -> bool:
    """True when the attribute's values are numbers: a real attribute that is called `shape`."""
    return any(len(item.ints) or item.HasField("i") for item in attribute.values)


def is_tensor(attribute: Message) -> bool:
    """True for a constant that is one tensor with contents, in the typed form."""
    if attribute.HasField("ref_attr_name") or attribute.type != AttributeType.TENSORS or not attribute.tensors:
        return False
    return bool(attribute.tensors[0].HasField("raw_data") or attribute.tensors[0].HasField("external_data"))


def is_monad(info: Message) -> bool:
    return info.HasField("attr_info") and info.attr_info.type in _ORDERS


def result_types(node: Message) -> list[Message]:
    """The tensors that describe the node's results."""
    for attribute in node.attribute:
        if is_type(attribute):
            return [tensor for item in (attribute, *attribute.values) for tensor in item.tensors]
    return []


def tuple_length(node: Message) -> int:
    """The number of results that the type attribute says; 0 when it does not."""
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
"""Of a tuple: its elements, tuples again; None is a tensor. What only orders nodes is no element."""


def tuple_structure(node: Message) -> Structure | None:
    """The elements of the node's result, when that is a tuple with tuples in it."""
    for attribute in node.attribute:
        if is_type(attribute) and attribute.type in _TUPLES:
            made = _structure(attribute, 0)
            return made if any(item is not None for item in made) else None
    return None


def _structure(kind: Message, depth: int) -> Structure:
    if depth > _MOST_TUPLES:
        return ()
    return tuple(
        _structure(item, depth + 1) if item.type in _TUPLES else None
        for item in kind.values
        if item.type not in _ORDERS
    )

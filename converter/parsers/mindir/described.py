"""The attribute in which a node says type and shape of its result, and how constants say that they are tensors."""

from __future__ import annotations

from mslite.converter.parsers.protobuf import Message

from .messages import AttributeType

_TYPE_KINDS = frozenset(
    (AttributeType.TENSORS, AttributeType.TUPLE, AttributeType.LIST, AttributeType.SCALAR, AttributeType.NONE)
) | frozenset((AttributeType.UMONAD, AttributeType.IOMONAD))


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
    return info.HasField("attr_info") and info.attr_info.type in (AttributeType.UMONAD, AttributeType.IOMONAD)


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
        if attribute.type in (AttributeType.TUPLE, AttributeType.LIST):
            return len(attribute.values)
        if attribute.HasField("ref_attr_name") and "[" in attribute.ref_attr_name:
            return len(attribute.tensors)
        return 1 if len(attribute.tensors) else 0
    return 0

"""Reads attributes and constants as Python values: the typed form, and the older form with `ref_attr_name`."""

from __future__ import annotations

import re
from typing import Any

from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.protobuf import Message

from .messages import INTEGER_TYPES, TENSOR_TYPES, AttributeType
from .tensors import TensorError, TensorReader

MONAD = object()
"""The value of an order edge, which has no data."""

Contents = Any
"""int, float, bool, str, None, an array, a DataType, MONAD, or a tuple of these."""

_MAX_DEPTH = 16
_TOKEN = re.compile(r"(?:Tuple|List)?\[|\]|value\d+")


def contents(attribute: Message, reader: TensorReader) -> Contents:
    """Returns the value of an attribute. Raises TensorError if it cannot be read."""
    if attribute.HasField("ref_attr_name"):
        return _older(attribute, reader)
    return _typed(attribute, reader, 0)


def _typed(attribute: Message, reader: TensorReader, depth: int) -> Contents:
    kind = attribute.type
    if depth > _MAX_DEPTH:
        raise TensorError("its tuples are nested too deeply")
    if kind in (AttributeType.TUPLE, AttributeType.LIST):
        return tuple(_typed(item, reader, depth + 1) for item in attribute.values)
    if kind == AttributeType.DICT:
        return tuple(
            (item.name, _typed(item.values[0], reader, depth + 1) if item.values else None) for item in attribute.values
        )
    if kind == AttributeType.TENSORS:
        if not attribute.tensors:
            raise TensorError("it should contain a tensor, but is empty")
        return _tensor_or_type(attribute.tensors[0], reader)
    if kind in (AttributeType.NONE, AttributeType.TYPE_NULL):
        return None
    if kind in (AttributeType.UMONAD, AttributeType.IOMONAD):
        return MONAD
    return _scalar(attribute, kind)


def _tensor_or_type(tensor: Message, reader: TensorReader) -> Contents:
    """Returns the contents of a tensor; for a tensor without contents, its data type."""
    if tensor.HasField("raw_data") or tensor.HasField("external_data"):
        return reader.array(tensor)
    return _element_type(tensor)


def _element_type(tensor: Message) -> DataType:
    if tensor.data_type not in TENSOR_TYPES:
        raise TensorError(f"element type {tensor.data_type} is unknown")
    return TENSOR_TYPES[tensor.data_type]


def _scalar(attribute: Message, kind: int, index: int | None = None) -> Contents:
    """Returns a scalar from the single field, or (in sequences) element `index` of the repeated field."""

    def pick(single: str, repeated: str) -> Any:
        values = getattr(attribute, repeated)
        if index is None and (attribute.HasField(single) or not values):
            return getattr(attribute, single)
        if (index or 0) >= len(values):
            raise TensorError(f"it has {len(values)} values, but refers to value {(index or 0) + 1}")
        return values[index or 0]

    if kind in INTEGER_TYPES:
        return int(pick("i", "ints"))
    if kind == AttributeType.BOOL:
        return bool(pick("i", "ints"))
    if kind == AttributeType.FLOAT:
        return float(pick("f", "floats"))
    if kind == AttributeType.DOUBLE:
        return float(pick("d", "doubles"))
    if kind == AttributeType.STRING:
        return bytes(pick("s", "strings")).decode("utf-8", "replace")
    raise TensorError(f"values of attribute type {kind} are not supported")


# ---- older files ----


def _older(attribute: Message, reader: TensorReader) -> Contents:
    """Reads the older form: `ref_attr_name` holds the structure, as `scalar:value0,`,
    `scalar:Tuple[value1,value2,],`."""
    spelling = attribute.ref_attr_name
    if spelling.startswith("none"):
        return None
    if spelling.startswith("Monad"):
        return MONAD
    if spelling.startswith(("tensor", "type")):
        if not attribute.tensors:
            raise TensorError("it should contain a tensor, but is empty")
        tensor = attribute.tensors[0]
        return reader.array(tensor) if spelling.startswith("tensor") else _element_type(tensor)
    if not spelling.startswith("scalar"):
        raise TensorError(f"its kind '{spelling[:40]}' is not supported")
    if "value0" in spelling:
        return _scalar(attribute, attribute.type)
    return _sequence(attribute, spelling, reader)


def _sequence(attribute: Message, spelling: str, reader: TensorReader) -> tuple[Contents, ...]:
    """Returns the nested tuples of a structure; its leaves are `value<n>`, counted from 1."""
    stack: list[list[Contents]] = [[]]
    for match in _TOKEN.finditer(spelling):
        token = match.group()
        if token.endswith("["):
            stack.append([])
            if len(stack) > _MAX_DEPTH:
                raise TensorError("its tuples are nested too deeply")
        elif token == "]":
            if len(stack) < 2:
                raise TensorError("its brackets do not match")
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(_element(attribute, int(token[5:14]) - 1, reader))
    if len(stack) != 1 or len(stack[0]) != 1 or not isinstance(stack[0][0], tuple):
        raise TensorError("its brackets do not match")
    return stack[0][0]


def _element(attribute: Message, index: int, reader: TensorReader) -> Contents:
    if index < 0:
        raise TensorError("it refers to value 0; values are counted from 1")
    if attribute.type == AttributeType.TENSORS or attribute.tensors:
        if index >= len(attribute.tensors):
            raise TensorError(f"it has {len(attribute.tensors)} tensors, but refers to tensor {index + 1}")
        return _tensor_or_type(attribute.tensors[index], reader)
    return _scalar(attribute, attribute.type, index)

"""Reads and writes operators and tables in FlatBuffers, by their declarations.

`None` means missing, `()` means empty; a scalar that equals its default is not stored. mslite's operators become
Custom nodes with attributes as little-endian bytes (docs/architecture.md, Declarations).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

import flatbuffers
import numpy as np

from .flatbuffer import FlatBufferError, Source, Table
from .ops import OPERATORS, OPERATORS_BY_ID, Attribute, Operator
from .ops._declare import FIRST_CUSTOM_ID
from .ops.custom import Custom

_CUSTOM_TYPES = {
    cls.declaration.custom_type: cls for cls in OPERATORS.values() if cls.declaration.custom_type is not None
}
_OUR_PREFIX = "mslite."
_CUSTOM_CODES = {"bool": "?", "int": "i", "long": "q", "float": "f"}


class MindirFormatError(Exception):
    """A `.ms` file that cannot be read; the message contains the reason and a remedy."""


def scalar_kind(attribute: Attribute) -> str:
    """Returns the FlatBuffers scalar type of an attribute that is not a reference."""
    return attribute.enum.wire_type() if attribute.enum else attribute.wire


def _checked_enum(attribute: Attribute, number: int) -> Any:
    assert attribute.enum is not None
    try:
        return attribute.enum(number)
    except ValueError:
        raise FlatBufferError(f"field '{attribute.wire_name}' has the unknown value {number}") from None


def read_attribute(table: Table, attribute: Attribute) -> Any:
    """Reads an attribute. Raises FlatBufferError."""
    slot, wire = attribute.slot, attribute.wire
    if wire == "string":
        return table.text(slot)
    if wire == "Vec2D":
        outer = table.table(slot)
        if outer is None:
            return None
        return tuple(inner.numbers(0, "long") for inner in outer.tables(0) or ())
    if wire == "[Attribute]":
        items = table.tables(slot)
        if items is None:
            return None
        return tuple((item.text(0), _charged_bytes(item, 1)) for item in items)
    if attribute.is_vector:
        return table.numbers(slot, wire[1:-1])
    value = table.scalar(slot, scalar_kind(attribute), attribute.default)
    if attribute.enum:
        return _checked_enum(attribute, int(value))
    return bool(value) if wire == "bool" else value


def _charged_bytes(table: Table, slot: int) -> bytes | None:
    view = table.bytes(slot)
    if view is None:
        return None
    table.source.charge(len(view))
    return bytes(view)


def write_scalar(builder: flatbuffers.Builder, attribute: Attribute, value: Any) -> None:
    """Writes a scalar to the current table, unless it equals its default and is not `always_stored`."""
    kind = scalar_kind(attribute)
    number = bool(value) if kind == "bool" else value
    if kind == "float":
        number, default = np.float32(value), np.float32(attribute.default)
        # Compares the stored bytes, because NaN differs from itself, and -0.0 equals 0.0.
        if attribute.always_stored or number.tobytes() != default.tobytes():
            builder.PrependFloat32(float(number))
            builder.Slot(attribute.slot)
        return
    if kind == "double":
        if attribute.always_stored or struct.pack("<d", value) != struct.pack("<d", attribute.default):
            builder.PrependFloat64(float(value))
            builder.Slot(attribute.slot)
        return
    if number == attribute.default and not attribute.always_stored:
        return
    prepend: dict[str, Callable[[Any], None]] = {
        "bool": builder.PrependBool,
        "byte": builder.PrependInt8,
        "int": builder.PrependInt32,
        "uint": builder.PrependUint32,
        "long": builder.PrependInt64,
    }
    prepend[kind](int(number))
    builder.Slot(attribute.slot)


def write_offsets(builder: flatbuffers.Builder, offsets: Iterable[int]) -> int:
    """Writes a vector of references."""
    items = list(offsets)
    builder.StartVector(4, len(items), 4)
    for offset in reversed(items):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def write_numbers(builder: flatbuffers.Builder, kind: str, numbers: Iterable[float]) -> int:
    """Writes a vector of scalars. Raises OverflowError if one is out of range."""
    codes = {"int": "<i4", "uint": "<u4", "long": "<i8", "float": "<f4"}
    with np.errstate(over="ignore"):
        return int(builder.CreateNumpyVector(np.array(list(numbers), dtype=codes[kind])))


def write_reference(builder: flatbuffers.Builder, attribute: Attribute, value: Any) -> int:
    """Writes the data of an attribute that is a reference and returns its offset."""
    wire = attribute.wire
    if wire == "string":
        return int(builder.CreateString(value))
    if wire == "Vec2D":
        rows = [_write_row(builder, row) for row in value]
        vector = write_offsets(builder, rows)
        return write_slots(builder, 1, {0: vector})
    if wire == "[Attribute]":
        items = []
        for name, data in value:
            slots = {}
            if data is not None:
                slots[1] = int(builder.CreateByteVector(bytes(data)))
            if name is not None:
                slots[0] = int(builder.CreateString(name))
            items.append(write_slots(builder, 2, slots))
        return write_offsets(builder, items)
    return write_numbers(builder, wire[1:-1], value)


def _write_row(builder: flatbuffers.Builder, row: tuple[int, ...] | None) -> int:
    return write_slots(builder, 1, {} if row is None else {0: write_numbers(builder, "long", row)})


def write_slots(builder: flatbuffers.Builder, size: int, slots: dict[int, int]) -> int:
    """Writes a table with references only."""
    builder.StartObject(size)
    for slot, offset in slots.items():
        builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    return int(builder.EndObject())


def is_reference(attribute: Attribute) -> bool:
    return attribute.is_vector or attribute.wire in ("string", "Vec2D")


def _encode(attribute: Attribute, value: Any) -> bytes:
    """Encodes an attribute of one of mslite's operators."""
    wire = "int" if attribute.enum else attribute.wire
    if wire == "string":
        return str(value).encode()
    if attribute.is_vector:
        return struct.pack(f"<{len(value)}{_CUSTOM_CODES[wire[1:-1]]}", *value)
    return struct.pack(f"<{_CUSTOM_CODES[wire]}", value)


def _decode(attribute: Attribute, data: bytes) -> Any:
    wire = "int" if attribute.enum else attribute.wire
    if wire == "string":
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise FlatBufferError(f"attribute '{attribute.wire_name}' is not UTF-8 text") from None
    code = _CUSTOM_CODES[wire.strip("[]")]
    size = struct.calcsize(f"<{code}")
    if len(data) % size or (not attribute.is_vector and len(data) != size):
        raise FlatBufferError(f"attribute '{attribute.wire_name}' has {len(data)} bytes, not {size}")
    values = struct.unpack(f"<{len(data) // size}{code}", data)
    if attribute.is_vector:
        return values
    return _checked_enum(attribute, values[0]) if attribute.enum else values[0]


def to_custom(op: Operator) -> Custom:
    """Converts one of mslite's operators to a Custom node for a file.

    MindSpore Lite reads attributes of its own Custom types by position, so all attributes of these are written.
    """
    declaration = op.declaration
    foreign = not (declaration.custom_type or "").startswith(_OUR_PREFIX)
    attributes = []
    for attribute in declaration.attributes:
        value = getattr(op, attribute.name)
        if value is None:
            continue
        data = _encode(attribute, value)
        if foreign or is_reference(attribute) or data != _encode(attribute, attribute.default):
            attributes.append((attribute.wire_name, data))
    return Custom(type=declaration.custom_type, attr=tuple(attributes) or None)


def from_custom(node: Custom) -> Operator:
    """Converts a Custom node to mslite's operator of that type; returns other nodes unchanged.

    A node of a type that other software also writes is not changed if its attributes have another encoding.
    """
    cls = _CUSTOM_TYPES.get(node.type or "")
    if cls is None:
        return node
    if (node.type or "").startswith(_OUR_PREFIX):
        return _from_custom(cls, node)
    try:
        op = _from_custom(cls, node)
    except FlatBufferError:
        return node
    return op if to_custom(op) == node else node


def _from_custom(cls: type[Operator], node: Custom) -> Operator:
    known = {attribute.wire_name: attribute for attribute in cls.declaration.attributes}
    values = {}
    for name, data in node.attr or ():
        if name not in known:
            raise FlatBufferError(f"operator {node.type} has the attribute '{name}', which is unknown in this version")
        values[known[name].name] = _decode(known[name], data or b"")
    return cls(**values)


def write_operator(builder: flatbuffers.Builder, op: Operator) -> int:
    """Writes the Primitive table of an operator and returns its offset."""
    if op.declaration.wire_id >= FIRST_CUSTOM_ID:
        op = to_custom(op)
    attributes = op.declaration.attributes
    references: dict[int, int] = {}
    for attribute in attributes:
        value = getattr(op, attribute.name)
        if is_reference(attribute) and value is not None:
            references[attribute.slot] = write_reference(builder, attribute, value)
    builder.StartObject(max((attribute.slot for attribute in attributes), default=-1) + 1)
    for slot, offset in references.items():
        builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    for attribute in attributes:
        if not is_reference(attribute):
            write_scalar(builder, attribute, getattr(op, attribute.name))
    table = builder.EndObject()
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(1, table, 0)
    builder.PrependUint8Slot(0, op.declaration.wire_id, 0)
    return int(builder.EndObject())


def read_operator(primitive: Table) -> Operator:
    """Reads the operator of a Primitive table. Raises FlatBufferError."""
    number = int(primitive.scalar(0, "ubyte"))
    table = primitive.table(1)
    cls = OPERATORS_BY_ID.get(number)
    if table is None or number == 0:
        raise FlatBufferError("it has no operator")
    if cls is None:
        raise FlatBufferError(f"operator number {number} is unknown")
    try:
        op = cls(**{a.name: read_attribute(table, a) for a in cls.declaration.attributes})
        return from_custom(op) if isinstance(op, Custom) else op
    except FlatBufferError as error:
        raise FlatBufferError(f"{cls.__name__}: {error}") from None


def primitive_bytes(op: Operator) -> bytes:
    """Returns a FlatBuffer with the Primitive table of `op` as root, for the native module."""
    builder = flatbuffers.Builder(256)
    builder.Finish(write_operator(builder, op))
    return bytes(builder.Output())


def read_primitive(buffer: bytes | bytearray | memoryview) -> Operator:
    """Reads the FlatBuffer of `primitive_bytes`. Raises MindirFormatError."""
    try:
        return read_operator(Source(buffer).root())
    except FlatBufferError as error:
        raise MindirFormatError(f"the operator cannot be read: {error}") from None

"""Creates protobuf message classes from tables of published field numbers, and parses files with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]

Message = Any
"""A protobuf message; the protobuf package has no type information."""

Messages = Mapping[str, Mapping[str, tuple[int, str]]]
"""Message -> field -> (number, `[repeated ]<scalar, message or enum>[ packed][ = default]`)."""

Enums = Mapping[str, Mapping[str, int]]
"""Enum -> identifier -> number."""

_FIELD = descriptor_pb2.FieldDescriptorProto
_POSITION = re.compile(r"^\d+:\d+ : ")
_SCALARS = {
    name: getattr(_FIELD, f"TYPE_{name.upper()}")
    for name in (
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
    )
}


class ProtobufError(ValueError):
    """Invalid bytes or text for a message; `str()` is the reason."""


class UnknownField(ProtobufError):
    """Text with a field that the message does not have."""


def declare(package: str, messages: Messages, enums: Enums | None = None) -> dict[str, type[Message]]:
    """Returns the message classes of a proto2 file, described by tables, by the names in `messages`.

    A dotted name (`PoolingParameter.PoolMethod`) is nested in the message before the dot; fields refer to types by
    their full names in the tables. Fields have presence (`HasField`). Enums are closed: a number without an identifier
    is parsed as an absent field; declare such a field as `int32` if newer files may contain other numbers. Declare a
    map as a repeated message of `key` = 1 and `value` = 2, and a oneof as its plain fields. A packed `repeated` scalar
    may be declared as `repeated bytes`, to get its little-endian contents without creating Python numbers. The classes
    are in a separate pool and never conflict with other definitions of the same names in the process. Raises TypeError
    for invalid tables.
    """
    enums = enums or {}
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    declared: dict[str, Message] = {}
    for name in sorted(messages, key=lambda name: name.count(".")):
        scope, _, last = name.rpartition(".")
        message = declared[scope].nested_type.add(name=last) if scope else file.message_type.add(name=last)
        declared[name] = message
        for field, (number, spelling) in messages[name].items():
            _add_field(message, field, number, spelling, package, messages, enums)
    for name, identifiers in enums.items():
        scope, _, last = name.rpartition(".")
        enum = declared[scope].enum_type.add(name=last) if scope else file.enum_type.add(name=last)
        for identifier, number in identifiers.items():
            enum.value.add(name=identifier, number=number)
        if len(set(identifiers.values())) < len(identifiers):
            enum.options.allow_alias = True
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages}


def _add_field(
    message: Message, name: str, number: int, spelling: str, package: str, messages: Messages, enums: Enums
) -> None:
    kind, _, default = (part.strip() for part in spelling.partition("="))
    words = kind.split()
    field = message.field.add(name=name, number=number, label=_FIELD.LABEL_OPTIONAL)
    if words[:1] == ["repeated"]:
        field.label = _FIELD.LABEL_REPEATED
        del words[0]
    if words[1:] == ["packed"]:
        field.options.packed = True
    elif len(words) != 1:
        raise TypeError(f"{message.name}.{name}: '{spelling}' is not a field type")
    if words[0] in _SCALARS:
        field.type = _SCALARS[words[0]]
    elif words[0] in messages or words[0] in enums:
        field.type = _FIELD.TYPE_MESSAGE if words[0] in messages else _FIELD.TYPE_ENUM
        field.type_name = f".{package}.{words[0]}"
    else:
        raise TypeError(f"{message.name}.{name}: the type '{words[0]}' does not exist")
    if default:
        field.default_value = default


def parse_binary(message_class: type[Message], content: bytes) -> Message:
    """Parses a binary message. Raises ProtobufError, also for messages that are nested more than 100 deep."""
    message = message_class()
    if len(content) > 2**31 - 1:
        raise ProtobufError("it has more than 2 GiB, the limit of protobuf files")
    try:
        message.ParseFromString(content)
    except (DecodeError, EncodeError, RecursionError, UnicodeDecodeError):
        raise ProtobufError("the file is cut off or damaged, or is another kind of file") from None
    return message


def parse_text(
    message_class: type[Message], content: bytes | str, *, first_line: int = 1, skip_unknown: bool = False
) -> Message:
    """Parses a message in protobuf's text format (UTF-8). `first_line` is the number of the first line, for errors.

    Unknown fields are skipped with `skip_unknown`, else they raise UnknownField. All other errors raise ProtobufError,
    with the line.
    """
    message = message_class()
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        text_format.Parse(text, message, allow_unknown_field=skip_unknown)
    except UnicodeDecodeError as error:
        raise ProtobufError(f"it is not UTF-8 text (byte {error.start})") from None
    except text_format.ParseError as error:
        reason = clean(_POSITION.sub("", str(error))).rstrip(".")
        line = f"line {first_line - 1 + error.GetLine()}: " if error.GetLine() else ""
        kind = UnknownField if "has no field named" in reason else ProtobufError
        raise kind(f"{line}{reason}") from None
    except RecursionError:
        raise ProtobufError("its messages are nested too deeply") from None
    except (ValueError, TypeError, OverflowError) as error:  # numbers outside their type
        raise ProtobufError(clean(str(error))) from None
    return message


def clean(text: str, limit: int = 300) -> str:
    """Returns one printable line of a message that may quote the file."""
    line = "".join(character if character.isprintable() else "?" for character in text)
    return line if len(line) <= limit else line[:limit] + "..."


def identifier(message: Message, field: str) -> str:
    """Returns the identifier of an enum field's value (of the default if the field is absent)."""
    name: str = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number[getattr(message, field)].name
    return name

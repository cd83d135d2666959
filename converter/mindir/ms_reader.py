"""Reads `.ms` files into the tables of `ops/tables.py`, lossless. Constants are views of the mapped file."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any, cast

from .encrypted import encryption_of
from .flatbuffer import FlatBufferError, Source, Table
from .ops import tables
from .ops.tables import TABLES, MetaGraph, Tensor
from .serialization import MindirFormatError, read_attribute, read_operator
from .upgrade import refuse_removed_operator

IDENTIFIER = b"MSL2"


def map_file(path: str | os.PathLike[str]) -> memoryview:
    """Maps a file into memory and returns a read-only view. Raises OSError."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def read_ms(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> MetaGraph:
    """Reads a `.ms` file (and its `.msw` file, if it has one), or a buffer with its contents.

    Raises MindirFormatError for invalid contents or an unsupported version, OSError if the file cannot be opened.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return _read(memoryview(source), "model buffer", None)
    path = Path(source)
    return _read(map_file(path), str(path), path.parent)


def _read(buffer: memoryview, what: str, directory: Path | None) -> MetaGraph:
    encryption = encryption_of(buffer)
    if encryption is not None:
        raise MindirFormatError(f"{what}: the file is encrypted ({encryption}). Give its key with --decryptKey")
    try:
        source = Source(buffer)
        if source.identifier != IDENTIFIER:
            raise MindirFormatError(f"{what}: {_foreign(source)}")
        root = source.root()
        version = root.text(1) or ""
        meta = cast(MetaGraph, _read_table(root, "MetaGraph", version))
        _load_side_file(meta, directory)
        return meta
    except FlatBufferError as error:
        raise MindirFormatError(f"{what}: the .ms file is damaged: {error}. Convert the model again") from None


def _foreign(source: Source) -> str:
    """Returns the message for a buffer without the identifier MSL2."""
    try:
        version = source.root().text(1) or ""
    except FlatBufferError:
        version = ""
    if version.startswith("MindSpore Lite") or source.identifier == b"MSL1":
        return (
            f"the file was written by {version or 'MindSpore Lite 1.1'}, in the v0 format of versions 1.0 and 1.1, which is "
            "not supported. Convert the source model again with this version"
        )
    return "this is not a .ms file: the identifier MSL2 is missing. Give a file that converter_lite wrote"


def _read_table(table: Table, kind: str, version: str) -> Any:
    values: dict[str, Any] = {}
    for attribute in TABLES[kind]:
        wire, slot = attribute.wire, attribute.slot
        inner = wire.strip("[]")
        if wire == "[ubyte]":
            values[attribute.name] = table.bytes(slot)
        elif wire == "Primitive":
            values[attribute.name] = _read_primitive(table.table(slot), version)
        elif inner not in TABLES:
            values[attribute.name] = read_attribute(table, attribute)
        elif attribute.is_vector:
            items = table.tables(slot)
            values[attribute.name] = None if items is None else _read_all(items, inner, version)
        else:
            child = table.table(slot)
            values[attribute.name] = None if child is None else _read_table(child, inner, version)
    return getattr(tables, kind)(**values)


def _read_all(items: list[Table], kind: str, version: str) -> list[Any]:
    result = []
    for index, item in enumerate(items):
        try:
            result.append(_read_table(item, kind, version))
        except FlatBufferError as error:
            raise FlatBufferError(f"{kind} {index}: {error}") from None
    return result


def _read_primitive(table: Table | None, version: str) -> Any:
    if table is None:
        return None
    refuse_removed_operator(int(table.scalar(0, "ubyte")), version)
    return read_operator(table)


def _load_side_file(meta: MetaGraph, directory: Path | None) -> None:
    """Sets the data of tensors in a side file to views of that file."""
    files: dict[str, memoryview] = {}
    for index, tensor in enumerate(meta.allTensors or ()):
        if not tensor.externalData or tensor.data is not None:
            continue
        tensor.data = _external(tensor, index, directory, files)
        tensor.externalData = None


def _external(tensor: Tensor, index: int, directory: Path | None, files: dict[str, memoryview]) -> memoryview:
    who = f"tensor {index} '{tensor.name or ''}'"
    records = tensor.externalData or []
    if len(records) != 1:
        raise FlatBufferError(f"{who} has {len(records)} positions in side files; one is allowed")
    record = records[0]
    location = record.location or ""
    if not location or location in (".", "..") or "/" in location or "\\" in location or "\0" in location:
        raise FlatBufferError(f"{who} refers to the side file {location!r}, which is not a plain file name")
    if directory is None:
        raise FlatBufferError(
            f"{who} is stored in '{location}'; a model with a side file must be read by path, not from memory"
        )
    if location not in files:
        try:
            files[location] = map_file(directory / location)
        except OSError as error:
            raise FlatBufferError(f"its side file '{location}' cannot be opened: {error.strerror}") from None
    view = files[location]
    if record.offset < 0 or record.length < 0 or record.offset + record.length > len(view):
        raise FlatBufferError(
            f"{who}: bytes {record.offset} to {record.offset + record.length} are outside of '{location}' "
            f"({len(view)} bytes)"
        )
    return view[record.offset : record.offset + record.length]

"""Writes `.ms` files. The FlatBuffers builder writes the tables, with placeholders for the offsets of constants; the
bytes of
constants are then copied directly to the file, after the tables."""

from __future__ import annotations

import dataclasses
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import flatbuffers
import numpy as np

from .atomic import write_files_atomically
from .digest import MAX_BYTES, write_hashed, write_with_digest
from .ms_reader import IDENTIFIER
from .ops.enums import DataType
from .ops.tables import TABLES, Buffer, ExternalData, MetaGraph, Tensor
from .serialization import is_reference, write_numbers, write_offsets, write_operator, write_scalar

SIDE_FILE_LIMIT = 1 << 31
"""From this size of the `.ms` file on, constants are written to a `.msw` file."""

_ALIGNMENT = 16
_SIDE_HEADER = 4096
_SIDE_MAGIC = 0x12345678


@dataclass(frozen=True)
class _Open:
    """An offset to be filled in: its position, from the end of the tables, and the data it refers to."""

    from_end: int
    data: Buffer


def contiguous(data: Buffer) -> memoryview:
    """Returns the contiguous bytes of a buffer: a view, or a copy if the buffer is strided."""
    view = memoryview(data)
    if view.nbytes == 0:
        return memoryview(b"")
    if view.c_contiguous:
        return view.cast("B")
    return np.ascontiguousarray(np.asarray(view)).reshape(-1).view(np.uint8).data


def _write_table(builder: flatbuffers.Builder, kind: str, record: Any, opened: list[_Open]) -> int:
    attributes = TABLES[kind]
    references: dict[int, int] = {}
    late: dict[int, Buffer] = {}
    for attribute in attributes:
        value = getattr(record, attribute.name)
        inner = attribute.wire.strip("[]")
        if value is None or not (is_reference(attribute) or inner in TABLES or inner == "Primitive"):
            continue
        if inner == "ubyte" and memoryview(value).nbytes:
            late[attribute.slot] = value
        elif inner == "ubyte":
            references[attribute.slot] = builder.CreateByteVector(b"")
        elif inner == "Primitive":
            references[attribute.slot] = write_operator(builder, value)
        elif inner == "string":
            references[attribute.slot] = builder.CreateString(value)
        elif inner in TABLES:
            items = [_write_table(builder, inner, item, opened) for item in value]
            references[attribute.slot] = write_offsets(builder, items)
        else:
            references[attribute.slot] = write_numbers(builder, inner, value)
    builder.StartObject(attributes[-1].slot + 1)
    for slot, offset in references.items():
        builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    for slot, data in late.items():
        builder.PrependUint32(0)
        builder.Slot(slot)
        opened.append(_Open(builder.Offset(), data))
    for attribute in attributes:
        inner = attribute.wire.strip("[]")
        if not (is_reference(attribute) or inner in TABLES or inner == "Primitive"):
            write_scalar(builder, attribute, getattr(record, attribute.name))
    return int(builder.EndObject())


@dataclass(frozen=True)
class _Layout:
    """The finished tables, the data after them as (padding, data), and the total size."""

    head: bytes
    tail: list[tuple[int, Buffer]]
    size: int


def _lay_out(meta: MetaGraph) -> _Layout:
    builder = flatbuffers.Builder(1 << 16)
    opened: list[_Open] = []
    builder.Finish(_write_table(builder, "MetaGraph", meta, opened), IDENTIFIER)
    head = builder.Output()
    position = len(head)
    tail = []
    for field in opened:
        padding = -(position + 4) % _ALIGNMENT
        position += padding
        at = len(head) - field.from_end
        if position < 1 << 32:
            struct.pack_into("<I", head, at, position - at)
        tail.append((padding, field.data))
        position += 4 + memoryview(field.data).nbytes
    return _Layout(bytes(head), tail, position)


def _stream(layout: _Layout, file: IO[bytes], digest: bool = False, side: bytes = b"", side_name: str = "") -> None:
    def write(file: IO[bytes]) -> None:
        file.write(layout.head)
        for padding, data in layout.tail:
            view = contiguous(data)
            file.write(b"\0" * padding + struct.pack("<I", len(view)))
            file.write(view)

    if digest:
        write_with_digest(file, write, side, side_name)
    else:
        write(file)


def ms_bytes(meta: MetaGraph) -> bytes:
    """Returns the `.ms` file as bytes. Raises ValueError for a model of 2 GiB or more."""
    layout = _lay_out(meta)
    if layout.size >= SIDE_FILE_LIMIT:
        raise ValueError("a model of 2 GiB or more cannot be one buffer; write it to a file")
    pieces = [layout.head]
    for padding, data in layout.tail:
        view = contiguous(data)
        pieces += [b"\0" * padding + struct.pack("<I", len(view)), bytes(view)]
    return b"".join(pieces)


def write_ms(
    meta: MetaGraph,
    path: str | os.PathLike[str],
    side_file_limit: int = SIDE_FILE_LIMIT,
    digest: bool = False,
    check: Callable[[Path], None] | None = None,
) -> list[Path]:
    """Writes `meta` to `path`, readable by its owner only, and returns the files.

    From `side_file_limit` bytes on, constants are written to a `.msw` file in the same folder. Either all files are
    written or none. `digest`: appends the SHA-256 of both to the `.ms` file. `check` is called with the temporary path
    of a `.ms` file without a `.msw` file; if it raises, nothing is written. Raises OSError and the errors of
    `check`."""
    path = Path(path)
    layout = _lay_out(meta)
    more = MAX_BYTES if digest else 0
    if layout.size + more < side_file_limit:
        write_files_atomically({path: lambda file: _stream(layout, file, digest)}, owner_only=True, check=check)
        return [path]
    side = path.with_suffix(".msw")
    moved, outside = _moved_out(meta, side.name)
    tables = _lay_out(moved)
    if tables.size + more >= SIDE_FILE_LIMIT:
        raise ValueError(f"{path}: the model has 2 GiB or more without its constants, which .ms files do not support")
    found = b""

    def write_constants(file: IO[bytes]) -> None:
        file.write(struct.pack("<II", _SIDE_MAGIC, tables.head[0]).ljust(_SIDE_HEADER, b"\0"))
        for tensor in outside:
            file.write(contiguous(tensor.data or b""))

    def write_side_file(file: IO[bytes]) -> None:
        nonlocal found
        found = write_hashed(file, write_constants)

    def write_model(file: IO[bytes]) -> None:  # after the side file
        _stream(tables, file, digest, found, side.name)

    write_files_atomically({side: write_side_file if digest else write_constants, path: write_model}, owner_only=True)
    return [path, side]


def _moved_out(meta: MetaGraph, location: str) -> tuple[MetaGraph, list[Tensor]]:
    """Returns a copy of the model with its constants in the side file, and these constants in order."""
    tensors, outside, offset = [], [], _SIDE_HEADER
    for tensor in meta.allTensors or ():
        if tensor.nodeType == 2 or tensor.dataType == DataType.TENSOR_LIST:
            tensors.append(tensor)
            continue
        data = memoryview(tensor.data or b"")
        first = contiguous(data)[0] if data.nbytes and data.c_contiguous else 0
        record = ExternalData(checkSum=str(first), location=location, offset=offset, length=data.nbytes)
        tensors.append(dataclasses.replace(tensor, data=None, externalData=[record]))
        outside.append(tensor)
        offset += data.nbytes
    return dataclasses.replace(meta, allTensors=tensors), outside

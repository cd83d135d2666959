"""Writes `.mindir` files: one file, or for large models a graph file and a folder of data."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from mslite.converter.mindir.atomic import write_files_atomically
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.protobuf import Message

from .writer import model_proto

SPLIT_LIMIT = 1 << 30
"""Size of all constants in bytes from which on they are written to data files, as in MindSpore."""

_SUFFIX = ".mindir"
_ALIGNMENT = 64


def save_mindir(module: Module, layout: Format, path: Path, split_limit: int = SPLIT_LIMIT) -> list[Path]:
    """Writes `<name>.mindir`; from `split_limit` bytes of constants on, `<name>_graph.mindir`,
    `<name>_variables/data_0`.

    Writes all files or none, and returns their paths. Raises OSError, and ConversionError for values that the format
    does not support.
    """
    if _constant_bytes(module) < split_limit:
        content = model_proto(module, layout, _store_inside).SerializeToString(deterministic=True)
        write_files_atomically({path: lambda file: _write(file, content)}, owner_only=True)
        return [path]
    stem = path.name.removesuffix(_SUFFIX)
    folder = path.with_name(f"{stem}_variables")
    data = _DataFile(f"{folder.name}/data_0")
    content = model_proto(module, layout, data.store).SerializeToString(deterministic=True)
    folder.mkdir(exist_ok=True)
    graph_file, data_file = path.with_name(f"{stem}_graph{_SUFFIX}"), folder / "data_0"
    write_files_atomically({data_file: data.write, graph_file: lambda file: _write(file, content)}, owner_only=True)
    return [graph_file, data_file]


def _constant_bytes(module: Module) -> int:
    values = {id(value): value for graph in module.graphs for value in graph.values()}
    return sum(0 if value.data is None else value.data.nbytes for value in values.values())


def _write(file: IO[bytes], content: bytes) -> None:
    file.write(content)


def _store_inside(tensor: Message, data: bytes) -> None:
    tensor.raw_data = data


class _DataFile:
    """A data file: a header of 64 bytes (byte 0 is 1: little-endian), then the constants, aligned."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._parts: list[bytes] = [b"\x01".ljust(_ALIGNMENT, b"\0")]
        self._size = _ALIGNMENT

    def store(self, tensor: Message, data: bytes) -> None:
        record = tensor.external_data
        record.location, record.offset, record.length = self._location, self._size, len(data)
        padded = data.ljust(-(-len(data) // _ALIGNMENT) * _ALIGNMENT, b"\0")
        self._parts.append(padded)
        self._size += len(padded)

    def write(self, file: IO[bytes]) -> None:
        for part in self._parts:
            file.write(part)

"""The tables of the `.ms` format, except those of operators.

These dataclasses have the fields and names of the schema, so that reading and writing a file is lossless. `None` means
that a vector, string or table is missing. `converter.mindir.graph` has a more convenient form.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

from ._declare import (
    Attribute,
    Operator,
    attributes_of,
    boolean,
    enum,
    integer,
    long,
    real,
    text,
)
from .enums import Format, QuantType, WeightQuantCompressType

Buffer = bytes | bytearray | memoryview
"""Bytes of a constant. The reader returns views of the file; the writer accepts any of these."""

TABLES: dict[str, tuple[Attribute, ...]] = {}
"""The tables with their fields, in the order of declaration (a table is declared before its users)."""


def _field(slot: int, wire: str, default: Any = None, always_stored: bool = False) -> Any:
    metadata = {"slot": slot, "wire": wire, "enum": None, "wire_name": None, "always_stored": always_stored}
    return dataclasses.field(default=default, metadata=metadata)


def double(slot: int, default: float = 0.0, always_stored: bool = False) -> Any:
    return _field(slot, "double", default, always_stored)


def unsigned(slot: int) -> Any:
    return _field(slot, "uint", 0)


def unsigneds(slot: int) -> Any:
    return _field(slot, "[uint]")


def integers(slot: int) -> Any:
    return _field(slot, "[int]")


def reals(slot: int) -> Any:
    return _field(slot, "[float]")


def buffer(slot: int) -> Any:
    return _field(slot, "[ubyte]")


def one(slot: int, table: str) -> Any:
    return _field(slot, table)


def many(slot: int, table: str) -> Any:
    return _field(slot, f"[{table}]")


_T = TypeVar("_T")


@dataclass_transform(kw_only_default=True)
def table() -> Callable[[type[_T]], type[_T]]:
    """Declares a table."""

    def declare(cls: type[_T]) -> type[_T]:
        declared = dataclass(kw_only=True)(cls)
        TABLES[cls.__name__] = attributes_of(declared)
        return declared

    return declare


@table()
class QuantParam:
    """Quantization parameters: real = scale * (q - zeroPoint); per-channel values are then multiplied by varCorr, plus
    meanCorr."""

    scale: float = double(0, 1.0, always_stored=True)
    """Always stored, because readers of versions 1.2 to 1.5 have the default 0."""
    zeroPoint: int = integer(1)
    min: float = double(2)
    max: float = double(3)
    narrowRange: bool = boolean(4, True)
    numBits: int = integer(5, 8)
    inited: bool = boolean(6)
    """Whether the parameters are valid. MindSpore Lite up to 2.x reads it; mslite ignores it."""
    varCorr: float = real(7, 1.0)
    meanCorr: float = real(8)
    dstDtype: int = integer(9, 32)
    roundType: int = integer(10, 1)
    multiplier: int = integer(11, 1)


@table()
class ExternalData:
    """Position of a constant in the side file of a model of 2 GiB or more."""

    checkSum: str | None = text(0)
    location: str | None = text(1)
    offset: int = long(2)
    length: int = long(3, -1)


@table()
class Tensor:
    """An activation or a constant. nodeType: 0 constant, 1 parameter, 2 activation."""

    nodeType: int = integer(0)
    dataType: int = integer(1)
    dims: tuple[int, ...] | None = integers(2)
    format: Format = enum(3, Format.NCHW)
    refCount: int = integer(4)
    offset: int = integer(5)
    data: Buffer | None = buffer(6)
    quantParams: list[QuantParam] | None = many(7, "QuantParam")
    quantClusters: tuple[float, ...] | None = reals(8)
    name: str | None = text(9)
    enableHuffmanCode: bool = boolean(10)
    weightQuantCompressType: WeightQuantCompressType = enum(11, WeightQuantCompressType.NONE)
    externalData: list[ExternalData] | None = many(12, "ExternalData")


@table()
class CNode:
    """A node. Slot 1 (`nodeType`) is deprecated: mslite keeps it, but does not set it."""

    name: str | None = text(0)
    nodeType: int = integer(1)
    primitive: Operator | None = one(2, "Primitive")
    inputIndex: tuple[int, ...] | None = unsigneds(3)
    outputIndex: tuple[int, ...] | None = unsigneds(4)
    quantType: QuantType = enum(5, QuantType.QUANT_NONE)
    deviceType: int = integer(6, -1)


@table()
class SubGraph:
    """A graph; number 0 is the main graph."""

    name: str | None = text(0)
    inputIndices: tuple[int, ...] | None = unsigneds(1)
    outputIndices: tuple[int, ...] | None = unsigneds(2)
    nodeIndices: tuple[int, ...] | None = unsigneds(3)
    tensorIndices: tuple[int, ...] | None = unsigneds(4)


@table()
class MetaGraph:
    """The root of a `.ms` file."""

    name: str | None = text(0)
    version: str | None = text(1)
    fmkType: int = integer(2)
    inputIndex: tuple[int, ...] | None = unsigneds(3)
    outputIndex: tuple[int, ...] | None = unsigneds(4)
    mempoolSize: int = unsigned(5)
    nodes: list[CNode] | None = many(6, "CNode")
    allTensors: list[Tensor] | None = many(7, "Tensor")
    subGraph: list[SubGraph] | None = many(8, "SubGraph")
    obfuscate: bool = boolean(9)
    obfMetaData: Buffer | None = buffer(10)

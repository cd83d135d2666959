"""The model-level tables of the `.ms` format: what a file holds besides operators.

These dataclasses mirror the file field by field, under the schema's own names, so that reading and writing one
loses nothing. `None` means that a vector, string or table is absent. `converter.mindir.graph` is the comfortable view.
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
"""Bytes of a constant. A reader hands out views of the file; a writer takes any of these."""

TABLES: dict[str, tuple[Attribute, ...]] = {}
"""Every model-level table with its fields, in the order of declaration (a table comes before its users)."""


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
    """Declares a model-level table."""

    def declare(cls: type[_T]) -> type[_T]:
        declared = dataclass(kw_only=True)(cls)
        TABLES[cls.__name__] = attributes_of(declared)
        return declared

    return declare


@table()
class QuantParam:
    """One linear quantization record: real = scale * (q - zeroPoint), per channel then * varCorr + meanCorr."""

    scale: float = double(0, 1.0, always_stored=True)
    """Where it is absent, readers of versions 1.2 to 1.5 take 0."""
    zeroPoint: int = integer(1)
    min: float = double(2)
    max: float = double(3)
    narrowRange: bool = boolean(4, True)
    numBits: int = integer(5, 8)
    inited: bool = boolean(6)
    """The record counts. The original's readers up to 2.x look at it; to ours a record that is there counts."""
    varCorr: float = real(7, 1.0)
    meanCorr: float = real(8)
    dstDtype: int = integer(9, 32)
    roundType: int = integer(10, 1)
    multiplier: int = integer(11, 1)


@table()
class ExternalData:
    """Where a constant lives in the side file of a model that does not fit into 2 GiB."""

    checkSum: str | None = text(0)
    location: str | None = text(1)
    offset: int = long(2)
    length: int = long(3, -1)


@table()
class Tensor:
    """An activation or a constant; nodeType 0 constant, 1 parameter, 2 activation."""

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
    """One operator call. Slot 1 (`nodeType`) is deprecated: read, kept, never set by us."""

    name: str | None = text(0)
    nodeType: int = integer(1)
    primitive: Operator | None = one(2, "Primitive")
    inputIndex: tuple[int, ...] | None = unsigneds(3)
    outputIndex: tuple[int, ...] | None = unsigneds(4)
    quantType: QuantType = enum(5, QuantType.QUANT_NONE)
    deviceType: int = integer(6, -1)


@table()
class SubGraph:
    """One executable graph; number 0 is the main one."""

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

"""Signatures of a file: names of the inputs and outputs of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mslite.converter.mindir.flatbuffer import FlatBufferError, Table

Names = tuple[tuple[str, int], ...]
"""Pairs of name and tensor index."""


@dataclass(frozen=True)
class Signature:
    """A signature with the key `key`: names of the inputs and outputs of graph `number`."""

    key: str
    number: int
    inputs: Names
    outputs: Names

    def __str__(self) -> str:
        sides = (", ".join(name for name, _ in names) or "none" for names in (self.inputs, self.outputs))
        return f"'{self.key}' ({' -> '.join(sides)})"


def read_signatures(tables: Sequence[Table], graphs: int) -> tuple[Signature, ...]:
    """Reads the signatures. Raises FlatBufferError if a signature refers to a missing graph."""
    found = []
    for table in tables:
        key, number = table.text(2) or "", int(table.scalar(4, "uint"))
        if number >= graphs:
            raise FlatBufferError(f"the signature '{key}' refers to graph {number}, but there are {graphs}")
        found.append(Signature(key, number, _names(table, 0), _names(table, 1)))
    return tuple(found)


def _names(table: Table, slot: int) -> Names:
    return tuple((item.text(0) or "", int(item.scalar(1, "uint"))) for item in table.tables(slot) or ())

"""The signatures of a file: names for the inputs and outputs of one of its graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mslite.converter.mindir.flatbuffer import FlatBufferError, Table

Names = tuple[tuple[str, int], ...]
"""Pairs of a name and the index of its tensor."""


@dataclass(frozen=True)
class Signature:
    """The names by which callers know the inputs and outputs of graph `number`."""

    key: str
    number: int
    inputs: Names
    outputs: Names

    def __str__(self) -> str:
        sides = (", ".join(name for name, _ in names) or "none" for names in (self.inputs, self.outputs))
        return f"'{self.key}' ({' -> '.join(sides)})"


def read_signatures(tables: Sequence[Table], graphs: int) -> tuple[Signature, ...]:
    """Raises FlatBufferError for one of a graph that is not there."""
    found = []
    for table in tables:
        key, number = table.text(2) or "", int(table.scalar(4, "uint"))
        if number >= graphs:
            raise FlatBufferError(f"the signature '{key}' is of graph {number}; there are {graphs}")
        found.append(Signature(key, number, _names(table, 0), _names(table, 1)))
    return tuple(found)


def _names(table: Table, slot: int) -> Names:
    return tuple((item.text(0) or "", int(item.scalar(1, "uint"))) for item in table.tables(slot) or ())

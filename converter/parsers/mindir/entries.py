"""What a name of a `.mindir` graph can stand for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mslite.converter.mindir.graph import Value
from mslite.converter.parsers.mindir.values import Contents


@dataclass(frozen=True)
class Immediate:
    """A constant that is no tensor: a number, a text, an element type, None, or nested tuples of these."""

    contents: Contents


@dataclass(frozen=True)
class Sequence:
    """A tuple of other things."""

    items: tuple[Entry, ...]


@dataclass(frozen=True)
class Order:
    """An order edge (a monad)."""


@dataclass(frozen=True)
class Closure:
    """A subgraph with its first arguments."""

    graph: int
    arguments: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Choice:
    """The closure that a condition (true first) or an index picks at run time."""

    selector: Value
    branches: tuple[Closure, ...]
    by_index: bool = False


@dataclass(frozen=True)
class Failed:
    """The result of an unsupported node: what reads it is not reported again."""


@dataclass(frozen=True)
class Absent:
    """A result that is not supported: a node that reads it is a blocker."""

    reason: str


Entry = Value | Immediate | Sequence | Order | Closure | Choice | Failed | Absent


def flattened(entries: Iterable[Entry]) -> list[Entry]:
    """The entries with all tuples opened. Constant tuples are opened too."""
    result: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Sequence):
            result += flattened(entry.items)
        elif isinstance(entry, Immediate) and isinstance(entry.contents, tuple):
            result += flattened([Immediate(item) for item in entry.contents])
        else:
            result.append(entry)
    return result

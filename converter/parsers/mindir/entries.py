"""Entries: values, constants, closures and so on that a name in a `.mindir` graph can be bound to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mslite.converter.mindir.graph import Value
from mslite.converter.parsers.mindir.values import Contents


@dataclass(frozen=True)
class Immediate:
    """A constant that is not a tensor: a number, string, data type, None, or nested tuples of these."""

    contents: Contents


@dataclass(frozen=True)
class Sequence:
    """A tuple of entries."""

    items: tuple[Entry, ...]


@dataclass(frozen=True)
class Order:
    """An order edge (a monad)."""


@dataclass(frozen=True)
class Closure:
    """A subgraph with its first arguments bound."""

    graph: int
    arguments: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Choice:
    """A choice of closures at run time, by a condition (the branch for true is first) or by an index."""

    selector: Value
    branches: tuple[Closure, ...]
    by_index: bool = False


@dataclass(frozen=True)
class Failed:
    """The result of an unsupported node; nodes that read it are not reported."""


@dataclass(frozen=True)
class UnsupportedResult:
    """An unsupported result: a node that reads it is a blocker."""

    reason: str


Entry = Value | Immediate | Sequence | Order | Closure | Choice | Failed | UnsupportedResult


def flattened(entries: Iterable[Entry]) -> list[Entry]:
    """Returns the entries with all tuples flattened, including constant tuples."""
    result: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Sequence):
            result += flattened(entry.items)
        elif isinstance(entry, Immediate) and isinstance(entry.contents, tuple):
            result += flattened([Immediate(item) for item in entry.contents])
        else:
            result.append(entry)
    return result

"""Compares two models field by field. Tensors, nodes and graphs are matched by name."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .ms_writer import contiguous
from .ops.tables import CNode, MetaGraph, SubGraph, Tensor

_LISTS = {"allTensors": "tensor", "nodes": "node", "subGraph": "graph"}
"""Fields of MetaGraph with named entries -> the kind of entry."""

_TO_TENSORS = frozenset({"inputIndex", "outputIndex", "inputIndices", "outputIndices", "tensorIndices"})
_TO_NODES = frozenset({"nodeIndices"})
_MAX_NAMES = 8


def differences(left: MetaGraph, right: MetaGraph) -> Iterator[str]:
    """Yields one line per field that differs: `tensor 'conv1'.dims: (1, 2) | (1, 3)`. Entries in another order are one
    line."""
    sides = (_Names(left), _Names(right))
    for field in dataclasses.fields(MetaGraph):
        if field.name not in _LISTS:
            yield from _field(field.name, field.name, left, right, sides)
    for name, kind in _LISTS.items():
        yield from _entries(name, kind, getattr(left, name) or [], getattr(right, name) or [], sides)


class _Names:
    """The unique names of the entries of a model."""

    def __init__(self, meta: MetaGraph) -> None:
        self.tensors = _names(meta.allTensors or [])
        self.nodes = _names(meta.nodes or [])

    def of(self, field: str, indices: Sequence[int]) -> tuple[str, ...]:
        """Returns the names for a list of indices."""
        names = self.nodes if field in _TO_NODES else self.tensors
        return tuple(names[index] if 0 <= index < len(names) else f"#{index}" for index in indices)


def _names(entries: Sequence[Tensor | CNode | SubGraph]) -> list[str]:
    """Returns the names; repeated and empty names get a number."""
    seen: Counter[str] = Counter()
    found = []
    for entry in entries:
        name = entry.name or ""
        seen[name] += 1
        found.append(f"'{name}'" if seen[name] == 1 else f"'{name}' ({seen[name]})")
    return found


def _entries(
    field: str,
    kind: str,
    left: Sequence[Tensor | CNode | SubGraph],
    right: Sequence[Tensor | CNode | SubGraph],
    sides: tuple[_Names, _Names],
) -> Iterator[str]:
    ours, theirs = _names(left), _names(right)
    first, second = dict(zip(ours, left, strict=True)), dict(zip(theirs, right, strict=True))
    for name, entry in first.items():
        if name not in second:
            yield f"{kind} {name}: {_what(entry)} | absent"
    for name, entry in second.items():
        if name not in first:
            yield f"{kind} {name}: absent | {_what(entry)}"
    both = [name for name in ours if name in second]
    if both != [name for name in theirs if name in first]:
        yield f"{field}: in another order"
    for name in both:
        for item in dataclasses.fields(first[name]):
            yield from _field(f"{kind} {name}.{item.name}", item.name, first[name], second[name], sides)


def _what(entry: Tensor | CNode | SubGraph) -> str:
    if isinstance(entry, CNode):
        return entry.primitive.name if entry.primitive is not None else "a node"
    return f"shape {entry.dims}" if isinstance(entry, Tensor) else f"{len(entry.nodeIndices or ())} nodes"


def _field(path: str, name: str, left: Any, right: Any, sides: tuple[_Names, _Names]) -> Iterator[str]:
    one, other = getattr(left, name), getattr(right, name)
    if name not in _TO_TENSORS | _TO_NODES or one is None or other is None:
        yield from _compare(path, one, other)
        return
    ours, theirs = sides[0].of(name, one), sides[1].of(name, other)
    if ours == theirs:
        return
    if Counter(ours) == Counter(theirs):
        yield f"{path}: in another order"
        return
    if len(ours) <= _MAX_NAMES and len(theirs) <= _MAX_NAMES:
        yield f"{path}: {', '.join(ours)} | {', '.join(theirs)}"
        return
    gone, new = list((Counter(ours) - Counter(theirs)).elements()), list((Counter(theirs) - Counter(ours)).elements())
    yield f"{path}: also {_listed(gone)} | also {_listed(new)}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "") or "nothing"


def _compare(path: str, left: Any, right: Any) -> Iterator[str]:
    if isinstance(left, bytes | bytearray | memoryview) and isinstance(right, bytes | bytearray | memoryview):
        text = _bytes_difference(contiguous(left), contiguous(right))
        if text:
            yield f"{path}: {text}"
    elif type(left) is not type(right):
        yield f"{path}: {_short(left)} | {_short(right)}"
    elif dataclasses.is_dataclass(left):
        for field in dataclasses.fields(left):
            yield from _compare(f"{path}.{field.name}", getattr(left, field.name), getattr(right, field.name))
    elif isinstance(left, list):
        if len(left) != len(right):
            yield f"{path}: {len(left)} entries | {len(right)} entries"
        for index, (one, other) in enumerate(zip(left, right, strict=False)):
            yield from _compare(f"{path}[{index}]", one, other)
    elif left != right and not (left != left and right != right):
        yield f"{path}: {_short(left)} | {_short(right)}"


def _bytes_difference(left: memoryview, right: memoryview) -> str:
    if len(left) != len(right):
        return f"{len(left)} bytes | {len(right)} bytes"
    unequal = np.flatnonzero(np.frombuffer(left, np.uint8) != np.frombuffer(right, np.uint8))
    if unequal.size == 0:
        return ""
    return f"{unequal.size} of {len(left)} bytes differ, the first at {int(unequal[0])}"


def _short(value: Any) -> str:
    if value is None:
        return "absent"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{len(value)} bytes"
    if isinstance(value, list):
        return f"{len(value)} entries"
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."

"""What differs between two models, field by field."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from .ms_writer import contiguous
from .ops.tables import MetaGraph


def differences(left: MetaGraph, right: MetaGraph) -> Iterator[str]:
    """One line per field that differs: `allTensors[3] 'conv1'.dims: (1, 2) | (1, 3)`."""
    yield from _compare("", left, right)


def _compare(path: str, left: Any, right: Any) -> Iterator[str]:
    if isinstance(left, bytes | bytearray | memoryview) and isinstance(right, bytes | bytearray | memoryview):
        text = _bytes_difference(contiguous(left), contiguous(right))
        if text:
            yield f"{path}: {text}"
    elif type(left) is not type(right):
        yield f"{path}: {_short(left)} | {_short(right)}"
    elif dataclasses.is_dataclass(left):
        for field in dataclasses.fields(left):
            inner = f"{path}.{field.name}" if path else field.name
            yield from _compare(inner, getattr(left, field.name), getattr(right, field.name))
    elif isinstance(left, list):
        if len(left) != len(right):
            yield f"{path}: {len(left)} entries | {len(right)} entries"
        for index, (one, other) in enumerate(zip(left, right, strict=False)):
            name = getattr(one, "name", None)
            label = f" '{name}'" if isinstance(name, str) else ""
            yield from _compare(f"{path}[{index}]{label}", one, other)
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

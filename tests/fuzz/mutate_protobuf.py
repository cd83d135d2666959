"""Structured mutations of any protobuf message: drops, repeats or exchanges a field, or sets an extreme value."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

INTEGERS = (-1, 0, 1, 2, 3, 7, 64, 1 << 16, (1 << 31) - 1, -(1 << 31), 1 << 32, 1 << 40, (1 << 63) - 1, -(1 << 63))
NUMBERS = (0.0, -1.0, 0.5, 1e-45, 1e38, float("nan"), float("inf"), float("-inf"))
TEXTS = ("", "x", "missing", "a/b", "..", "\0", "\u202e", "n" * 100_000)
_MESSAGE = 11
_UNSIGNED = (4, 6, 7, 13)
_FLOATS, _BOOL, _TEXT, _BYTES, _ENUM = (1, 2), 8, 9, 12, 14
_MAX_PLACES = 4000


def places(message: Any) -> Iterator[tuple[Any, Any]]:
    """Yields each message in it with each set field; a sample for large models."""
    work, count = [message], 0
    while work and count < _MAX_PLACES:
        found = work.pop()
        for field, value in found.ListFields():
            count += 1
            yield found, field
            if field.type == _MESSAGE:
                work.extend(value if _is_repeated(field) else [value])


def _is_repeated(field: Any) -> bool:
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == 3 if repeated is None else repeated)


def _scalar(field: Any, rng: random.Random) -> Any:
    if field.type in _FLOATS:
        return rng.choice(NUMBERS)
    if field.type == _BOOL:
        return rng.random() < 0.5
    if field.type == _TEXT:
        return rng.choice(TEXTS)
    if field.type == _BYTES:
        return rng.choice((b"", b"\xff\xfe", b"\0" * 16, rng.randbytes(8)))
    if field.type == _ENUM:
        return rng.choice(field.enum_type.values).number
    value = rng.choice(INTEGERS)
    return abs(value) if field.type in _UNSIGNED else value


def _change(message: Any, field: Any, rng: random.Random) -> None:
    if not _is_repeated(field):
        if field.type == _MESSAGE or rng.random() < 0.2:
            message.ClearField(field.name)
        else:
            setattr(message, field.name, _scalar(field, rng))
        return
    values = getattr(message, field.name)
    kind, at = rng.randrange(6), rng.randrange(len(values))
    if kind == 0:
        message.ClearField(field.name)
    elif kind == 1:
        del values[at]
    elif kind == 2:
        values.extend([values[at]] * rng.choice((1, 1, 5)))
    elif field.type == _MESSAGE:
        values[at].CopyFrom(values[rng.randrange(len(values))])
    elif kind == 3:
        values.append(_scalar(field, rng))
    elif kind == 4:
        values[at] = values[rng.randrange(len(values))]
    else:
        values[at] = _scalar(field, rng)


def mutate_message(message: Any, rng: random.Random) -> bytes:
    """Returns the bytes of the message with a few changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        found = list(places(message))
        if not found:
            break
        try:
            _change(*rng.choice(found), rng)
        except (ValueError, TypeError):  # the value does not fit the field
            continue
    return bytes(message.SerializeToString())

"""Converts quantized tensors with negative scales to equivalent ones with positive scales."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from .graph import Array
from .ops.tables import QuantParam

_LARGEST = float(np.finfo(np.float32).max)


def has_negative(records: Sequence[QuantParam]) -> bool:
    return any(record.scale < 0 for record in records)


def are_finite(records: Sequence[QuantParam]) -> bool:
    """Returns whether all scales are finite in float32."""
    return all(abs(record.scale) <= _LARGEST for record in records)


def with_positive_scales(
    data: Array, records: Sequence[QuantParam], axis: int
) -> tuple[Array, tuple[QuantParam, ...]] | None:
    """Negates integers and zero points with negative scales: scale * (q - zero) = -scale * (-q + zero).

    `axis` is the dimension of per-channel parameters. Returns None if their number does not match it."""
    data = data.copy()
    parts = _parts(data, len(records), axis)
    if parts is None:
        return None
    turned = [
        dataclasses.replace(record, scale=-record.scale, zeroPoint=_turned(part, record))
        if record.scale < 0
        else record
        for part, record in zip(parts, records, strict=True)
    ]
    return data, tuple(turned)


def _parts(data: Array, count: int, axis: int) -> Sequence[Array] | None:
    """Returns a view for each of the parameters, or None if their number does not match."""
    if count == 1:
        return [data.reshape(-1)]
    if axis < data.ndim and data.shape[axis] == count:
        return np.split(data, count, axis)
    is_grouped = axis == 0 and data.ndim > 0 and data.shape[0] > 0 and count % data.shape[0] == 0
    return list(data.reshape(count, -1)) if is_grouped and data.size % count == 0 else None


def _turned(part: Array, record: QuantParam) -> int:
    """Negates the integers in place; returns the new zero point.

    If an integer has no negative in its type, such as -128, all integers and the zero point are subtracted from the
    sum of the smallest and largest number instead, which also negates the differences to the zero point."""
    kind: np.iinfo[Any] = np.iinfo(part.dtype)
    low, high = int(kind.min), int(kind.max)
    if low < 0 < record.numBits < kind.bits:
        low, high = -(1 << (record.numBits - 1)), (1 << (record.numBits - 1)) - 1
    numbers = [int(part.min()), int(part.max())] if part.size else []
    fits = low < 0 and all(low <= -number <= high for number in (*numbers, record.zeroPoint))
    turn = 0 if fits else low + high
    part[...] = turn - part if turn else np.negative(part)
    return turn - record.zeroPoint

"""Encoders for the packed constants of `.ms` files, written from the description of the format."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
MIN_TABLE_LOG = 4


def bits_of(value: int, width: int) -> str:
    return format(value, f"0{width}b") if width else ""


def in_bytes(bits: str) -> bytes:
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))


def index_width(count: int) -> int:
    return max(count - 1, 0).bit_length()


def value_list(values: Array, width: int) -> str:
    """Writes the number of values (0 for the maximum), then the values with an offset that makes them positive."""
    return bits_of(len(values) % (1 << width), width) + "".join(
        bits_of(int(value) + (1 << (width - 1)), width) for value in values
    )


def bit_packed(q: Array, width: int) -> bytes:
    stream = "".join(bits_of(int(value) + (1 << (width - 1)), width)[::-1] for value in q.reshape(-1))
    word = 8 if width < 8 else 16
    stream += "0" * (-len(stream) % word)
    return bytes(int(stream[at : at + 8][::-1], 2) for at in range(0, len(stream), 8))


def indexed(q: Array, width: int) -> bytes:
    values, places = np.unique(q, return_inverse=True)
    at = index_width(len(values))
    return in_bytes(value_list(values, width) + "".join(bits_of(int(place), at) for place in places.reshape(-1)))


def sparse(q: Array, width: int, zeros: Sequence[int], gap_width: int = 2) -> bytes:
    """Gaps that are too large are split by an entry with the zero point."""
    flat = q.reshape(-1)
    per_channel = flat.size // len(zeros)
    entries: list[tuple[int, int]] = []
    gap = 0
    for position, value in enumerate(flat):
        if value == zeros[position // per_channel] and gap < (1 << gap_width) - 1:
            gap += 1
        else:
            entries.append((gap, int(value)))
            gap = 0
    values = np.unique([value for _, value in entries])
    places = {int(value): place for place, value in enumerate(values)}
    at = index_width(len(values))
    return in_bytes(
        bits_of(gap_width, 8)
        + bits_of(len(entries), 32)
        + value_list(values, width)
        + "".join(bits_of(places[value], at) for _, value in entries)
        + "".join(bits_of(gap, gap_width) for gap, _ in entries)
    )


def huffman(q: Array) -> bytes:
    """Codes of maximally different lengths: 0, 10, 110, ..."""
    keys = [*np.unique(q).tolist(), 128]
    codes = {key: "1" * place + ("0" if place < len(keys) - 1 else "") for place, key in enumerate(keys)}
    table = "".join(f"{key} " for key in keys) + "#" + "".join(f"{codes[key]} " for key in keys) + "#"
    return table.encode() + in_bytes("".join(codes[int(value)] for value in q.reshape(-1)) + codes[128])


def frequencies(counts: Array, size: int) -> Array:
    """Scales counts to the sum `size`, each at least 1; the most frequent symbol compensates the rounding."""
    scaled = np.maximum(counts * size // counts.sum(), 1)
    scaled[scaled.argmax()] += size - scaled.sum()
    return scaled


def entropy_coded(values: Array, centroid_type: str, with_entry_points: bool = False) -> bytes:
    """Finite state entropy coding: states are appended to a bit string that is read from its end."""
    symbols, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    table_log = max(MIN_TABLE_LOG, len(symbols).bit_length() + 3)
    size = 1 << table_log
    frequency = frequencies(counts, size)
    spread, position = np.zeros(size, np.int64), 0
    for symbol, count in enumerate(frequency):
        for _ in range(count):
            spread[position] = symbol
            position = (position + size // 2 + size // 8 + 3) % size
    # Slot i of a symbol represents the state f + i, where f is the count of the symbol.
    slots = [np.flatnonzero(spread == symbol) for symbol in range(len(symbols))]
    stream, state = "", size
    for symbol in places.reshape(-1):
        width = 0
        while state >> width >= 2 * frequency[symbol]:
            width += 1
        stream += bits_of(state & ((1 << width) - 1), width)
        state = size + int(slots[symbol][(state >> width) - frequency[symbol]])
    stream += bits_of(state - size, table_log)
    last = len(stream) % 64 or 64
    chunks = (len(stream) + 63) // 64
    stream += "0" * (chunks * 64 - len(stream))
    words = [int(stream[at : at + 64], 2) for at in range(0, len(stream), 64)]
    data = struct.pack(f"<HHI{len(symbols)}I", len(symbols), table_log, chunks, *frequency)
    data += b"\0" * (-len(data) % 8)
    data += struct.pack(f"<{len(symbols)}{centroid_type}", *symbols.tolist())
    data += b"\0" * (-len(data) % 8)
    data += struct.pack(f"<{chunks}QB", *words, last)
    if with_entry_points:
        data += b"\0" * (-len(data) % 4) + struct.pack("<IQ", 1, 0)
    return data

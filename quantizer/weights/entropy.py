"""Finite state entropy coding of constants (FSE): a table-driven asymmetric numeral system.

The data has the frequencies, the value of each symbol (`centroids`), and a bit stream. The decoder reads the stream
from its end, so it decodes the last element first.
"""

from __future__ import annotations

import struct
from array import array

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array

MAX_SYMBOLS = 65534
_MIN_TABLE_LOG = 4
_MAX_TABLE_LOG = 16
_CHUNK = 1 << 18

Integers = npt.NDArray[np.int64]


def _table_log(symbols: int) -> int:
    return max(_MIN_TABLE_LOG, min(_MAX_TABLE_LOG, symbols.bit_length() + 3))


def _frequencies(counts: Integers, size: int) -> Integers:
    """Scales counts to the sum `size`, each at least 1. The most frequent symbols absorb the rounding difference."""
    scaled: Integers = np.maximum(counts * size // counts.sum(), 1)
    difference = size - int(scaled.sum())
    while difference:
        largest = int(scaled.argmax())
        change = difference if difference > 0 else max(difference, 1 - int(scaled[largest]))
        scaled[largest] += change
        difference -= change
    return scaled


def _states(frequencies: Integers, size: int) -> Integers:
    """Returns the table slots of all symbols, ascending for each symbol; those of s start at sum(frequencies[:s])."""
    step = size // 2 + size // 8 + 3
    positions = np.arange(size, dtype=np.int64) * step % size
    spread = np.zeros(size, np.int64)
    spread[positions] = np.repeat(np.arange(frequencies.size), frequencies)
    return np.asarray(np.argsort(spread, kind="stable"))


def entropy_coded(places: Array, centroids: Array, entry_points: bool = False) -> bytes:
    """Encodes `places`, the index of each element in `centroids` (float32 or int32). Every centroid must occur.

    `entry_points` adds the table of FSE_INFER with one entry, the start. Raises ValueError for too many symbols.
    """
    symbols = centroids.size
    if not 0 < symbols <= MAX_SYMBOLS:
        raise ValueError(f"{symbols} different values; entropy coding supports 1 to {MAX_SYMBOLS}")
    flat = places.reshape(-1)
    table_log = _table_log(symbols)
    size = 1 << table_log
    frequencies = _frequencies(np.bincount(flat, minlength=symbols).astype(np.int64), size)
    words, last_bits = _encoded(flat, frequencies, table_log)
    data = struct.pack("<HHI", symbols, table_log, words.size) + frequencies.astype("<u4").tobytes()
    data += b"\0" * (-len(data) % 8)
    data += centroids.astype("<f4" if centroids.dtype.kind == "f" else "<i4").tobytes()
    data += b"\0" * (-len(data) % 8)
    data += words.astype("<u8").tobytes() + struct.pack("<B", last_bits)
    if entry_points:
        data += b"\0" * (-len(data) % 4) + struct.pack("<IQ", 1, 0)
    return data


def _encoded(flat: Array, frequencies: Integers, table_log: int) -> tuple[npt.NDArray[np.uint64], int]:
    """Returns the bit stream as 64-bit words, most significant bit first, and the number of bits in the last word."""
    size = 1 << table_log
    first = np.cumsum(frequencies) - frequencies
    # A state x in [size, 2 size) outputs `width` bits, so that x >> width is in [f, 2 f). The width is `wide` or
    # `wide` - 1; a comparison of x with (f << wide) selects it.
    wide = np.array([table_log - (int(f).bit_length() - 1) for f in frequencies], np.int64)
    limits = (frequencies << wide).tolist()
    widths, offsets = wide.tolist(), (first - frequencies).tolist()
    slots = (_states(frequencies, size) + size).tolist()
    state = size
    pieces: list[npt.NDArray[np.uint8]] = []
    words: list[npt.NDArray[np.uint64]] = []
    left: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)
    for begin in range(0, flat.size, _CHUNK):
        taken, lows = array("B"), array("H")
        for symbol in flat[begin : begin + _CHUNK].tolist():
            width = widths[symbol]
            if state < limits[symbol]:
                width -= 1
            taken.append(width)
            lows.append(state & ((1 << width) - 1))
            state = slots[offsets[symbol] + (state >> width)]
        pieces = [left, _bits(np.frombuffer(lows, np.uint16), np.frombuffer(taken, np.uint8))]
        stream = np.concatenate(pieces)
        whole = stream.size // 64 * 64
        words.append(_words(stream[:whole]))
        left = stream[whole:]
    tail = _bits(np.array([state - size], np.uint16), np.array([table_log], np.uint8))
    stream = np.concatenate([left, tail])
    words.append(_words(np.concatenate([stream, np.zeros(-stream.size % 64, np.uint8)])))
    return np.concatenate(words), stream.size % 64 or 64


def _bits(values: npt.NDArray[np.uint16], widths: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Concatenates the lowest `widths` bits of each value, most significant bit first."""
    sizes = widths.astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    stream = np.zeros(int(sizes.sum()), np.uint8)
    for depth in range(int(sizes.max()) if sizes.size else 0):
        reach = sizes > depth
        stream[starts[reach] + depth] = values[reach].astype(np.int64) >> (sizes[reach] - 1 - depth) & 1
    return stream


def _words(stream: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    return np.frombuffer(np.packbits(stream).tobytes(), ">u8").astype(np.uint64)

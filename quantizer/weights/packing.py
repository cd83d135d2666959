"""Encodings of integer constants in `.ms` files. The runtime decodes them when it loads a model.

All functions take integers `q` of `bits` bits in any shape, and process them in chunks of bounded memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array

Bits = npt.NDArray[np.uint8]

_CHUNK = 1 << 16
_GAP_WIDTHS = range(2, 11)
_END_MARK = 128


class BitWriter:
    """Writes a bit stream, most significant bit first."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._left: Bits = np.zeros(0, np.uint8)

    def add(self, bits: Bits) -> None:
        joined = np.concatenate([self._left, bits])
        whole = joined.size // 8 * 8
        self._bytes += np.packbits(joined[:whole]).tobytes()
        self._left = joined[whole:]

    def number(self, value: int, width: int) -> None:
        self.numbers(np.array([value], np.int64), width)

    def numbers(self, values: Array, width: int) -> None:
        """Appends unsigned integers of `width` bits each."""
        shifts = np.arange(width - 1, -1, -1, dtype=np.int64)
        for part in _parts(values.reshape(-1)):
            self.add((part.astype(np.int64)[:, None] >> shifts & 1).astype(np.uint8).reshape(-1))

    def finish(self) -> bytes:
        """Returns all bits, padded with zeros to a whole byte."""
        return bytes(self._bytes) + np.packbits(self._left).tobytes()


def _parts(flat: Array) -> Iterator[Array]:
    for begin in range(0, flat.size, _CHUNK):
        yield flat[begin : begin + _CHUNK]


def index_width(count: int) -> int:
    """Returns ceil(log2(count)), the bits of an index into a list."""
    return max(count - 1, 0).bit_length()


def bit_packed(q: Array, bits: int) -> bytes:
    """Packs q + 2^(bits - 1), least significant bit first, into bytes (below 8 bits) or 16-bit words."""
    shifts = np.arange(bits, dtype=np.int64)
    result = bytearray()
    for part in _parts(q.reshape(-1)):
        unsigned = part.astype(np.int64) + (1 << (bits - 1))
        stream = (unsigned[:, None] >> shifts & 1).astype(np.uint8).reshape(-1)
        result += np.packbits(stream, bitorder="little").tobytes()
    if bits > 8 and len(result) % 2:
        result.append(0)
    return bytes(result)


def bit_packed_size(count: int, bits: int) -> int:
    """Returns the size of `bit_packed` in bytes."""
    word = 8 if bits < 8 else 16
    return -(-count * bits // word) * word // 8


def _value_list(writer: BitWriter, values: Array, bits: int) -> None:
    writer.number(len(values) % (1 << bits), bits)
    writer.numbers(values.astype(np.int64) + (1 << (bits - 1)), bits)


def indexed(q: Array, bits: int) -> bytes:
    """Encodes in the INDEXING format: the distinct values, ascending, then the index of each element."""
    values, places = np.unique(q, return_inverse=True)
    writer = BitWriter()
    _value_list(writer, values, bits)
    writer.numbers(places.reshape(-1), index_width(len(values)))
    return writer.finish()


def indexed_size(count: int, unique: int, bits: int) -> int:
    """Returns the size of `indexed` in bytes."""
    return -(-(bits + unique * bits + count * index_width(unique)) // 8)


def _zeros(q: Array, zero_points: Sequence[int]) -> Array:
    """Returns the zero point of each element. Channels are consecutive blocks of equal size."""
    return np.repeat(np.asarray(zero_points, np.int64), q.size // len(zero_points))


def sparse(q: Array, bits: int, zero_points: Sequence[int]) -> bytes | None:
    """Encodes in the SPARSE format: lengths of runs of zero points, and the values between them.

    A run that is too long for the bits of a length is split by an entry with the zero point as its value. Returns None
    if the number of elements is not a multiple of the number of zero points.
    """
    if not q.size or q.size % len(zero_points):
        return None
    flat, zeros = q.reshape(-1).astype(np.int64), _zeros(q, zero_points)
    places = np.flatnonzero(flat != zeros)
    gaps = np.diff(places, prepend=-1) - 1
    best: tuple[int, int] | None = None
    for width in _GAP_WIDTHS:
        entries = places.size + int((gaps >> width).sum())
        size = entries * (width + index_width(np.unique(flat[places]).size + len(set(zero_points))))
        if best is None or size < best[0]:
            best = (size, width)
    assert best is not None
    width = best[1]
    breaks = gaps >> width
    counts = breaks + 1
    owner = np.repeat(np.arange(places.size), counts)
    within = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
    is_last = within == breaks[owner]
    begin = places - gaps  # position where the run of zero points starts
    position = np.where(is_last, places[owner], begin[owner] + ((within + 1) << width) - 1)
    lengths = np.where(is_last, gaps[owner] & ((1 << width) - 1), (1 << width) - 1)
    entries_values = np.where(is_last, flat[position], zeros[position])
    values, indices = np.unique(entries_values, return_inverse=True)
    if not values.size:
        values = np.array([zero_points[0]], np.int64)
    writer = BitWriter()
    writer.number(width, 8)
    writer.number(owner.size, 32)
    _value_list(writer, values, bits)
    writer.numbers(indices.reshape(-1), index_width(len(values)))
    writer.numbers(lengths, width)
    return writer.finish()


def huffman(q: Array) -> bytes:
    """Encodes int8 values with a Huffman code and an end mark. The code table is text."""
    keys, places = np.unique(q, return_inverse=True)
    counts = Counter({int(key): int(count) for key, count in zip(keys, np.bincount(places.reshape(-1)), strict=True)})
    counts[_END_MARK] = 1
    codes = _huffman_codes(counts)
    order = [*keys.tolist(), _END_MARK]
    table = "".join(f"{key} " for key in order) + "#" + "".join(f"{codes[key]} " for key in order) + "#"
    lengths = np.array([len(codes[key]) for key in order], np.int64)
    longest = int(lengths.max())
    letters = np.zeros((len(order), longest), np.uint8)
    for row, key in enumerate(order):
        letters[row, : len(codes[key])] = [int(letter) for letter in codes[key]]
    writer = BitWriter()
    for part in _parts(np.append(places.reshape(-1), len(order) - 1)):
        sizes = lengths[part]
        starts = np.cumsum(sizes) - sizes
        stream = np.zeros(int(sizes.sum()), np.uint8)
        for depth in range(longest):
            reach = sizes > depth
            stream[starts[reach] + depth] = letters[part[reach], depth]
        writer.add(stream)
    return table.encode() + writer.finish()


def _huffman_codes(counts: Counter[int]) -> dict[int, str]:
    """Returns an optimal prefix code. The result is deterministic."""
    heap: list[tuple[int, int, tuple[int, ...]]] = [
        (count, number, (key,)) for number, (key, count) in enumerate(sorted(counts.items()))
    ]
    heapify(heap)
    codes = dict.fromkeys(counts, "")
    number = len(heap)
    while len(heap) > 1:
        first, second = heappop(heap), heappop(heap)
        for bit, (_, _, keys) in (("0", first), ("1", second)):
            for key in keys:
                codes[key] = bit + codes[key]
        heappush(heap, (first[0] + second[0], number, first[2] + second[2]))
        number += 1
    return codes

"""Lossless compression of weights: blocks of 16 bytes, each in the shortest of four formats.

    raw             16 bytes
    nibbles         8 bytes: each byte, minus `base`, plus 8, as a 4-bit integer; bytes 0 to 3 in the lower nibbles of the first
                    four, bytes 4 to 7 in their upper nibbles, and so on
    sparse          2 bytes with a bit for each byte, lowest bit first; then the nonzero bytes
    sparse nibbles  2 bytes with a bit for each byte; then the nonzero bytes, plus 8, as 4-bit integers, lower nibbles first

The formats of all blocks come first: two bits each, four in a byte from the lowest bits on. Data of any layout can be
compressed, so kernels pack their weights as without compression; tables of 32-bit integers in them stay raw. `borrows`:
bytes are in pairs, stored as 256 * odd + even (DSP kernels), so the second byte is smaller by one if the first is
negative; this is undone before compression and done again after decompression. There are no sparse blocks if `base` is
not 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BLOCK = 16
RAW, NIBBLES, SPARSE, SPARSE_NIBBLES = range(4)

_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Encoded:
    """Compressed data. `forms`: format of each block; `data`: the blocks, one after the other."""

    forms: tuple[int, ...]
    data: bytes
    borrows: bool
    base: int = 0

    @property
    def size(self) -> int:
        return -(-len(self.forms) // 4) + len(self.data)


def encode(data: bytes, borrows: bool, base: int = 0) -> Encoded:
    """Compresses `data`, padded with zeros to whole blocks."""
    padded = np.frombuffer(data + bytes(-len(data) % BLOCK), np.uint8).reshape(-1, BLOCK)
    values = (_without_borrows(padded) if borrows else padded) - np.uint8(base % 256)
    small = np.isin(values, _SMALL).all(axis=1)
    kept = np.count_nonzero(values, axis=1)
    # The borrow cannot be done again if the second byte of a pair is -128 already.
    sparse = (values[:, 1::2] != 128).all(axis=1) & (base == 0) if borrows else np.full(len(values), base == 0)
    never = BLOCK + 1
    sizes = np.stack(
        [
            np.full(len(values), BLOCK),
            np.where(small, BLOCK // 2, never),
            np.where(sparse, 2 + kept, never),
            np.where(sparse & small, 2 + (kept + 1) // 2, never),
        ]
    )
    # The last format is the slowest to decompress, so it must save at least two bytes more.
    forms = (sizes + np.array([[0], [0], [0], [2]])).argmin(axis=0)
    blocks = [_block(form, padded[at], values[at]) for at, form in enumerate(forms.tolist())]
    return Encoded(tuple(forms.tolist()), b"".join(blocks), borrows, base)


def best(data: bytes) -> Encoded:
    """Returns the shortest result of all values of `borrows` and `base`."""
    ways = [(False, 0), (True, 0), *((False, base) for base in _BASES)]
    return min((encode(data, borrows, base) for borrows, base in ways), key=lambda one: one.size)


def form_bytes(forms: tuple[int, ...]) -> bytes:
    """Returns the formats of the blocks as bytes, four in a byte."""
    padded = np.array([*forms, *[0] * (-len(forms) % 4)], np.uint8).reshape(-1, 4)
    return bytes((padded << np.array([0, 2, 4, 6], np.uint8)).sum(axis=1).tolist())


_BASES = (8, -120)
"""Values of `base` for unsigned 4-bit integers that are stored as uint8, and as int8 with offset -128."""
_SMALL = np.array([*range(8), *range(248, 256)], np.uint8)


def _without_borrows(padded: _Bytes) -> _Bytes:
    values = padded.copy()
    values[:, 1::2] += values[:, 0::2] >> 7
    return values


def _block(form: int, raw: _Bytes, values: _Bytes) -> bytes:
    if form == RAW:
        return bytes(raw.tolist())
    if form == NIBBLES:
        words = values.reshape(-1, 2, 4) + np.uint8(8)
        return bytes((words[:, 0] | words[:, 1] << 4).reshape(-1).tolist())
    kept = values[values != 0]
    bits: bytes = np.packbits(values != 0, bitorder="little").tobytes()
    if form == SPARSE:
        return bits + bytes(kept.tolist())
    halves = np.append(kept + np.uint8(8), np.zeros(len(kept) % 2, np.uint8))
    return bits + bytes((halves[0::2] | halves[1::2] << 4).tolist())

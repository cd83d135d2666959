"""The compressed form of bytes: blocks of 16, each in the shortest of four forms. Nothing is lost.

    raw             16 bytes
    nibbles         8 bytes: each byte, less `base`, plus 8, as a number of four bits; bytes 0 to 3 in the lower halves of the first
                    four, bytes 4 to 7 in their upper halves, and so on
    sparse          2 bytes of bits, the first byte's lowest; then the bytes that are not zero
    sparse nibbles  2 bytes of bits; then the bytes that are not zero, plus 8, as numbers of four bits, the lower halves first

The forms, two bits each, four to a byte from the lowest bits on, come before the blocks. What is compressed may be of any
layout, so kernels pack their weights as ever: tables of 32-bit numbers among them stay raw. `borrows`: bytes come in pairs
of which the second is less by one where the first is negative, as the DSP kernels' 256 * odd + even has it; then that is
undone before, and done again when unpacking. Nothing is sparse where `base` is not 0.
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
    """`forms`: of each block; `data`: the blocks, one after the other."""

    forms: tuple[int, ...]
    data: bytes
    borrows: bool
    base: int = 0

    @property
    def size(self) -> int:
        return -(-len(self.forms) // 4) + len(self.data)


def encode(data: bytes, borrows: bool, base: int = 0) -> Encoded:
    """The compressed form of `data`, filled up with zeros to whole blocks."""
    padded = np.frombuffer(data + bytes(-len(data) % BLOCK), np.uint8).reshape(-1, BLOCK)
    values = (_without_borrows(padded) if borrows else padded) - np.uint8(base % 256)
    small = np.isin(values, _SMALL).all(axis=1)
    kept = np.count_nonzero(values, axis=1)
    # A pair whose second byte can be no less than it is has no borrow to be done again.
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
    # The last form takes the longest to unpack: it has to spare something.
    forms = (sizes + np.array([[0], [0], [0], [2]])).argmin(axis=0)
    blocks = [_block(form, padded[at], values[at]) for at, form in enumerate(forms.tolist())]
    return Encoded(tuple(forms.tolist()), b"".join(blocks), borrows, base)


def best(data: bytes) -> Encoded:
    """The shortest one of all ways to look at `data`."""
    ways = [(False, 0), (True, 0), *((False, base) for base in _BASES)]
    return min((encode(data, borrows, base) for borrows, base in ways), key=lambda one: one.size)


def form_bytes(forms: tuple[int, ...]) -> bytes:
    """Four to a byte."""
    padded = np.array([*forms, *[0] * (-len(forms) % 4)], np.uint8).reshape(-1, 4)
    return bytes((padded << np.array([0, 2, 4, 6], np.uint8)).sum(axis=1).tolist())


_BASES = (8, -120)
"""Of unsigned numbers of four bits, and of those that are stored as int8."""
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

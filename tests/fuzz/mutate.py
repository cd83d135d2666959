"""Malformed variants of valid model files: equal seeds and numbers give equal bytes.

Two kinds alternate. *Raw* mutations damage bytes: truncation, flipped bits, words replaced by values that overflow or point backwards.
*Structured* mutations keep the file format valid: wrong indices, impossible dimensions, cycles, missing or duplicated tensors, wrong data
types, attributes out of range.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

WORDS = (0, 1, 2, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0, 0x10000, 0x40000000)
DIMENSIONS = (-1, -2, 0, 1, 3, 7, 1 << 16, 1 << 20, (1 << 31) - 1, -(1 << 31))
INDICES = (0, 1, 5, 1000, (1 << 31) - 1, (1 << 32) - 1)

Mutator = Callable[[bytes, random.Random], bytes]


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.choice((0, 1, 4, 7, 8, 12, rng.randrange(len(data)), rng.randrange(len(data)), len(data) - 1))]


def flip_bits(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 32))):
        # Headers and tables decide what is read next; they are at both ends of a FlatBuffers file.
        region = rng.choice((64, 512, len(data)))
        at = rng.randrange(min(region, len(data)))
        changed[at if rng.random() < 0.6 else len(data) - 1 - at] ^= 1 << rng.randrange(8)
    return bytes(changed)


def replace_words(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 8))):
        at = rng.randrange(max(1, (len(data) - 4) // 4)) * 4
        word = rng.choice((*WORDS, len(data), len(data) - at, at, (1 << 32) - at & 0xFFFFFFFF))
        changed[at : at + 4] = struct.pack("<I", word & 0xFFFFFFFF)
    return bytes(changed[: len(data)])


def copy_range(data: bytes, rng: random.Random) -> bytes:
    """Copies one part of the file over another, so that tables point into each other."""
    changed = bytearray(data)
    length = min(rng.choice((4, 16, 64)), len(data))
    source, target = (rng.randrange(len(data) - length + 1) & ~3 for _ in range(2))
    changed[target : target + length] = data[source : source + length]
    return bytes(changed[: len(data)])


def noise(data: bytes, rng: random.Random) -> bytes:
    """The valid beginning, then random bytes."""
    return data[: rng.choice((0, 8, 64))] + rng.randbytes(rng.choice((16, 256, 4096)))


RAW: tuple[Mutator, ...] = (truncate, flip_bits, flip_bits, replace_words, replace_words, copy_range, noise)


def variant(data: bytes, number: int, structured: Mutator) -> bytes:
    """Returns malformed variant `number` of a valid file."""
    rng = random.Random(f"{len(data)}-{number}")
    if number % 2:
        return rng.choice(RAW)(data, rng)
    return structured(data, rng)

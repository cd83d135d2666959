"""References of hashing."""

from __future__ import annotations

import struct

import numpy as np

from ..ops import text as ops
from ..ops.enums import LshProjectionType
from ._declare import Array, Inputs, case, int32, integers, normal, reference

_WORD = (1 << 64) - 1
_K1, _K2 = 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _given(inputs: Inputs) -> list[Array]:
    return [np.asarray(array) for array in inputs if array is not None]


@reference("HashtableLookup")
def hashtable_lookup(op: ops.HashtableLookup, inputs: Inputs) -> list[Array]:
    """The row of each id, zeros for an id that is not among the keys."""
    ids, keys, values = _given(inputs)
    hits = np.isin(ids, keys)
    rows = values[np.searchsorted(keys, ids).clip(0, len(keys) - 1)]
    rows[~hits] = 0
    return [rows, hits.astype(np.uint8)]


def _turn(value: int, right: int) -> int:
    return (value >> right | value << (64 - right)) & _WORD


def _join(u: int, v: int, factor: int) -> int:
    a = (u ^ v) * factor & _WORD
    a ^= a >> 47
    b = (v ^ a) * factor & _WORD
    return (b ^ b >> 47) * factor & _WORD


def fingerprint(key: bytes) -> int:
    """FarmHash's 64-bit fingerprint of 4 to 32 bytes."""
    size = len(key)
    factor = _K2 + 2 * size & _WORD

    def word(at: int) -> int:
        return int(struct.unpack_from("<Q", key, at)[0])

    if size < 8:
        first, last = struct.unpack_from("<I", key)[0], struct.unpack_from("<I", key, size - 4)[0]
        return _join(size + (first << 3), last, factor)
    if size <= 16:
        a, b = word(0) + _K2, word(size - 8)
        return _join(_turn(b, 37) * factor + a & _WORD, (_turn(a & _WORD, 25) + b) * factor & _WORD, factor)
    a, b, c, d = word(0) * _K1 & _WORD, word(8), word(size - 8) * factor & _WORD, word(size - 16) * _K2 & _WORD
    left = _turn(a + b & _WORD, 43) + _turn(c, 30) + d & _WORD
    return _join(left, a + _turn(b + _K2 & _WORD, 18) + c & _WORD, factor)


@reference("LshProjection")
def lsh_projection(op: ops.LshProjection, inputs: Inputs) -> list[Array]:
    """Signs of weighted sums of fingerprints of seed and item."""
    seeds, items, *weights = _given(inputs)
    weight = weights[0].astype(np.float64) if weights else np.ones(len(items))
    bits = np.zeros(seeds.shape, np.int32)
    for place, seed in np.ndenumerate(seeds):
        hashes = [fingerprint(seed.tobytes() + item.tobytes()) for item in items]
        signed = np.array(hashes, np.uint64).astype(np.int64).astype(np.float64)
        bits[place] = float(np.sum(weight * signed)) > 0
    if op.type is LshProjectionType.DENSE:
        return [bits.reshape(-1)]
    packed = bits @ (1 << np.arange(seeds.shape[1])[::-1])
    return [(packed + (np.arange(len(seeds)) << seeds.shape[1])).astype(np.int32)]


_KEYS = int32([-3, 0, 4, 9, 11])
case("rows", ops.HashtableLookup(), [int32([4, 5, -3, 11, 12, -9]), _KEYS, normal(5, 3)])
case("numbers", ops.HashtableLookup(), [int32([0, 9]), _KEYS, integers(1, 99, 5)])
for kind in (LshProjectionType.SPARSE, LshProjectionType.DENSE):
    name = kind.name.lower()
    case(f"{name}-int32", ops.LshProjection(type=kind), [normal(3, 4), integers(-99, 99, 5)])
    case(f"{name}-weighted", ops.LshProjection(type=kind), [normal(2, 5), integers(-9, 99, 4, 3), normal(4)])
    case(f"{name}-bytes", ops.LshProjection(type=kind), [normal(2, 3), integers(0, 255, 6, 2, dtype=np.uint8)])

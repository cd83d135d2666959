"""Element types that NumPy lacks, as files store them: integers of 2 and 4 bits, and floats of 4 to 16 bits.

Integers are unpacked to bytes. Floats become float32, which represents all of their values exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array

Floats = npt.NDArray[np.float32]
Decoder = Callable[[Array], Floats]
"""Decodes stored codes, one per element, in any shape."""


def packed_size(count: int, bits: int) -> int:
    """Returns the size in bytes of `count` packed elements."""
    return (count * bits + 7) // 8


def unpacked(packed: Array, bits: int, count: int) -> Array:
    """Unpacks the first `count` elements of `bits` bits (1, 2 or 4), the low bits of a byte first.

    The elements have the type of `packed`: int8 is signed, uint8 unsigned.
    """
    # The left shift moves the sign bit to the top, the right shift extends it.
    parts = [np.left_shift(packed, 8 - bits - low) >> (8 - bits) for low in range(0, 8, bits)]
    result: Array = np.stack(parts, axis=1).reshape(-1)[:count]
    return result


def unpacked_sixes(packed: npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.uint8]:
    """Unpacks the first `count` 6-bit codes, four in three bytes, the low bits first."""
    groups = np.zeros(3 * ((count + 3) // 4), np.uint8)
    groups[: packed.size] = packed
    first, second, third = groups.reshape(-1, 3).T
    parts = [first & 63, (first >> 6) | (second & 15) << 2, (second >> 4) | (third & 3) << 4, third >> 2]
    return np.stack(parts, axis=1).reshape(-1)[:count]


def from_bfloat16(stored: Array) -> Floats:
    """Decodes bfloat16: the upper half of the bits of float32."""
    return np.left_shift(stored.astype(np.uint32), 16).view(np.float32)


def rounded_to_bfloat16(array: Array) -> Floats:
    """Rounds to bfloat16, half to even; returns float32."""
    real = array.astype(np.float32)
    bits = real.view(np.uint32)
    kept = (bits + (np.uint32(0x7FFF) + ((bits >> 16) & 1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(real), real, kept.view(np.float32))


def _table(exponent_bits: int, mantissa_bits: int, bias: int | None = None) -> npt.NDArray[np.float64]:
    """Returns the values of all codes of sign, exponent and mantissa, if all codes are finite."""
    bias = (1 << (exponent_bits - 1)) - 1 if bias is None else bias
    half = 1 << (exponent_bits + mantissa_bits)
    codes = np.arange(half)
    exponent, mantissa = codes >> mantissa_bits, codes & ((1 << mantissa_bits) - 1)
    whole = np.where(exponent > 0, mantissa + (1 << mantissa_bits), mantissa).astype(np.float64)
    values = np.ldexp(whole, np.maximum(exponent, 1) - bias - mantissa_bits)
    return np.concatenate([values, -values])


def _looked_up(table: npt.NDArray[np.float64], special: dict[int, float] | None = None) -> Decoder:
    for code, value in (special or {}).items():
        table[code] = value
    numbers, last = table.astype(np.float32), table.size - 1
    return lambda codes: numbers[np.asarray(codes, np.uint8) & np.uint8(last)]


_IEEE = {sign | code: float("nan") for sign in (0, 128) for code in (125, 126, 127)} | {
    124: float("inf"),
    252: -float("inf"),
}
_UNSIGNED_ZERO = {128: float("nan")}
"""In these types, the code of negative zero is NaN."""

from_float8_e4m3fn = _looked_up(_table(4, 3), {127: float("nan"), 255: float("nan")})
from_float8_e4m3fnuz = _looked_up(_table(4, 3, 8), _UNSIGNED_ZERO)
from_float8_e5m2 = _looked_up(_table(5, 2), _IEEE)
from_float8_e5m2fnuz = _looked_up(_table(5, 2, 16), _UNSIGNED_ZERO)
from_float8_e8m0 = _looked_up(np.ldexp(1.0, np.arange(256) - 127), {255: float("nan")})
from_float6_e2m3 = _looked_up(_table(2, 3))
from_float6_e3m2 = _looked_up(_table(3, 2))
from_float4_e2m1 = _looked_up(_table(2, 1))

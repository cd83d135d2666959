"""Writes values as C99 literals, which compilers read bit by bit as the same values on every machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mslite.codegen.program import Array

WIDTH = 112
"""Largest number of columns of a line of values."""


@dataclass(frozen=True)
class Numbers:
    """The elements of a constant: C type, text of each element."""

    ctype: str
    texts: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def width(self) -> int:
        """Bytes of an element."""
        return _WIDTHS[self.ctype]


_INTEGERS = {
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
}
_WIDTHS = {"float": 4, "double": 8} | {ctype: np.dtype(kind).itemsize for kind, ctype in _INTEGERS.items()}
_SUFFIXES = {"uint8": "u", "uint16": "u", "uint32": "u", "int64": "LL", "uint64": "uLL"}


def c_values_of(array: Array) -> Numbers:
    """Returns the elements of an array in memory order. Values without C99 literals (float16, NaN) are written as their
    bits.

    Raises ValueError for data types that C does not have."""
    flat = np.ascontiguousarray(array).reshape(-1)
    kind = flat.dtype.name
    if kind == "bool":
        return Numbers("uint8_t", [str(int(value)) for value in flat.view(np.uint8)])
    if kind in ("float32", "float64"):
        if np.isfinite(flat).all():
            suffix = "f" if kind == "float32" else ""
            return Numbers("float" if suffix else "double", [_real(value) + suffix for value in flat])
        flat = flat.view(np.uint32 if kind == "float32" else np.uint64)
    elif kind == "float16":
        flat = flat.view(np.uint16)
    elif kind not in _INTEGERS:
        raise ValueError(f"C has no arrays of {kind}")
    return Numbers(_INTEGERS[flat.dtype.name], list(_whole(flat)))


def numbers_of_bytes(data: bytes) -> Numbers:
    """Returns bytes of mixed contents, as 32-bit words if possible, because kernels may read them through pointers to
    words."""
    if len(data) % 4 == 0:
        return c_values_of(np.frombuffer(data, "<i4"))
    return c_values_of(np.frombuffer(data, np.int8))


def _real(value: Any) -> str:
    text = (
        np.format_float_scientific(value, unique=True, trim="-") if value else ("-0.0" if np.signbit(value) else "0.0")
    )
    digits, _, exponent = text.partition("e")
    if exponent and -5 < int(exponent) < 9:
        text = np.format_float_positional(value, unique=True, trim="-")
    else:
        text = digits + (f"e{int(exponent)}" if exponent else "")
    return text if "." in text or "e" in text else text + ".0"


def _whole(flat: Array) -> Iterable[str]:
    suffix = _SUFFIXES.get(flat.dtype.name, "")
    least = {"int32": -(2**31), "int64": -(2**63)}.get(flat.dtype.name)
    for value in flat.tolist():
        # The smallest integer has no literal, because C reads a minus sign and a value that is too large.
        yield f"({value + 1}{suffix} - 1)" if value == least else f"{value}{suffix}"


def wrapped(texts: list[str], indent: str) -> str:
    """Returns the elements, separated by commas, in lines of at most WIDTH columns."""
    lines: list[str] = []
    line = indent
    for text in texts:
        if len(line) + len(text) + 1 > WIDTH and line != indent:
            lines.append(line.rstrip())
            line = indent
        line += text + ", "
    return "\n".join([*lines, line.rstrip().rstrip(",")])

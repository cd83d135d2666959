"""Values of flags that several programs have."""

from __future__ import annotations

import argparse


def bytes_of(text: str) -> int:
    """4096, 64K, 1M. Raises ArgumentTypeError."""
    factors = {"K": 1 << 10, "M": 1 << 20}
    factor = factors.get(text[-1:].upper(), 1)
    digits = text if factor == 1 else text[:-1]
    if not digits.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no number of bytes")
    return int(digits) * factor

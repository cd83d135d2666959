"""Parsers for flag values that several programs use."""

from __future__ import annotations

import argparse
import re

_BYTES = re.compile(r"([0-9]+)([KM]?)(?:i?B)?", re.IGNORECASE)
_MAX_DIGITS = 15


def bytes_of(text: str) -> int:
    """Returns the bytes of a size such as 4096, 64K or 1M. Raises ArgumentTypeError."""
    match = _BYTES.fullmatch(text)
    if match is None or len(match[1]) > _MAX_DIGITS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of bytes, such as 4096, 64K or 1M")
    return int(match[1]) << {"": 0, "K": 10, "M": 20}[match[2].upper()]

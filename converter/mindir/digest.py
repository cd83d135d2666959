"""Appends a digest to a `.ms` file, after all data of the FlatBuffer, so that readers ignore it.

It consists of the name of the side file, the length of the name (4 bytes, little-endian), the SHA-256 of the side file
(zeros without one), the SHA-256 of all bytes before it, and a mark. `lite_runtime/api/digest.cc` verifies it.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable
from typing import IO, Any, cast

MARK = b"mslite sha256 1\n"
MAX_BYTES = 255 + 4 + 2 * 32 + len(MARK)
"""Largest size of a digest in bytes."""


class _Hashed:
    """A file that hashes the bytes as they are written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self._file.write(data)


def write_hashed(file: IO[bytes], write: Callable[[IO[bytes]], None]) -> bytes:
    """Calls `write` and returns the SHA-256 of the written bytes."""
    through = _Hashed(file)
    write(cast(IO[bytes], through))
    return through.digest.digest()


def write_with_digest(
    file: IO[bytes], write: Callable[[IO[bytes]], None], side: bytes = b"", side_name: str = ""
) -> None:
    """Writes a `.ms` file and appends its digest; `side` is the SHA-256 of the side file, if there is one."""
    name = os.fsencode(side_name)

    def with_side(inner: IO[bytes]) -> None:
        write(inner)
        inner.write(name + struct.pack("<I", len(name)) + (side or bytes(32)))

    file.write(write_hashed(file, with_side) + MARK)

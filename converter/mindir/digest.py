"""The digest at the end of a `.ms` file, behind everything that offsets from its front lead to: readers pass over it.

Side file's name, its length (4 bytes, little-endian), SHA-256 of the side file (zeros without one), SHA-256 of all bytes
before it, a mark. `lite_runtime/api/digest.cc` compares.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable
from typing import IO, Any, cast

MARK = b"mslite sha256 1\n"
MOST_BYTES = 255 + 4 + 2 * 32 + len(MARK)
"""That a digest adds to a file."""


class _Hashed:
    """A file whose bytes are counted into a digest as they are written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self._file.write(data)


def hashed(file: IO[bytes], write: Callable[[IO[bytes]], None]) -> bytes:
    """Writes, and gives the SHA-256 of what was written."""
    through = _Hashed(file)
    write(cast(IO[bytes], through))
    return through.digest.digest()


def write_with_digest(
    file: IO[bytes], write: Callable[[IO[bytes]], None], side: bytes = b"", side_name: str = ""
) -> None:
    """Writes a `.ms` file and its digest behind it; `side` is the SHA-256 of the side file, where there is one."""
    name = os.fsencode(side_name)

    def with_side(inner: IO[bytes]) -> None:
        write(inner)
        inner.write(name + struct.pack("<I", len(name)) + (side or bytes(32)))

    file.write(hashed(file, with_side) + MARK)

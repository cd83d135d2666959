"""Verification of model files with SHA-256 digests."""

from __future__ import annotations

import os

from mslite import _runtime


def verify_digest(path: str | os.PathLike[str], expected: str = "") -> None:
    """Compares a `.ms` file with the SHA-256 digest that `converter_lite --digest=on` has stored at its end.

    The digest also covers the side file (.msw). This finds damaged files, but not manipulated ones, because the stored digest
    can be manipulated too. For that, `expected` is the SHA-256 digest of the whole `.ms` file, 64 hexadecimal digits, from a
    trusted source; the file then does not need a stored digest. Raises RuntimeError if the file cannot be read, has no digest
    or a different one.
    """
    _runtime.verify_digest(path, expected)

"""Whether a model file is what was written."""

from __future__ import annotations

import os

from mslite import _runtime


def verify_digest(path: str | os.PathLike[str], expected: str = "") -> None:
    """Compares a `.ms` file with the SHA-256 that `converter_lite --digest=on` put at its end, which covers its side file, too.

    That finds damage; who changes a file on purpose changes the digest with it. So `expected` may be the SHA-256 of the whole
    `.ms` file, 64 hexadecimal digits, from a source that is trusted; then the file needs no digest of its own. Raises
    RuntimeError when the file cannot be read, has no digest, or another one.
    """
    _runtime.verify_digest(path, expected)

"""Encrypts results and decrypts sources with OpenSSL's libcrypto, which the native module calls.

No key is ever part of a message.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from mslite import _native
from mslite.converter.errors import ConversionError, ReturnCode, UsageError

_ENCRYPT_DIGITS = (32,)
_DECRYPT_DIGITS = (32, 48, 64)

Opener = Callable[[bytes | memoryview, str], bytes]
"""Decrypts the contents of a file; the second argument is its name for messages. Raises ConversionError."""


@dataclass(frozen=True)
class Encryption:
    """The keys of one conversion; None: the source is not encrypted, or the result will not be."""

    encrypt_key: bytes | None = field(default=None, repr=False)
    """AES-128-GCM: 16 bytes."""
    decrypt_key: bytes | None = field(default=None, repr=False)
    """AES: 16, 24 or 32 bytes."""
    decrypt_mode: str = "AES-GCM"

    def sealed(self, content: bytes) -> bytes:
        """Returns the content encrypted with `encrypt_key`. Raises ConversionError if libcrypto is missing."""
        return _native_call(lambda: _native.encrypt(content, self.encrypt_key or b""))

    def check(self) -> None:
        """Raises ConversionError if libcrypto is needed but missing; called before the conversion."""
        if self.encrypt_key is not None:
            self.sealed(b"mslite")

    @property
    def source_opener(self) -> Opener | None:
        """The function that decrypts the source; None without a key."""
        return _opener(self.decrypt_key, self.decrypt_mode)

    @property
    def result_opener(self) -> Opener | None:
        """The function that decrypts the result; None if it is not encrypted."""
        return _opener(self.encrypt_key, "AES-GCM")


def _opener(key: bytes | None, mode: str) -> Opener | None:
    if key is None:
        return None
    return lambda content, name: _native_call(lambda: _native.decrypt(content, key, mode, name))


def _native_call(call: Callable[[], bytes]) -> bytes:
    try:
        return call()
    except RuntimeError as error:
        raise ConversionError(str(error), code=ReturnCode.GRAPH_FILE_ERROR) from None


def parse_key(name: str, text: str) -> bytes:
    """Returns the bytes of a key in hexadecimal digits. Raises UsageError, without the key in its message."""
    counts = _ENCRYPT_DIGITS if name.startswith("encrypt") else _DECRYPT_DIGITS
    if len(text) not in counts or not re.fullmatch(r"[0-9a-fA-F]*", text):
        allowed = " or ".join(", ".join(map(str, counts)).rsplit(", ", 1))
        raise UsageError(f"INPUT ILLEGAL: {name} must be {allowed} hexadecimal digits")
    return bytes.fromhex(text)

"""Detects encrypted model files; `lite_runtime/crypto/` defines the format."""

from __future__ import annotations

ENCRYPTED_HEADS = {0x7F3A5ED8: "AES-GCM", 0x7F3A5ED9: "AES-CBC", 0x7F3A5EDA: "SM4-CBC"}
"""The first four bytes (little-endian) of encrypted files."""


def encryption_of(content: bytes | memoryview) -> str | None:
    """Returns the encryption mode of a file; None if it is not encrypted."""
    return ENCRYPTED_HEADS.get(int.from_bytes(content[:4], "little"))

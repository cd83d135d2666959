"""Literals of C."""

from __future__ import annotations


def c_string(text: str) -> str:
    """The inside of a C string literal for any text: what is not plain ASCII as octal escapes of its UTF-8 bytes."""
    plain = set(range(0x20, 0x7F)) - {ord('"'), ord("\\"), ord("?")}
    return "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode("utf-8"))

"""Writes C literals."""

from __future__ import annotations


def c_string(text: str) -> str:
    """Returns text for a C string literal, without the quotes. Other characters than ASCII become octal escapes of
    UTF-8."""
    plain = set(range(0x20, 0x7F)) - {ord('"'), ord("\\"), ord("?")}
    return "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode("utf-8"))

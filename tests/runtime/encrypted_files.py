"""Encrypts and decrypts files with Python's `cryptography`, which only shares OpenSSL's AES with mslite."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

GCM, CBC, SM4 = 0x7F3A5ED8, 0x7F3A5ED9, 0x7F3A5EDA
HEAD = 48
"""Number of bytes before the ciphertext of a block in the mode AES-GCM."""

KEY = b"0123456789ABCDEF"
LONG_KEYS = (KEY, KEY + b"01234567", KEY + KEY[::-1])


def gcm_block(text: bytes, key: bytes = KEY, iv: bytes | None = None) -> bytes:
    iv = os.urandom(16) if iv is None else iv
    seal = Cipher(algorithms.AES(key), modes.GCM(iv)).encryptor()
    cipher = seal.update(text) + seal.finalize()
    return struct.pack("<I16sII16sI", GCM, seal.tag, 24 + len(cipher), 16, iv, len(cipher)) + cipher


def cbc_block(text: bytes, key: bytes = KEY) -> bytes:
    iv = bytes(range(16))  # a fixed IV: with random ones, a wrong key gives valid padding in 1 of 256 cases
    seal = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    pad = padding.PKCS7(128).padder()
    cipher = seal.update(pad.update(text) + pad.finalize()) + seal.finalize()
    return struct.pack("<III16sI", CBC, 24 + len(cipher), 16, iv, len(cipher)) + cipher


def in_pieces(text: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    """Splits into pieces of these sizes, and the rest."""
    for size in sizes:
        yield text[:size]
        text = text[size:]
    yield text


def gcm_file(text: bytes, key: bytes = KEY, sizes: Sequence[int] = ()) -> bytes:
    return b"".join(gcm_block(piece, key) for piece in in_pieces(text, sizes))


@dataclass(frozen=True)
class Block:
    iv: bytes
    text: bytes


def opened(file: bytes, key: bytes = KEY) -> list[Block]:
    """Returns the blocks of a file in the mode AES-GCM. Raises InvalidTag, and AssertionError for another format."""
    blocks = []
    while file:
        mark, tag, rest, iv_size, iv, size = struct.unpack_from("<I16sII16sI", file)
        assert (mark, rest, iv_size) == (GCM, 24 + size, 16)
        assert len(file) >= HEAD + size
        opener = Cipher(algorithms.AES(key), modes.GCM(iv, tag)).decryptor()
        blocks.append(Block(iv, opener.update(file[HEAD : HEAD + size]) + opener.finalize()))
        file = file[HEAD + size :]
    return blocks

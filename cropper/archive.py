"""Reads and writes static libraries (`ar` files of the GNU and LLVM tools)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_MAGIC = b"!<arch>\n"
_HEADER = struct.Struct("16s12s6s6s8s10s2s")


class CropError(Exception):
    """The library cannot be cropped. The message has the reason and a remedy."""


@dataclass
class Member:
    """An object file of an archive. Several members may have the same name, because names have no folders."""

    name: str
    contents: bytes


def read_archive(data: bytes, file: str) -> list[Member]:
    """Returns the members of the archive, without its index. `file` is the name for messages. Raises CropError."""
    if not data.startswith(_MAGIC):
        thin = data.startswith(b"!<thin>\n")
        raise CropError(f"{file}: is {'a thin archive, which has no object files' if thin else 'not a static library'}")
    members, names, at = [], b"", len(_MAGIC)
    while at < len(data):
        fields = _HEADER.unpack(data[at : at + _HEADER.size]) if at + _HEADER.size <= len(data) else None
        if fields is None or fields[6] != b"`\n" or not fields[5].strip().isdigit():
            raise CropError(f"{file}: the archive is malformed at byte {at}")
        begin, size = at + _HEADER.size, int(fields[5])
        if begin + size > len(data):
            raise CropError(f"{file}: the archive is truncated: it ends within a member, at byte {len(data)}")
        contents, name = data[begin : begin + size], fields[0].decode("latin-1").rstrip(" ")
        at = begin + size + size % 2
        if name == "//":
            names = contents
        elif name not in ("/", "/SYM64/"):
            if name[:1] == "/" and name[1:].isdigit():
                name = names[int(name[1:]) :].split(b"\n", 1)[0].decode("utf-8", "surrogateescape")
            members.append(Member(name.removesuffix("/"), contents))
    return members


def write_archive(members: Sequence[Member], defined: Callable[[Member], Iterable[str]]) -> bytes:
    """Returns an archive with these members and a symbol index. `defined` returns the symbols that a member defines."""
    names = b""
    headers = []
    for member in members:
        name = member.name.encode("utf-8", "surrogateescape") + b"/"
        if len(name) > 16:
            name, names = b"/%d" % len(names), names + name + b"\n"
        headers.append(_header(name, len(member.contents)))
    symbols = [(index, name.encode()) for index, member in enumerate(members) for name in defined(member)]
    text = b"".join(name + b"\0" for _, name in symbols)
    index_size = 4 + 4 * len(symbols) + len(text)
    at = len(_MAGIC) + _HEADER.size + index_size + index_size % 2
    at += _HEADER.size + len(names) + len(names) % 2 if names else 0
    offsets = []
    for member in members:
        offsets.append(at)
        at += _HEADER.size + len(member.contents) + len(member.contents) % 2
    index = struct.pack(f">{len(symbols) + 1}I", len(symbols), *(offsets[member] for member, _ in symbols)) + text
    parts = [_MAGIC, _header(b"/", index_size), _even(index)]
    if names:
        parts += [_header(b"//", len(names)), _even(names)]
    for header, member in zip(headers, members, strict=True):
        parts += [header, _even(member.contents)]
    return b"".join(parts)


def _header(name: bytes, size: int) -> bytes:
    return b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name, 0, 0, 0, 0o644, size)


def _even(contents: bytes) -> bytes:
    return contents + b"\n" * (len(contents) % 2)

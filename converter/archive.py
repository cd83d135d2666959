"""Zip archives from strangers: what is in them is checked, and counted, before anything is read."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mslite.converter.memory_limit import shown, spend
from mslite.converter.quoting import quoted

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_MAX_MEMBERS = 1 << 17
_MAX_RATIO = 100
"""Times that members may grow beyond `_FREE_BYTES`."""

_FREE_BYTES = 64 << 20
_LOCAL_HEADER = 30
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, OverflowError)


class ArchiveError(ValueError):
    """An archive that is damaged, or that two readers could understand differently; `str()` says why."""


class CheckedArchive:
    """The members of an archive by name; folders are left out. `size` is the archive's own, in bytes."""

    def __init__(self, archive: zipfile.ZipFile, size: int, what: str) -> None:
        """Raises ArchiveError, and ConversionError for more than the memory limit; `what` names the archive."""
        self._archive = archive
        self.members: dict[str, zipfile.ZipInfo] = {}
        infos = archive.infolist()
        if len(infos) > _MAX_MEMBERS:
            raise ArchiveError(f"it has {len(infos)} members, more than {_MAX_MEMBERS}")
        seen: set[str] = set()
        for info in infos:
            _check_member(info)
            if info.filename in seen:
                raise ArchiveError(f"the member {quoted(info.filename)} is there twice")
            seen.add(info.filename)
            if not info.is_dir():
                self.members[info.filename] = info
        _check_places(infos, size)
        total = sum(info.file_size for info in infos)
        if total > max(_FREE_BYTES, _MAX_RATIO * size):
            raise ArchiveError(f"its {shown(size)} would become {shown(total)}, more than {_MAX_RATIO} times as much")
        spend(total, what)

    def read(self, name: str) -> bytes:
        """The contents of a member, never more than it declares. Raises ArchiveError."""
        try:
            return self._archive.read(self.members[name])
        except _DAMAGED as error:
            raise ArchiveError(f"the member {quoted(name)} is damaged ({error})") from None

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A member, to be read in pieces. Raises ArchiveError."""
        try:
            with self._archive.open(self.members[name]) as file:
                yield file  # type: ignore[misc]
        except ArchiveError:
            raise
        except _DAMAGED as error:
            raise ArchiveError(f"the member {quoted(name)} is damaged ({error})") from None


@contextmanager
def checked_archive(file: Path | BinaryIO, size: int, what: str) -> Iterator[CheckedArchive]:
    """An archive that every reader understands alike, and that is not larger than it may be.

    `size` is that of the file in bytes, `what` names it where it is too large. Raises ArchiveError and OSError, and
    ConversionError for more than the memory limit.
    """
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGED as error:
        raise ArchiveError(f"it is no zip archive ({error})") from None
    with archive:
        yield CheckedArchive(archive, size, what)


def _check_member(info: zipfile.ZipInfo) -> None:
    name = info.filename
    if not name or name.startswith(("/", "\\")) or "\\" in name or "\0" in info.orig_filename or ":" in name:
        raise ArchiveError(f"the member {quoted(info.orig_filename)} has an impossible name")
    parts = name.rstrip("/").split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ArchiveError(f"the member {quoted(name)} points out of the archive")
    if info.flag_bits & _ENCRYPTED:
        raise ArchiveError(f"the member {quoted(name)} is encrypted")
    if info.compress_type not in _METHODS:
        raise ArchiveError(f"the member {quoted(name)} is compressed by method {info.compress_type}, not by deflate")
    if info.compress_type == zipfile.ZIP_STORED and info.file_size != info.compress_size:
        raise ArchiveError(f"the member {quoted(name)} is stored, and declares two sizes")


def _check_places(infos: list[zipfile.ZipInfo], size: int) -> None:
    """Members that share bytes of the file would multiply it."""
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise ArchiveError(f"the member {quoted(info.filename)} lies within another one")
        end = info.header_offset + _LOCAL_HEADER + info.compress_size
        if end > size:
            raise ArchiveError(f"the member {quoted(info.filename)} ends behind the end of the file")

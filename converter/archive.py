"""Reads untrusted zip archives: checks and counts their members before anything is decompressed."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mslite.converter.memory_limit import shown, spend
from mslite.converter.text_shortening import quoted

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_MAX_MEMBERS = 1 << 17
_MAX_RATIO = 100
"""Largest ratio of uncompressed to compressed size for archives of more than `_FREE_BYTES`, uncompressed."""

_FREE_BYTES = 64 << 20
_LOCAL_HEADER = 30
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, OverflowError)


class ArchiveError(ValueError):
    """An archive that is damaged, or ambiguous (readers could interpret it differently); `str()` is the reason."""


class CheckedArchive:
    """The members of an archive by name, without folders."""

    def __init__(self, archive: zipfile.ZipFile, size: int, what: str) -> None:
        """Checks all members.

        `size` is the size of the archive file in bytes; `what` names the archive in messages. Raises ArchiveError, and
        ConversionError if the members exceed the memory limit.
        """
        self._archive = archive
        self.members: dict[str, zipfile.ZipInfo] = {}
        infos = archive.infolist()
        if len(infos) > _MAX_MEMBERS:
            raise ArchiveError(f"it has {len(infos)} members, more than {_MAX_MEMBERS}")
        seen: set[str] = set()
        for info in infos:
            _check_member(info)
            if info.filename in seen:
                raise ArchiveError(f"the member {quoted(info.filename)} occurs twice")
            seen.add(info.filename)
            if not info.is_dir():
                self.members[info.filename] = info
        _check_places(infos, size)
        total = sum(info.file_size for info in infos)
        if total > max(_FREE_BYTES, _MAX_RATIO * size):
            raise ArchiveError(
                f"its {shown(size)} would be decompressed to {shown(total)}, more than {_MAX_RATIO} times as much"
            )
        spend(total, what)

    def read(self, name: str) -> bytes:
        """Returns the contents of a member, at most its declared size. Raises ArchiveError."""
        try:
            return self._archive.read(self.members[name])
        except _DAMAGED as error:
            raise ArchiveError(f"the member {quoted(name)} is damaged ({error})") from None

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """Opens a member as a stream. Raises ArchiveError."""
        try:
            with self._archive.open(self.members[name]) as file:
                yield file  # type: ignore[misc]
        except ArchiveError:
            raise
        except _DAMAGED as error:
            raise ArchiveError(f"the member {quoted(name)} is damaged ({error})") from None


@contextmanager
def checked_archive(file: Path | BinaryIO, size: int, what: str) -> Iterator[CheckedArchive]:
    """Opens an archive and checks that it is unambiguous and within the memory limit.

    `size` is the size of the file in bytes; `what` names it in the message about the limit. Raises ArchiveError,
    OSError,
    and ConversionError if the members exceed the memory limit.
    """
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGED as error:
        raise ArchiveError(f"it is not a zip archive ({error})") from None
    with archive:
        yield CheckedArchive(archive, size, what)


def _check_member(info: zipfile.ZipInfo) -> None:
    name = info.filename
    if not name or name.startswith(("/", "\\")) or "\\" in name or "\0" in info.orig_filename or ":" in name:
        raise ArchiveError(f"the member {quoted(info.orig_filename)} has an invalid name")
    parts = name.rstrip("/").split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ArchiveError(f"the member {quoted(name)} has a path outside of the archive")
    if info.flag_bits & _ENCRYPTED:
        raise ArchiveError(f"the member {quoted(name)} is encrypted")
    if info.compress_type not in _METHODS:
        raise ArchiveError(f"the member {quoted(name)} is compressed by method {info.compress_type}, not by deflate")
    if info.compress_type == zipfile.ZIP_STORED and info.file_size != info.compress_size:
        raise ArchiveError(f"the member {quoted(name)} is stored without compression, but declares two different sizes")


def _check_places(infos: list[zipfile.ZipInfo], size: int) -> None:
    """Raises ArchiveError for overlapping members, which could expand to much more than the file."""
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise ArchiveError(f"the member {quoted(info.filename)} overlaps another member")
        end = info.header_offset + _LOCAL_HEADER + info.compress_size
        if end > size:
            raise ArchiveError(f"the member {quoted(info.filename)} ends after the end of the file")

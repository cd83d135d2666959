"""What a page says of itself: when, by which version and which command it was made, and of which files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import mslite
from mslite.converter.program import command_line


@dataclass(frozen=True)
class File:
    """`role`: what it is to the page (source, result). `size` in bytes and `sha256` as 64 hexadecimal digits; both None for
    what is no ordinary file."""

    role: str
    name: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True)
class Origin:
    """`made`: date and time in UTC (ISO 8601); `command`: what was typed, empty where no program was."""

    made: str
    version: str
    command: str
    files: tuple[File, ...]

    @property
    def result_bytes(self) -> int | None:
        """Of all files of the result together; None where there are none, or one is no ordinary file."""
        sizes = [file.size for file in self.files if file.role == RESULT]
        known = [size for size in sizes if size is not None]
        return sum(known) if sizes and len(known) == len(sizes) else None


SOURCE, RESULT = "source", "result"


def origin_of(sources: Sequence[Path], results: Sequence[Path] = ()) -> Origin:
    """The origin of a page that is made now, of files that are there. Raises OSError."""
    files = [*(_described(SOURCE, path) for path in sources), *(_described(RESULT, path) for path in results)]
    return Origin(_now(), mslite.__version__, command_line(), tuple(files))


def file_of(role: str, name: str, data: bytes) -> File:
    """Of what is not written yet."""
    return File(role, name, len(data), hashlib.sha256(data).hexdigest())


def _described(role: str, path: Path) -> File:
    if not path.is_file():  # a pipe would be emptied
        return File(role, str(path), None, None)
    with path.open("rb") as file:
        return File(role, str(path), path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _now() -> str:
    """To the second; that of SOURCE_DATE_EPOCH where it is set, so that a page can be made again as it was."""
    try:
        moment = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        moment = datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

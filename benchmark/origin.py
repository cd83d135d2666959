"""The origin of a report: date, version, command and files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import mslite
from mslite.converter.program_exit import command_line


@dataclass(frozen=True)
class File:
    """A file of a report. `role`: source or result; `size`: in bytes; `sha256`: 64 hexadecimal digits. `size` and `sha256` are
    None if it is not a regular file."""

    role: str
    name: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True)
class Origin:
    """The origin of a report. `made`: date and time in UTC (ISO 8601); `command`: the command line, "" for the Python API."""

    made: str
    version: str
    command: str
    files: tuple[File, ...]

    @property
    def result_bytes(self) -> int | None:
        """Total size of the result files; None if there are none, or one is not a regular file."""
        sizes = [file.size for file in self.files if file.role == RESULT]
        known = [size for size in sizes if size is not None]
        return sum(known) if sizes and len(known) == len(sizes) else None


SOURCE, RESULT = "source", "result"


def origin_of(sources: Sequence[Path], results: Sequence[Path] = ()) -> Origin:
    """Returns the origin of a new report about existing files. Raises OSError."""
    files = [*(_described(SOURCE, path) for path in sources), *(_described(RESULT, path) for path in results)]
    return Origin(_now(), mslite.__version__, command_line(), tuple(files))


def file_of(role: str, name: str, data: bytes) -> File:
    """Describes a file that is not written yet."""
    return File(role, name, len(data), hashlib.sha256(data).hexdigest())


def _described(role: str, path: Path) -> File:
    if not path.is_file():  # reading a pipe would empty it
        return File(role, str(path), None, None)
    with path.open("rb") as file:
        return File(role, str(path), path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _now() -> str:
    """Returns the current time, or the time in SOURCE_DATE_EPOCH if it is set, for reproducible pages."""
    try:
        moment = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        moment = datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

"""The folder of a project: whole, or as it was before."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO

from mslite.converter.mindir.atomic import beside, write_together

_EXECUTE = 0o111
_READ_TO_EXECUTE = 2


def write_folder(folder: Path, files: Mapping[str, str | bytes], executable: Collection[str] = ()) -> None:
    """Writes files, by their paths in `folder`. A new folder is made under another name, and renamed when it is whole; in one
    that exists, files of the same names are replaced together, and others stay. On failure everything is as it was before.

    Raises OSError.
    """
    writers = {name: _writer(content, name in executable) for name, content in files.items()}
    made: list[Path] = []
    try:
        if folder.is_dir():
            for name in writers:
                _make(folder / Path(name).parent, made)
            write_together({folder / name: write for name, write in writers.items()})
        else:
            _make(folder.parent, made)
            _write_new(folder, writers)
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):  # somebody else may have used it
                path.rmdir()
        raise


def _write_new(folder: Path, writers: Mapping[str, Callable[[IO[bytes]], None]]) -> None:
    part = beside(folder, ".part")
    try:
        part.mkdir()
        for name, write in writers.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            with (part / name).open("xb") as file:
                write(file)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _make(folder: Path, made: list[Path]) -> None:
    """Makes a folder and those above it, and notes which were missing. Raises OSError."""
    if folder.is_dir():
        return
    _make(folder.parent, made)
    folder.mkdir()
    made.append(folder)


def _writer(content: str | bytes, is_executable: bool) -> Callable[[IO[bytes]], None]:
    def write(file: IO[bytes]) -> None:
        # Names of files may be any bytes.
        file.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)
        if is_executable:  # by whoever may read it
            mode = os.fstat(file.fileno()).st_mode
            os.fchmod(file.fileno(), mode | mode >> _READ_TO_EXECUTE & _EXECUTE)

    return write

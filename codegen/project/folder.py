"""The folder of a project: whole, or as it was before."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO

from mslite.converter.errors import UsageError
from mslite.converter.mindir.atomic import beside, write_together
from mslite.converter.quoting import shortened

_SHOWN = 3
_EXECUTE = 0o111
_READ_TO_EXECUTE = 2


LIST = "generated-files.txt"
"""Names the files of a project, one a line, so that a later project takes its place whole."""


def check_folder(folder: Path, force: bool = False) -> None:
    """Raises UsageError for a folder that holds anything but an earlier project, unless `force` is given."""
    if force or not folder.is_dir() or (folder / LIST).is_file():
        return
    found = sorted(path.name for path in folder.iterdir())
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise UsageError(
            f"{folder}: it holds {', '.join(map(shortened, found[:_SHOWN]))}{more}, and is no project of this generator. Choose "
            "another folder, or give --force to write into it"
        )


def write_folder(folder: Path, files: Mapping[str, str | bytes], executable: Collection[str] = ()) -> None:
    """Writes files, by their paths in `folder`. A new folder is made under another name, and renamed when it is whole. In one
    that exists, all are replaced together, those of an earlier project that are not made any more go, and others stay. On
    failure everything is as it was before.

    Raises OSError.
    """
    stale = _earlier(folder) - set(files)
    files = {**files, LIST: "".join(f"{name}\n" for name in sorted(files))}
    writers = {name: _writer(content, name in executable) for name, content in files.items()}
    made: list[Path] = []
    try:
        if folder.is_dir():
            for name in writers:
                _make(folder / Path(name).parent, made)
            write_together({folder / name: write for name, write in writers.items()})
            _remove(folder, stale)
        else:
            _make(folder.parent, made)
            _write_new(folder, writers)
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):  # somebody else may have used it
                path.rmdir()
        raise


def _earlier(folder: Path) -> set[str]:
    """The files of the project that is there; names that lead out of the folder are none."""
    try:
        names = (folder / LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    return {name for name in names if name and not Path(name).is_absolute() and ".." not in Path(name).parts}


def _remove(folder: Path, names: Collection[str]) -> None:
    """Takes away files, and the folders that are empty then."""
    for name in sorted(names):
        path = folder / name
        with contextlib.suppress(OSError):
            path.unlink()
            for parent in Path(name).parents:
                if parent != Path("."):
                    (folder / parent).rmdir()


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

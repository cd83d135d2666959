"""Writes the folder of a project atomically: all files, or none."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO

from mslite.converter.errors import UsageError
from mslite.converter.mindir.atomic import beside, write_files_atomically
from mslite.converter.text_shortening import shortened

_SHOWN = 3
_EXECUTE = 0o111
_READ_TO_EXECUTE = 2


LIST = "generated-files.txt"
"""File with the names of a project's files, one per line, so that a later project can replace all of them."""


def check_folder(folder: Path, force: bool = False) -> None:
    """Raises UsageError for a folder that is neither empty nor an earlier project, unless `force` is set."""
    if force or not folder.is_dir() or (folder / LIST).is_file():
        return
    found = sorted(path.name for path in folder.iterdir())
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise UsageError(
            f"{folder}: the folder contains {', '.join(map(shortened, found[:_SHOWN]))}{more} and is not an earlier project. Choose "
            "another folder, or use --force to write into it"
        )


def write_folder(folder: Path, files: Mapping[str, str | bytes], executable: Collection[str] = ()) -> None:
    """Writes `files` (path in `folder` -> content); those in `executable` can be executed.

    A new folder is written under a temporary name and then renamed. In an existing folder, all files are replaced
    together; files of the earlier project that are no longer generated are removed, and others are kept. On failure the
    folder is unchanged.

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
            write_files_atomically({folder / name: write for name, write in writers.items()})
            _remove(folder, stale)
        else:
            _make(folder.parent, made)
            _write_new(folder, writers)
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):  # other files may be in it now
                path.rmdir()
        raise


def _earlier(folder: Path) -> set[str]:
    """Returns the files of an earlier project in the folder. Names that lead out of the folder are ignored."""
    try:
        names = (folder / LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    return {name for name in names if name and not Path(name).is_absolute() and ".." not in Path(name).parts}


def _remove(folder: Path, names: Collection[str]) -> None:
    """Removes files, and folders that become empty."""
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
    """Creates a folder and its parents, and appends the created ones to `made`. Raises OSError."""
    if folder.is_dir():
        return
    _make(folder.parent, made)
    folder.mkdir()
    made.append(folder)


def _writer(content: str | bytes, is_executable: bool) -> Callable[[IO[bytes]], None]:
    def write(file: IO[bytes]) -> None:
        # File names in the text can contain any bytes.
        file.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)
        if is_executable:  # for all users who can read it
            mode = os.fstat(file.fileno()).st_mode
            os.fchmod(file.fileno(), mode | mode >> _READ_TO_EXECUTE & _EXECUTE)

    return write

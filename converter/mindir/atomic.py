"""Writes files atomically: all files completely, or none."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO

_OWNER_READS = 0o400
_OWNER = 0o600
_EVERYBODY = 0o666
"""Permissions of new files, before the umask is applied."""


def write_files_atomically(
    writers: Mapping[Path, Callable[[IO[bytes]], None]],
    owner_only: bool = False,
    check: Callable[[Path], None] | None = None,
) -> None:
    """Writes each file under a temporary name in the same folder, then renames all; on failure, the old files are
    restored.

    A symbolic link at the target is replaced, not followed, unless it leads to a device or pipe, which are written to
    directly. `owner_only`: files are readable by their owner only, as with MindSpore Lite's converter; else they have
    the usual permissions. `check` is called with the temporary path of a single file; if it raises, nothing is
    written. Raises OSError.
    """
    files = [path for path in writers if not _is_stream(path)]
    staged = {path: beside(path, ".part") for path in files}
    kept = {path: beside(path, ".kept") for path in files if os.path.lexists(path)} if len(files) > 1 else {}
    fresh = [path for path in files if not os.path.lexists(path)]
    is_staged = False
    try:
        for path in files:
            _write(staged[path], writers[path], owner_only)
            if check is not None and len(files) == 1:
                check(staged[path])
        for path in writers:
            if path not in staged:
                with path.open("wb") as stream:
                    writers[path](stream)
        is_staged = True
        for path, name in kept.items():
            _keep(path, name)
        for path, part in staged.items():
            os.replace(part, path)
    except BaseException:
        for path, name in kept.items():
            if os.path.lexists(name):
                os.replace(name, path)
        remove(path for path in fresh if is_staged and not staged[path].exists())
        raise
    finally:
        remove((*staged.values(), *kept.values()))


def beside(path: Path, suffix: str) -> Path:
    """Returns an unpredictable name in the same folder."""
    return path.with_name(f".mslite-{secrets.token_hex(8)}{suffix}")


def remove(paths: Iterable[Path]) -> None:
    """Removes the files that exist."""
    for path in paths:
        path.unlink(missing_ok=True)


def _is_stream(path: Path) -> bool:
    """Returns whether the path is a device or pipe, which must not be replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISBLK(mode)


def _write(part: Path, write: Callable[[IO[bytes]], None], owner_only: bool) -> None:
    # O_EXCL: does not open an existing file or link.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(part, flags, _OWNER if owner_only else _EVERYBODY), "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
        if owner_only:
            os.fchmod(file.fileno(), _OWNER_READS)


def _keep(path: Path, name: Path) -> None:
    """Keeps a file that is about to be replaced: adds a hard link, or renames it if hard links are not supported."""
    try:
        os.link(path, name, follow_symlinks=False)
    except OSError:
        os.rename(path, name)

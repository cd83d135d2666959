"""Files that appear whole, and together, or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

_OWNER_READS = 0o400


def write_together(writers: Mapping[Path, Callable[[IO[bytes]], None]], owner_only: bool = False) -> None:
    """Writes each file beside its final place, then renames all; on failure everything is as it was before.

    `owner_only`: readable by their owner only, as MindSpore Lite's converter leaves models; otherwise with the usual
    permissions of new files. Raises OSError.
    """
    mode = _OWNER_READS if owner_only else 0o666 & ~_umask()
    staged: dict[Path, Path] = {}
    kept: dict[Path, Path] = {}
    placed: list[Path] = []
    try:
        for path, write in writers.items():
            staged[path] = _write(path, write, mode)
        if len(writers) > 1:
            kept = {path: _keep(path) for path in writers if path.exists()}
        for path, part in staged.items():
            os.replace(part, path)
            placed.append(path)
    except BaseException:
        for path in placed:
            if path in kept:
                os.replace(kept[path], path)
            else:
                path.unlink()
        raise
    finally:
        for part in (*staged.values(), *kept.values()):
            part.unlink(missing_ok=True)


def _write(path: Path, write: Callable[[IO[bytes]], None], mode: int) -> Path:
    handle, name = tempfile.mkstemp(prefix=".mslite-", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), mode)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    return Path(name)


def _umask() -> int:
    """It can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _keep(path: Path) -> Path:
    """A second name for a file that is about to be replaced."""
    name = Path(tempfile.mktemp(prefix=".mslite-", suffix=".kept", dir=path.parent))
    os.link(path, name)
    return name

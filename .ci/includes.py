"""Finds the includes of C and C++ files, for the checks in this folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

SUFFIXES = (".c", ".cc", ".h", ".inc", ".cpp")
# Include folders, in the order of the search.
SEARCH = ("kernels", "lite_runtime", "lite_runtime/include", "benchmark", "delegate")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def source_files(root: Path, folders: Iterable[str]) -> list[Path]:
    """Returns all C and C++ files in the folders."""
    return [file for folder in folders for file in sorted((root / folder).rglob("*")) if file.suffix in SUFFIXES]


def included(root: Path, file: Path) -> Iterator[tuple[str, int]]:
    """Yields the headers of the repository that a file includes, as paths relative to `root`, with line numbers."""
    text = file.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        header = _found(root, file, match[1])
        if header is not None:
            yield header, text.count("\n", 0, match.start(1)) + 1


def _found(root: Path, file: Path, header: str) -> str | None:
    """Returns the path of an included header, or None for generated and external headers."""
    if (file.parent / header).exists():
        return (file.parent / header).resolve().relative_to(root).as_posix()
    for folder in SEARCH:
        if (root / folder / header).exists():
            return f"{folder}/{header}"
    return None

"""Formats the text of `--help`: flags in groups, with their descriptions in one column."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable

_COLUMN = 30
_WIDEST = 110
"""Longer lines are hard to read."""


def width() -> int:
    """Returns the line width: the terminal's, or 100 columns if the output is not a terminal."""
    return max(60, min(shutil.get_terminal_size((100, 24)).columns, _WIDEST))


def group(title: str, lines: Iterable[tuple[str, str]]) -> str:
    """Returns a group of flags: each flag with its value, and its description."""
    return "\n".join([f"{title}:", *(_line(flag, text) for flag, text in lines), ""])


def _line(flag: str, text: str) -> str:
    head = f"  {flag}"
    rest = textwrap.wrap(text, width() - _COLUMN, break_long_words=False, break_on_hyphens=False) or [""]
    indent = " " * _COLUMN
    if len(head) + 2 > _COLUMN:
        return "\n".join([head, *(indent + line for line in rest)])
    return "\n".join([head.ljust(_COLUMN) + rest[0], *(indent + line for line in rest[1:])])

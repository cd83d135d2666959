"""Reads code from pages: `python -m tests.programs.readme "Build a program" docs/cpp.md` prints the commands of a section."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def blocks(section: str, language: str, page: str = "README.md") -> list[str]:
    """Returns the fenced blocks of a section without its subsections. Raises ValueError if there are none."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(section)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    result = re.findall(rf"^```{language}\n(.*?)^```$", found[1], re.MULTILINE | re.DOTALL) if found else []
    if not result:
        raise ValueError(f"{page} has no {language} in the section '{section}'")
    return result


def commands(section: str, page: str = "README.md") -> list[str]:
    """Returns the commands of a section, without comments."""
    lines = "".join(blocks(section, "sh", page)).splitlines()
    return [line for line in lines if line and not line.startswith("#")]


if __name__ == "__main__":
    print(*commands(*sys.argv[1:]), sep="\n")

"""`python3 -m mslite.converter.operator_pages FOLDER` writes `operators.md` and `operators_reference.md` into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from mslite.converter.operator_pages.pages import pages


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m mslite.converter.operator_pages FOLDER", file=sys.stderr)
        return 2
    for name, text in pages().items():
        (Path(arguments[0]) / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`make help`: a table of targets that there are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_target_of_the_table_exists() -> None:
    text = subprocess.run(
        ["make", "--no-print-directory", "help"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    listed = re.findall(r"^  ([a-z0-9-]+) +(\S.*)$", text, re.MULTILINE)
    rules = set(re.findall(r"^([a-z0-9-]+(?: [a-z0-9-]+)*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    known = {name for rule in rules for name in rule.split()}
    assert {name for name, _ in listed} <= known
    shown = known - {
        "help",
        "setup-slow",
        "check-compilers-x86",
        "check-compilers-arm64",
        "check-compilers-armv7",
        "trained-models",
    }
    assert shown <= {name for name, _ in listed}
    titles = [line for line in text.splitlines() if not line.startswith(" ")]
    assert len(titles) == 6
    assert len(text.splitlines()) == len(titles) + len(listed)

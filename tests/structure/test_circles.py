"""The check of `make lint` for dependency cycles finds those of a small tree, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("grimp")

ROOT = Path(__file__).parents[2]
SOUND = {
    "python/tiny/__init__.py": "from tiny import first\n",
    "python/tiny/first.py": "import tiny\nfrom tiny import second\n",
    "python/tiny/second.py": "",
    "kernels/kernel.h": "",
    "kernels/one/one.h": '#include "kernel.h"\n',
    "kernels/two/two.c": '#include "one/one.h"\n#include "two/two.h"\n',
    "kernels/two/two.h": "",
}
FROM_A_FUNCTION = "def late():\n    from tiny import first\n"
FOR_TYPES = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from tiny.first import First\n"


def check(root: Path, changes: dict[str, str]) -> tuple[int, list[str]]:
    """The exit code and the lines of the check, of the sound tree with other contents of some files."""
    for name, text in (SOUND | changes).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    command = [sys.executable, str(ROOT / ".ci" / "check_cycles.py"), str(root), "tiny"]
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert not result.stderr
    return result.returncode, result.stdout.splitlines()


def test_a_tree_without_a_circle(tmp_path: Path) -> None:
    """The package's own module may know its modules."""
    assert check(tmp_path, {}) == (0, ["1 imports and 3 includes, no cycle."])


@pytest.mark.parametrize(("text", "line"), [(FROM_A_FUNCTION, 2), (FOR_TYPES, 4)])
def test_modules(tmp_path: Path, text: str, line: int) -> None:
    assert check(tmp_path, {"python/tiny/second.py": text}) == (
        1,
        [
            "2 modules in a cycle: tiny.first, tiny.second",
            "  python/tiny/first.py:2: tiny.first -> tiny.second",
            f"  python/tiny/second.py:{line}: tiny.second -> tiny.first",
        ],
    )


def test_files(tmp_path: Path) -> None:
    assert check(tmp_path, {"kernels/kernel.h": '\n#include "one/one.h"\n'}) == (
        1,
        [
            "2 files in a cycle: kernels/kernel.h, kernels/one/one.h",
            "  kernels/kernel.h:2: kernels/kernel.h -> kernels/one/one.h",
            "  kernels/one/one.h:1: kernels/one/one.h -> kernels/kernel.h",
            "2 folders in a cycle: kernels/kernel.h, kernels/one",
            "  kernels/kernel.h:2: kernels/kernel.h -> kernels/one",
            "  kernels/one/one.h:1: kernels/one -> kernels/kernel.h",
        ],
    )


def test_folders(tmp_path: Path) -> None:
    """None of the files includes itself, but neither folder can be understood without the other."""
    assert check(tmp_path, {"kernels/one/other.c": '#include "two/two.h"\n'}) == (
        1,
        [
            "2 folders in a cycle: kernels/one, kernels/two",
            "  kernels/one/other.c:1: kernels/one -> kernels/two",
            "  kernels/two/two.c:1: kernels/two -> kernels/one",
        ],
    )

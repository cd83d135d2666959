"""Builds and runs `.ms` files in `run_ms`, and says which break the rules: no signal, no report of a sanitizer, no flood."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .corpus import run_batches
from .limits import KIBIBYTES, ROOT, SECONDS

_REPORT = 99
"""Exit code of a process that a sanitizer has ended."""
_OPTIONS = (
    f"exitcode={_REPORT}:detect_leaks=1:quarantine_size_mb=8:allocator_may_return_null=1:max_allocation_size_mb=1024"
)


@dataclass
class Runs:
    """What became of the files: how many ended with each exit code, and what is wrong."""

    codes: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def check(self) -> None:
        assert not self.problems, f"{len(self.problems)} problems:\n" + "\n".join(self.problems[:20])


def runtime_program() -> Path:
    """`run_ms` of the build that the environment names; skips the test when it names none."""
    build = os.environ.get("MSLITE_SANITIZE_BUILD") or os.environ.get("MSLITE_BUILD")
    if not build:
        pytest.skip("set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder with tests in it")
    return ROOT / build / "tests" / "run_ms"


def run_files(program: Path, files: Iterable[Path], isa: str = "", seconds: float = SECONDS) -> Runs:
    """Runs each file with the kernels of `isa`, or of the best that the machine has; none may take longer than `seconds`."""
    options = {"ASAN_OPTIONS": _OPTIONS, "UBSAN_OPTIONS": f"exitcode={_REPORT}:print_stacktrace=1"}
    if isa:
        options["MSLITE_ISA"] = isa
    runs = Runs()
    for path, line in run_batches([str(program)], list(files), options):
        code, milliseconds, memory, *message = line.split(" ", 3)
        runs.codes[int(code)] += 1
        wrong = {
            "a report of the sanitizer, or a signal": int(code) not in (0, 1),
            "too long": int(milliseconds) > seconds * 1000,
            "too much memory": int(memory) > KIBIBYTES,
            "refused without a reason": code == "1" and len("".join(message).strip()) < 10,
        }
        runs.problems += [f"{path.name}: {name}: {line}" for name, is_wrong in wrong.items() if is_wrong]
    return runs


def run_until(seconds: float, run: Callable[[int, Path], Runs], first: int, batch: int) -> tuple[Runs, int]:
    """`run` makes and runs `batch` files from a number on in a folder, until the time is over; the sum, and the next number."""
    end, total = time.monotonic() + seconds, Runs()
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as name:
            runs = run(first, Path(name))
        total.codes += runs.codes
        total.problems += runs.problems
        first += batch
    return total, first


def run_campaign(description: str, campaign: Callable[[float, int], tuple[Runs, int]]) -> int:
    """The command line of a campaign; its exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    runs, end = campaign(asked.seconds, asked.first)
    print(f"{end - asked.first} files: {dict(runs.codes)}")
    print("\n".join(runs.problems))
    return 1 if runs.problems else 0

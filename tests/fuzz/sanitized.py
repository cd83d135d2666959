"""Builds and runs `.ms` files in `run_ms`, and reports signals, sanitizer errors and excessive output."""

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
"""Exit code of a process that a sanitizer has aborted."""
_OPTIONS = (
    f"exitcode={_REPORT}:detect_leaks=1:quarantine_size_mb=8:allocator_may_return_null=1:max_allocation_size_mb=1024"
)


@dataclass
class Runs:
    """Count of each exit code, and the problems."""

    codes: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def check(self) -> None:
        assert not self.problems, f"{len(self.problems)} problems:\n" + "\n".join(self.problems[:20])


def runtime_program() -> Path:
    """Returns `run_ms` of the build in the environment variable; skips the test without it."""
    build = os.environ.get("MSLITE_SANITIZE_BUILD") or os.environ.get("MSLITE_BUILD")
    if not build:
        pytest.skip("set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder with tests in it")
    return ROOT / build / "tests" / "run_ms"


def run_files(program: Path, files: Iterable[Path], isa: str = "", seconds: float = SECONDS) -> Runs:
    """Runs each file with the kernels of `isa`, or the best ones of the machine, with a time limit of `seconds` for each."""
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
    """Calls `run`, which makes and runs `batch` files, until the time is over. Returns the sum and the next number."""
    end, total = time.monotonic() + seconds, Runs()
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as name:
            runs = run(first, Path(name))
        total.codes += runs.codes
        total.problems += runs.problems
        first += batch
    return total, first


def run_campaign(description: str, campaign: Callable[[float, int], tuple[Runs, int]]) -> int:
    """Runs a campaign from the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    runs, end = campaign(asked.seconds, asked.first)
    print(f"{end - asked.first} files: {dict(runs.codes)}")
    print("\n".join(runs.problems))
    return 1 if runs.problems else 0

"""Malformed files: made from valid ones, run in batches, and checked for the limits of a conversion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .limits import ENVIRONMENT, problem_of
from .mutate import Mutator, variant

BATCH = 40


def variants(good: Sequence[bytes], count: int, mutator: Mutator, folder: Path, suffix: str) -> list[Path]:
    """Returns `count` malformed files made from all seeds in turn, with raw changes if a structured change cannot be written."""
    files = []
    for number in range(count):
        data = good[number % len(good)]
        try:
            hostile = variant(data, number, mutator)
        except Exception:  # the structured change cannot be written; uses a raw change instead
            hostile = variant(data, number * 2 + 1, mutator)
        files.append(folder / f"{number:04}{suffix}")
        files[-1].write_bytes(hostile)
    return files


def run_batches(command: list[str], files: list[Path], environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Returns one result per file, with a process for each batch and as many processes as processors."""

    def run(batch: list[Path]) -> list[str]:
        result = subprocess.run(
            [*command, *map(str, batch)], capture_output=True, text=True, env={**os.environ, **environment}, check=False
        )
        lines = result.stdout.splitlines()
        assert len(lines) == len(batch), f"the runner died: {result.stderr[-2000:]}"
        return lines

    batches = [files[start : start + BATCH] for start in range(0, len(files), BATCH)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for batch, lines in zip(batches, pool.map(run, batches), strict=True):
            yield from zip(batch, lines, strict=True)


def conversions(files: Iterable[Path]) -> list[tuple[Path, dict[str, Any]]]:
    """Returns the result of run_converter.py for each file."""
    lines = run_batches([sys.executable, "-m", "tests.fuzz.run_converter"], list(files), ENVIRONMENT)
    return [(path, json.loads(line)) for path, line in lines]


def check_conversions(files: Iterable[Path]) -> Counter[int]:
    """Asserts that every conversion keeps the limits. Returns the count of each exit code."""
    problems, codes = [], Counter[int]()
    for path, result in conversions(files):
        codes[result["code"]] += 1
        problem = problem_of(result)
        if problem is not None:
            problems.append(f"{path.name}: {problem}: {result['text'][-400:]}")
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:20])
    return codes

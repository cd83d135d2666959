"""Hostile model files: each gets one clear error or a result, never a crash, a hang or a flood of memory."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from . import mutate_ms, mutate_onnx, mutate_tflite
from .limits import ENVIRONMENT, KIBIBYTES, ROOT, SECONDS, problem_of
from .mutate import Mutator, variant

VARIANTS = 320
SHARED = ROOT.parent / "shared" / "models"
BATCH = 40


def seeds(suffix: str) -> list[Path]:
    """Good small files of one format: the project's own, and the shared ones where they are."""
    own = sorted(ROOT.glob(f"examples/**/*{suffix}")) + sorted(ROOT.glob(f"tests/models/*{suffix}"))
    shared = sorted(path for path in SHARED.glob(f"*/*/model{suffix}") if path.stat().st_size < 60_000)
    return own + shared[:: max(1, len(shared) // 12)]


def variants(files: list[Path], mutator: Mutator, folder: Path, suffix: str) -> Iterator[Path]:
    """VARIANTS hostile files made from all seeds in turn. One that a structured mutation cannot write is made raw."""
    good = [path.read_bytes() for path in files]
    for number in range(VARIANTS):
        data = good[number % len(good)]
        try:
            hostile = variant(data, number, mutator)
        except Exception:  # the lie cannot even be written; any raw damage will do
            hostile = variant(data, number * 2 + 1, mutator)
        path = folder / f"{number:04}{suffix}"
        path.write_bytes(hostile)
        yield path


def run_batches(command: list[str], files: list[Path], environment: dict[str, str]) -> Iterator[tuple[Path, str]]:
    """One line per file, from a process for each batch; as many at a time as there are processors."""

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


def runtime_program() -> Path:
    build = os.environ.get("MSLITE_SANITIZE_BUILD") or os.environ.get("MSLITE_BUILD")
    if not build:
        pytest.skip("set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder with tests in it")
    return ROOT / build / "tests" / "run_ms"


@pytest.mark.skipif(not seeds(".ms"), reason="no small .ms files: ../shared/models is absent")
def test_runtime_survives_hostile_ms_files(tmp_path: Path) -> None:
    files = list(variants(seeds(".ms"), mutate_ms.mutate, tmp_path, ".ms"))
    problems, codes = [], Counter[int]()
    options = {
        "ASAN_OPTIONS": "quarantine_size_mb=8:detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=1024"
    }
    for path, line in run_batches([str(runtime_program())], files, options):
        code, milliseconds, memory, *message = line.split(" ", 3)
        codes[int(code)] += 1
        if int(code) not in (0, 1) or int(milliseconds) > SECONDS * 1000 or int(memory) > KIBIBYTES:
            problems.append(f"{path.name}: {line}")
        elif code == "1" and len("".join(message).strip()) < 10:
            problems.append(f"{path.name}: refused without a reason: {line}")
    assert not problems, "\n".join(problems[:20])
    assert codes[1] > VARIANTS // 2, f"too few files were refused: {codes}"


@pytest.mark.parametrize(
    ("suffix", "mutator"),
    [(".onnx", mutate_onnx.mutate), (".tflite", mutate_tflite.mutate), (".ms", mutate_ms.mutate)],
)
def test_converter_survives_hostile_files(
    suffix: str, mutator: Callable[[bytes, random.Random], bytes], tmp_path: Path
) -> None:
    files = seeds(suffix)
    if not files:
        pytest.skip(f"no small {suffix} files: ../shared/models is absent")
    hostile = list(variants(files, mutator, tmp_path, suffix))
    problems, codes = [], Counter[int]()
    for path, line in run_batches([sys.executable, "-m", "tests.fuzz.run_converter"], hostile, ENVIRONMENT):
        result = json.loads(line)
        codes[result["code"]] += 1
        problem = problem_of(result)
        if problem is not None:
            problems.append(f"{path.name}: {problem}: {result['text'][-400:]}")
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:20])
    assert codes[0] < VARIANTS, "not one file was refused"

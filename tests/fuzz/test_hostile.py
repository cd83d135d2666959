"""Hostile model files: each gets one clear error or a result, never a crash, a hang or a flood of memory."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from . import mutate_ms, mutate_onnx, mutate_tflite
from .mutate import Mutator, variant

VARIANTS = 320
SECONDS, KIBIBYTES = 5, 512 * 1024
ROOT = Path(__file__).resolve().parents[2]
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
    for start in range(0, len(files), BATCH):
        batch = files[start : start + BATCH]
        result = subprocess.run(
            [*command, *map(str, batch)], capture_output=True, text=True, env={**os.environ, **environment}, check=False
        )
        lines = result.stdout.splitlines()
        assert len(lines) == len(batch), f"the runner died: {result.stderr[-2000:]}"
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
    for path, line in run_batches(
        [sys.executable, "-m", "tests.fuzz.run_converter"],
        hostile,
        {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    ):
        result = json.loads(line)
        codes[result["code"]] += 1
        text = result["text"]
        wrong = [
            (result["code"] not in (0, 1, 3), f"exit code {result['code']}"),
            ("Traceback" in text, "a traceback"),
            (result["seconds"] > SECONDS, f"{result['seconds']:.1f} s"),
            (result["memory"] > KIBIBYTES, f"{result['memory'] // 1024} MiB"),
            (result["code"] != 0 and len(text.strip()) < 20, "no message"),
            (result["code"] != 0 and bool(result["left"]), f"left {result['left']}"),
        ]
        problems += [f"{path.name}: {what}: {text[-400:]}" for is_wrong, what in wrong if is_wrong]
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:20])
    assert codes[0] < VARIANTS, "not one file was refused"

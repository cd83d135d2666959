"""Hostile model files: each gets one clear error or a result, never a crash, a hang or a flood of memory."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from . import mutate_ms, mutate_onnx, mutate_tflite
from .corpus import check_conversions, run_batches, variants
from .limits import KIBIBYTES, ROOT, SECONDS, SUCCESS
from .mutate import Mutator

pytestmark = pytest.mark.nonconforming("damaged .ms files are laid out by the writer, too")

VARIANTS = 320
SHARED = ROOT.parent / "shared" / "models"


def seeds(suffix: str) -> list[Path]:
    """Good small files of one format: the project's own, and the shared ones where they are."""
    own = sorted(ROOT.glob(f"examples/**/*{suffix}")) + sorted(ROOT.glob(f"tests/models/*{suffix}"))
    shared = sorted(path for path in SHARED.glob(f"*/*/model{suffix}") if path.stat().st_size < 60_000)
    return own + shared[:: max(1, len(shared) // 12)]


def runtime_program() -> Path:
    build = os.environ.get("MSLITE_SANITIZE_BUILD") or os.environ.get("MSLITE_BUILD")
    if not build:
        pytest.skip("set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder with tests in it")
    return ROOT / build / "tests" / "run_ms"


@pytest.mark.skipif(not seeds(".ms"), reason="no small .ms files: ../shared/models is absent")
def test_runtime_survives_hostile_ms_files(tmp_path: Path) -> None:
    good = [path.read_bytes() for path in seeds(".ms")]
    files = variants(good, VARIANTS, mutate_ms.mutate, tmp_path, ".ms")
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
def test_converter_survives_hostile_files(suffix: str, mutator: Mutator, tmp_path: Path) -> None:
    good = [path.read_bytes() for path in seeds(suffix)]
    if not good:
        pytest.skip(f"no small {suffix} files: ../shared/models is absent")
    codes = check_conversions(variants(good, VARIANTS, mutator, tmp_path, suffix))
    assert codes[SUCCESS] < VARIANTS, "not one file was refused"

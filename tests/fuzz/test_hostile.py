"""Hostile model files: each gets one clear error or a result, never a crash, a hang or a flood of memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import mutate_ms, mutate_onnx, mutate_tflite
from .corpus import check_conversions, variants
from .limits import ROOT, SUCCESS
from .mutate import Mutator
from .sanitized import run_files, runtime_program

pytestmark = pytest.mark.nonconforming("damaged .ms files are laid out by the writer, too")

VARIANTS = 320
SHARED = ROOT.parent / "shared" / "models"


def seeds(suffix: str) -> list[Path]:
    """Good small files of one format: the project's own, and the shared ones where they are."""
    own = sorted(ROOT.glob(f"examples/**/*{suffix}")) + sorted(ROOT.glob(f"tests/models/*{suffix}"))
    shared = sorted(path for path in SHARED.glob(f"*/*/model{suffix}") if path.stat().st_size < 60_000)
    return own + shared[:: max(1, len(shared) // 12)]


@pytest.mark.skipif(not seeds(".ms"), reason="no small .ms files: ../shared/models is absent")
def test_runtime_survives_hostile_ms_files(tmp_path: Path) -> None:
    good = [path.read_bytes() for path in seeds(".ms")]
    files = variants(good, VARIANTS, mutate_ms.mutate, tmp_path, ".ms")
    runs = run_files(runtime_program(), files)
    runs.check()
    assert runs.codes[1] > VARIANTS // 2, f"too few files were refused: {runs.codes}"


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

"""Generated projects with vector instructions: NEON and its dot products under user-mode QEMU, AVX2 where this machine has it."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named

from .networks import keywords, resnet8

TRAINED = Path(__file__).resolve().parents[1] / "models" / "trained"
VECTOR = {"arm64": "arm_neon.h", "arm64-dot": "vdotq_s32", "arm32": "arm_neon.h", "x86-avx2": "immintrin.h"}
"""What the kernels of a target's convolutions use."""


def _needs(target: str) -> None:
    chosen = target_named(target)
    for program in (chosen.compiler, *chosen.emulator[:1]):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if target == "x86-avx2":
        flags = Path("/proc/cpuinfo").read_text() if platform.machine() == "x86_64" else ""
        if not {"avx2", "fma", "f16c"} <= set(re.findall(r"\w+", flags)):
            pytest.skip("this machine has no AVX2")


def _tested(model: Path, target: str, folder: Path) -> str:
    """Generates, builds and runs the recorded cases; the text of all kernels."""
    _needs(target)
    generate([Source(model)], GenerateSettings(target_named(target), folder / "project", measure=False))
    command = ["make", "-s", "-C", str(folder / "project"), "test"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert "2 of 2 cases as recorded" in done.stdout + done.stderr
    return "".join(path.read_text() for path in (folder / "project" / "src" / "kernels").rglob("*.[ch]"))


@pytest.mark.parametrize("target", VECTOR)
def test_stored_integers(target: str, tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(resnet8() if target == "arm64-dot" else keywords())
    assert VECTOR[target] in _tested(model, target, tmp_path)


@pytest.mark.parametrize(
    "target", [target if target == "arm64" else pytest.param(target, marks=pytest.mark.slow) for target in VECTOR]
)
def test_real_numbers(target: str, tmp_path: Path) -> None:
    assert "vector_size" in _tested(TRAINED / "cnn.onnx", target, tmp_path)

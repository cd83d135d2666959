"""What `--trainMemory` counts for a step on 64-bit ARM is what the runtime there plans, under QEMU."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from mslite import _codegen
from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.training import Loss, Optimizer, TrainSettings

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get("MSLITE_ARM64_BUILD")

pytestmark = [
    pytest.mark.skipif(not BUILD, reason="MSLITE_ARM64_BUILD names no cross build"),
    pytest.mark.skipif(shutil.which("qemu-aarch64") is None, reason="qemu-aarch64 is not installed"),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("memory", [None, 800 << 10])
def test_the_arena(memory: int | None, threads: int, tmp_path: Path) -> None:
    settings = TrainSettings(Loss.SPARSE_SOFTMAX, Optimizer.MOMENTUM, 0.05, memory=memory)
    model = ROOT / "examples" / "digits" / "digits.onnx"
    (file, *_) = convert(
        Options(model, tmp_path / "digits_train", training=settings, input_shapes={"image": (32, 1, 8, 8)})
    ).files
    program = Path(str(BUILD)).absolute() / "benchmark" / "benchmark_train"
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program, f"--modelFile={file}"]
    done = subprocess.run(
        [*command, "--epochs=1", "--warmUpLoopCount=0", f"--numThreads={threads}"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert f"Arena allocation: {_codegen.step_arena(file, ['scalar', 'neon'], threads)}\n" in done.stdout, done.stderr

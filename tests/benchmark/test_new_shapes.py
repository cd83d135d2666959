"""`benchmark --shapeStep`: what shapes that were not seen before cost."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mslite.converter import cli

ROOT = Path(__file__).parents[2]


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def open_batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of images whose number is open."""
    file = tmp_path_factory.mktemp("digits") / "digits"
    assert cli.main([f"--modelFile={ROOT / 'examples' / 'digits' / 'digits.onnx'}", f"--outputFile={file}"]) == 0
    return file.with_suffix(".ms")


@pytest.mark.parametrize("step", ["image:2,0,0,0", "im*:2,0,0,0", "*:2,0,0,0"])
def test_times_each_new_shape(program: Path, open_batch: Path, step: str) -> None:
    done = run(program, f"--modelFile={open_batch}", "--inputShapes=1,8,8,1", f"--shapeStep={step}", "--loopCount=30")
    assert done.returncode == 0, done.stderr
    memory = re.findall(r"^After shape (\d+): (\d+) steps, packed and folded weights ([\d.]+) MiB", done.stdout, re.M)
    assert [shape for shape, *_ in memory] == ["2", "30"]
    assert memory[0][1:] == memory[1][1:]
    for line in ("Planning a new shape", "Inference with the new shape"):
        assert re.search(rf"^{line}: min [\d.]+ ms, median [\d.]+, p90 [\d.]+, max [\d.]+$", done.stdout, re.M)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("picture:1,0,0,0", "--shapeStep: the model has no input 'picture'"),
        ("image:1,0", "--shapeStep: input 'image' has 4 dimensions, but 'image:1,0' has 2"),
        ("image:1,0,0,-1", "--shapeStep: '-1' is not an integer from 0 to 1048576"),
        ("1,0,0,0", "--shapeStep: '1,0,0,0' is not of the form NAME:1,0,..."),
    ],
)
def test_refuses_steps_that_do_not_fit(program: Path, open_batch: Path, step: str, message: str) -> None:
    done = run(program, f"--modelFile={open_batch}", "--inputShapes=1,8,8,1", f"--shapeStep={step}")
    assert done.returncode == 1
    assert message in done.stderr


def test_is_not_for_files_of_inputs(program: Path, open_batch: Path) -> None:
    done = run(program, f"--modelFile={open_batch}", "--shapeStep=image:1,0,0,0", "--inDataFile=x.bin")
    assert done.returncode == 2
    assert "--shapeStep cannot be used with" in done.stderr

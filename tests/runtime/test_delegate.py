"""The worked example of a delegate: what it takes over, and the same results as on the CPU."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import onnx
import onnx.parser
import pytest

from mslite.converter.convert import convert
from mslite.converter.options import Options

ROOT = Path(__file__).parents[2]
PROGRAM = (ROOT / os.environ.get("MSLITE_BUILD", "build")).resolve() / "examples/delegate/run_delegate"

pytestmark = pytest.mark.skipif(not PROGRAM.is_file(), reason=f"{PROGRAM} was not built")


def converted(path: Path, text: str) -> Path:
    source = path.with_suffix(".onnx")
    onnx.save(onnx.parser.parse_model(text), source)
    convert(Options(model_file=source, output_file=path))
    return path.with_suffix(".ms")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_sub_graphs_between_what_it_does_not_have(tmp_path: Path) -> None:
    model = converted(
        tmp_path / "model",
        """<ir_version: 8, opset_import: ["" : 17]>
        waves (float[2, 6] x) => (float[2, 6] y) {
            a = Abs(x)  n = Neg(a)  s = Sin(n)  p = Mul(s, a)  q = Neg(p)  c = Cos(q)  y = Relu(c)
        }""",
    )
    done = run(model)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "the delegate runs 4 nodes in 2 partitions\n12 values are equal to those of the CPU\n"


def test_a_trained_model(tmp_path: Path) -> None:
    source = ROOT / "examples/digits/digits.onnx"
    convert(Options(model_file=source, output_file=tmp_path / "digits", input_shapes={"image": (1, 1, 8, 8)}))
    done = run(tmp_path / "digits.ms")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 values are equal to those of the CPU" in done.stdout


def test_wrong_use() -> None:
    assert run().returncode == 2
    missing = run("there_is_none.ms")
    assert missing.returncode == 1
    assert "there_is_none.ms" in missing.stderr

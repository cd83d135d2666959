"""`benchmark` with what it cannot use: a message that says what was got and what was expected, and exit code 1 or 2."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mslite.converter.cli import main

from .hostile_onnx import one_node
from .limits import ROOT

BUILD = os.environ.get("MSLITE_BUILD") or os.environ.get("MSLITE_SANITIZE_BUILD")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benchmark")
    (folder / "net.onnx").write_bytes(one_node("Relu").SerializeToString())
    assert main([f"--modelFile={folder / 'net.onnx'}", f"--outputFile={folder / 'net'}"]) == 0
    (folder / "five_bytes.bin").write_bytes(bytes(5))
    (folder / "folder.ms").mkdir()
    return folder


@pytest.mark.skipif(not BUILD, reason="set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder")
@pytest.mark.parametrize(
    ("flags", "status", "message"),
    [
        (["--modelFile=absent.ms"], 1, "absent.ms"),
        (["--modelFile=folder.ms"], 1, "not a regular file"),
        (["--modelFile=five_bytes.bin"], 1, "too short for a model"),
        (["--modelFile=net.onnx"], 1, "net.onnx"),
        (["--modelFile=net.ms", "--frobnicate=1"], 2, "frobnicate"),
        (["--modelFile=net.ms", "--inDataFile=five_bytes.bin"], 1, "holds 5 bytes; input 'x0' takes 128"),
        (["--modelFile=net.ms", "--inDataFile=absent.bin"], 1, "absent.bin"),
        (["--modelFile=net.ms", "--inputShapes=1,2,4,4:1,2"], 1, "gives 2 shapes; the model has 1 inputs"),
        (["--modelFile=net.ms", "--inputShapes=1,-2,4,4"], 1, "-2"),
        (["--modelFile=net.ms", "--inputShapes=2147483647,2147483647,1,1"], 1, "larger than a tensor may be"),
        (["--modelFile=net.ms", "--loopCount=1", "--jsonFile=absent/result.json"], 1, "cannot write"),
    ],
)
def test_one_clear_error(flags: list[str], status: int, message: str, folder: Path) -> None:
    program = ROOT / str(BUILD) / "benchmark" / "benchmark"
    result = subprocess.run([program, *flags], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert message in result.stdout + result.stderr
    assert result.returncode == status

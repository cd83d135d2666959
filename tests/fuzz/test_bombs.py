"""Small files that ask for much: they are refused or converted within bounds of memory, time and text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mslite.converter.cli import main

from .bombs import BOMBS
from .corpus import conversions
from .limits import ENVIRONMENT, problem_of

_LONGEST = 8_000
"""Characters that a conversion prints."""


@pytest.mark.parametrize("name", BOMBS)
def test_within_bounds(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.onnx"
    path.write_bytes(BOMBS[name]().SerializeToString())
    ((_, result),) = conversions([path])
    assert problem_of(result) is None, f"{problem_of(result)}: {result['text'][:500]}"
    assert len(result["text"]) < _LONGEST


def test_folds_leave_the_file_small(tmp_path: Path) -> None:
    path = tmp_path / "many.onnx"
    path.write_bytes(BOMBS["many_folds"]().SerializeToString())
    assert main([f"--modelFile={path}", f"--outputFile={tmp_path / 'many'}"]) == 0
    assert (tmp_path / "many.ms").stat().st_size < 32 << 20


@pytest.mark.parametrize("flag", ["--check", "--outputFile"])
def test_long_names_are_cut(flag: str, tmp_path: Path) -> None:
    path, page = tmp_path / "long.onnx", tmp_path / "page.html"
    path.write_bytes(BOMBS["long_node_name"]().SerializeToString())
    flags = ["--check", f"--checkReport={page}"] if flag == "--check" else [f"{flag}={tmp_path / 'result'}"]
    run = subprocess.run(
        [sys.executable, "-m", "mslite.converter.cli", f"--modelFile={path}", *flags],
        capture_output=True, text=True, env={**os.environ, **ENVIRONMENT}, check=False,
    )  # fmt: skip
    assert run.returncode == 3
    assert (run.stdout + run.stderr).count("n") < 1_000
    assert len(run.stdout) + len(run.stderr) < _LONGEST
    assert not page.exists() or page.stat().st_size < 100_000


def test_the_process_is_bounded(tmp_path: Path) -> None:
    """What no check foresees ends in the same message: here an array that a plug-in makes."""
    plugin = tmp_path / "plugin.py"
    plugin.write_text("import numpy\nnumpy.ones(4 << 30, numpy.uint8)\n")
    (tmp_path / "c.cfg").write_text(f"[registry]\nplugin_path={plugin}\n")
    path = tmp_path / "net.onnx"
    path.write_bytes(BOMBS["long_value_name"]().SerializeToString())
    run = subprocess.run(
        [sys.executable, "-m", "mslite.converter.cli", f"--modelFile={path}", f"--outputFile={tmp_path / 'net'}",
         f"--configFile={tmp_path / 'c.cfg'}", "--memoryLimit=64"],
        capture_output=True, text=True, env={**os.environ, **ENVIRONMENT}, check=False,
    )  # fmt: skip
    assert run.returncode in (1, 2)
    assert "memory" in run.stderr.lower()
    assert "Traceback" not in run.stderr

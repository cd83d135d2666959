"""The program of docs/migrating.md, as it stands and with the original's package in place of mslite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.cli import main
from tests.programs.readme import ROOT, blocks

ORIGINAL = os.environ.get("MSLITE_ORIGINAL_PYTHON")
BUILD = Path(os.environ.get("MSLITE_BUILD", "build")).resolve()
SECTION = "From 2.0.0 to mslite in ten lines of Python"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the examples, and the model converted for 2.0."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    flags = ["--inputShape=image:1,1,8,8", "--targetVersion=2.0"]
    assert (
        main([f"--modelFile={ROOT / 'examples/digits/digits.onnx'}", f"--outputFile={tmp_path / 'digits'}", *flags])
        == 0
    )
    return tmp_path


def printed(script: str, python: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python") if python == sys.executable else ""}
    command = [python, "-c", script]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def label() -> int:
    return int(np.load(ROOT / "examples/digits/digits_test.npz")["labels"][1])


def test_ten_lines(checkout: Path) -> None:
    (script,) = blocks(SECTION, "python", "docs/migrating.md")
    assert sum(bool(line) for line in script.splitlines()) == 10
    assert printed(script, sys.executable, checkout) == f"{label()}\n"


@pytest.mark.slow
@pytest.mark.skipif(ORIGINAL is None, reason="the original is not there: `make check-original`")
def test_ten_lines_with_the_original(checkout: Path) -> None:
    (script,) = blocks(SECTION, "python", "docs/migrating.md")
    old = script.replace("import mslite as lite", "import mindspore_lite as lite")
    assert old != script
    assert printed(old, str(ORIGINAL), checkout).splitlines()[-1] == str(label())

"""Fixtures for the tests of the benchmark program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mslite.converter import cli

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / os.environ.get("MSLITE_BUILD", "build") / "benchmark" / "benchmark"


@pytest.fixture(scope="session")
def program() -> Path:
    if not PROGRAM.is_file():
        pytest.skip("benchmark was not built")
    return PROGRAM


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("digits") / "digits"
    source = ROOT / "examples" / "digits" / "digits.onnx"
    assert cli.main([f"--modelFile={source}", f"--outputFile={file}", "--inputShape=image:1,1,8,8"]) == 0
    return file.with_suffix(".ms")

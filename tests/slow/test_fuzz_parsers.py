"""Each parser of the converter under Atheris: ten minutes, or MSLITE_FUZZ_SECONDS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.limits import ENVIRONMENT
from tests.fuzz.targets import PARSERS

SECONDS = os.environ.get("MSLITE_FUZZ_SECONDS", "600")


@pytest.mark.parametrize("parser", PARSERS)
def test_no_input_is_neither_taken_nor_refused(parser: str, tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="atheris is not installed; .ci/setup slow installs it")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.fuzz.atheris_target", f"--parser={parser}", f"--seconds={SECONDS}"],
        capture_output=True, text=True, errors="replace", cwd=tmp_path, env={**os.environ, **ENVIRONMENT}, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-3000:]
    assert "Done " in run.stderr

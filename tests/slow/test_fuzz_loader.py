"""The loader and the kernels under libFuzzer: ten minutes, or MSLITE_FUZZ_SECONDS."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz.loader import fuzz, write_seeds

pytestmark = pytest.mark.nonconforming("odd nodes are what these files are for")

SECONDS = int(os.environ.get("MSLITE_FUZZ_SECONDS", "600"))
BUILD = os.environ.get("MSLITE_FUZZ_BUILD")


@pytest.mark.skipif(not BUILD, reason="set MSLITE_FUZZ_BUILD to a build folder of clang with -DMSLITE_FUZZ=ON")
def test_no_file_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Path(str(BUILD)).absolute() / "tests" / "load_fuzzer"
    monkeypatch.chdir(tmp_path)  # where libFuzzer writes what it finds
    (tmp_path / "corpus").mkdir()
    write_seeds(tmp_path / "corpus")
    code, executions, end = fuzz(program, SECONDS, tmp_path / "corpus")
    assert code == 0, end
    assert executions > 100 * SECONDS, end

"""The matrix of odd nodes, ten times as much of it as CI takes, on the release build."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from tests.fuzz.matrix import plain, spoiled_cases
from tests.fuzz.sanitized import run_files, runtime_program
from tests.fuzz.test_matrix import written

pytestmark = pytest.mark.nonconforming("odd nodes are what these files are for")

STEP = 97


def test_every_operator_with_any_operands(tmp_path: Path) -> None:
    files = written(chain(plain(STEP, 50), spoiled_cases(10)), tmp_path)
    runs = run_files(runtime_program(), files, seconds=20)  # a Resize may fill all the memory that a run may take
    runs.check()
    assert runs.codes[0] > 1000, f"too few files ran: {runs.codes}"

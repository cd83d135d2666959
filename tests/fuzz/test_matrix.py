"""Every operator, any number of operands, any types, with and without records: an error with a reason, or a result."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from .matrix import plain, spoiled_cases
from .sanitized import run_files, runtime_program

pytestmark = pytest.mark.nonconforming("odd nodes are what these files are for")

STEP = 997
"""Of the files of the matrix, every so many in CI; tests/slow takes more."""


def written(files: Iterable[tuple[str, bytes]], folder: Path) -> list[Path]:
    paths = []
    for name, data in files:
        paths.append(folder / f"{name}.ms")
        paths[-1].write_bytes(data)
    return paths


@pytest.mark.parametrize("isa", ["", "scalar"])
def test_plain_nodes(isa: str, tmp_path: Path) -> None:
    runs = run_files(runtime_program(), written(plain(STEP, len(isa)), tmp_path), isa)
    runs.check()
    assert runs.codes[0] > 20, f"too few files ran: {runs.codes}"


@pytest.mark.parametrize("isa", ["", "scalar"])
def test_spoiled_reference_cases(isa: str, tmp_path: Path) -> None:
    runs = run_files(runtime_program(), written(spoiled_cases(2, step=4, first=len(isa) // 6), tmp_path), isa)
    runs.check()
    assert runs.codes[0] > 100, f"too few files ran: {runs.codes}"

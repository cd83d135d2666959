"""Hostile training files: each gets one clear error or is trained and exported, never a crash, a hang or a flood of memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from .training import run, run_files, seeds, training_program

pytestmark = pytest.mark.nonconforming("damaged .ms files are laid out by the writer, too")

VARIANTS = 240


def test_sound_training_files_are_trained(tmp_path: Path) -> None:
    """The seeds, in every way that the program knows."""
    files = []
    for number, content in enumerate(seeds()):
        files.append(tmp_path / f"{number}.ms")
        files[-1].write_bytes(content)
    runs = run_files(training_program(), files)
    runs.check()
    assert set(runs.codes) == {0}, runs.codes


def test_training_survives_hostile_files(tmp_path: Path) -> None:
    runs = run(seeds(), 0, VARIANTS, tmp_path)
    runs.check()
    assert runs.codes[1] > VARIANTS // 4, f"too few files were refused: {runs.codes}"
    assert runs.codes[0] > VARIANTS // 20, f"too few files were trained: {runs.codes}"


@pytest.mark.parametrize("number", [3374, 7528, 9886])
def test_values_of_variables_that_nothing_computes(number: int, tmp_path: Path) -> None:
    """Found by the slow campaign: the run copied from a null pointer."""
    run(seeds(), number, 1, tmp_path).check()

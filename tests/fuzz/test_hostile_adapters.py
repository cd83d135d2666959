"""Hostile adapters: each is refused or used, and a sound model computes the same as before when it is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from .adapters import run, seeds

pytestmark = pytest.mark.nonconforming("damaged .ms files are laid out by the writer, too")

VARIANTS = 400


def test_models_survive_hostile_adapters(tmp_path: Path) -> None:
    runs = run(seeds(), 0, VARIANTS, tmp_path)
    runs.check()
    assert runs.codes[1] > VARIANTS // 4, f"too few adapters were refused: {runs.codes}"
    assert runs.codes[0] > VARIANTS // 8, f"too few adapters were loaded: {runs.codes}"

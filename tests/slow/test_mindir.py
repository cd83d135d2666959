"""Every model of the open set through a `.mindir` file; CI takes a quarter of them (tests/e2e/test_mindir.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.models import Entry
from tests.e2e.test_mindir import ENTRIES, check_round_trip


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path)
def test_the_round_trip_changes_nothing(entry: Entry, tmp_path: Path) -> None:
    check_round_trip(entry, tmp_path)

"""Pytest plug-in: with MSLITE_SAMPLE=n, runs every n-th case of tests with many parameters, selected by name, and all other tests."""

from __future__ import annotations

import os
import zlib
from collections import Counter

import pytest

MANY = 8
"""Tests with fewer cases than this run completely."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Removes the tests that are not in the sample."""
    share = int(os.environ.get("MSLITE_SAMPLE", "1"))
    cases = Counter(item.nodeid.partition("[")[0] for item in items)

    def is_chosen(item: pytest.Item) -> bool:
        name, _, case = item.nodeid.partition("[")
        return cases[name] < MANY or zlib.crc32(case.encode()) % share == 0

    left_out = [item for item in items if not is_chosen(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if is_chosen(item)]

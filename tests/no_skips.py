"""Pytest plug-in (`-p tests.no_skips`): fails skipped tests, except those that need `../shared/models` in a checkout without it.

A run without tests fails too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

HAS_SHARED_MODELS = (Path(__file__).resolve().parents[2] / "shared" / "models").is_dir()


def may_skip(report: pytest.TestReport) -> bool:
    """Returns True for a test of models that are not distributed with mslite, if they are missing."""
    return not HAS_SHARED_MODELS and "the shared models are not here" in str(report.longrepr)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.skipped and not hasattr(report, "wasxfail") and not may_skip(report):
        report.outcome = "failed"
        report.longrepr = f"skipped, but has to run here: {report.longrepr}"


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.outcome == "skipped":
        report.outcome = "failed"
        report.longrepr = f"skipped, but has to run here: {report.longrepr}"

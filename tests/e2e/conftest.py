"""Prints for each kind and class of models how many were converted, ran, and were within the tolerance."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

_STAGES = ("converted", "ran", "right", "within tolerance")
RATES: dict[str, Counter[str]] = defaultdict(Counter)


@pytest.fixture(scope="session")
def rates() -> dict[str, Counter[str]]:
    return RATES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for kind, counts in sorted(RATES.items()):
        total = counts["models"]
        shares = ", ".join(f"{stage} {counts[stage]}/{total}" for stage in _STAGES)
        terminalreporter.write_line(f"{kind}: {shares}")

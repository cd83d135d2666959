"""Settings for all tests."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.conformance.hook import MARKER, files_conform, watched_writer

__all__ = ["files_conform", "watched_writer"]

# No time limits for Hypothesis: machines differ in speed.
settings.register_profile("mslite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mslite")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job of a script; some tests check Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)

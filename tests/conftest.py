"""Settings of all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Machines are noisy: no test fails because drawing examples, or running them, took long.
settings.register_profile("mslite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mslite")

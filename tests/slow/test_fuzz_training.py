"""Training files under hostile changes and sanitizers: ten minutes, or MSLITE_FUZZ_SECONDS."""

from __future__ import annotations

import os

import pytest

from tests.fuzz.training import BATCH, campaign

pytestmark = pytest.mark.nonconforming("damaged files are what this is for")

SECONDS = int(os.environ.get("MSLITE_FUZZ_SECONDS", "600"))


@pytest.mark.skipif(
    "MSLITE_SANITIZE_BUILD" not in os.environ, reason="set MSLITE_SANITIZE_BUILD to a build folder with sanitizers"
)
def test_no_training_file_ends_the_process() -> None:
    runs, _ = campaign(SECONDS, first=BATCH)  # CI has the first ones
    runs.check()
    print(f"{runs.codes.total()} files: {dict(runs.codes)}")

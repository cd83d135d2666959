"""Training files and adapters under hostile changes and sanitizers: ten minutes each, or MSLITE_FUZZ_SECONDS."""

from __future__ import annotations

import os
from types import ModuleType

import pytest

from tests.fuzz import adapters, training

pytestmark = pytest.mark.nonconforming("damaged files are what this is for")

SECONDS = int(os.environ.get("MSLITE_FUZZ_SECONDS", "600"))


@pytest.mark.skipif(
    "MSLITE_SANITIZE_BUILD" not in os.environ, reason="set MSLITE_SANITIZE_BUILD to a build folder with sanitizers"
)
@pytest.mark.parametrize("files", [training, adapters], ids=["training", "adapters"])
def test_no_file_ends_the_process(files: ModuleType) -> None:
    runs, _ = files.campaign(SECONDS, first=files.BATCH)  # CI has the first ones
    runs.check()
    print(f"{runs.codes.total()} files: {dict(runs.codes)}")

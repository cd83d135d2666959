"""Built without the Python modules, as the cross-built library is, it exports the public API, and what the training library calls."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.runtime.test_exports import PUBLIC, exports, symbols

BUILD = os.environ.get("MSLITE_ARM64_BUILD")


@pytest.mark.skipif(BUILD is None, reason="MSLITE_ARM64_BUILD is not set")
def test_nothing_but_the_public_api_and_what_training_calls_is_exported() -> None:
    folder = Path(BUILD or "") / "lite_runtime"
    by_version = exports(folder / "libmindspore-lite.so")
    assert not [name for name in by_version.pop("MSLITE_0") if not PUBLIC.match(name)]
    called: dict[str, set[str]] = {}
    for name, is_defined, version in symbols(folder / "libmindspore-lite-train.so"):
        if not is_defined and version.startswith("MSLITE_INTERNAL_"):
            called.setdefault(version, set()).add(name)
    assert by_version == called
    assert len(called) == 1

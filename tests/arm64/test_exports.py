"""Built without the Python modules, as the cross-built library is, it exports the public API and nothing for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.runtime.test_exports import PUBLIC, exports

BUILD = os.environ.get("MSLITE_ARM64_BUILD")


@pytest.mark.skipif(BUILD is None, reason="MSLITE_ARM64_BUILD is not set")
def test_nothing_but_the_public_api_is_exported() -> None:
    by_version = exports(Path(BUILD or "") / "lite_runtime" / "libmindspore-lite.so")
    assert set(by_version) == {"MSLITE_0"}
    assert not [name for name in by_version["MSLITE_0"] if not PUBLIC.match(name)]

"""The 64-bit Arm library fits Android's loader, and asks bionic for nothing that API level 24 lacks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.android.elf import absent_from_bionic, imports, link, problems

ARCHIVE = Path(os.environ.get("MSLITE_ARM64_BUILD", "build-arm64")) / "lite_runtime" / "libmindspore-lite.a"

pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"there is no {ARCHIVE}")


def test_the_library_fits_the_loader(tmp_path: Path) -> None:
    assert list(problems(link(ARCHIVE, "aarch64-linux-gnu-g++", tmp_path / "lib.so"))) == []


def test_every_import_is_in_bionic() -> None:
    assert absent_from_bionic(imports(ARCHIVE, ARCHIVE.with_name("libmindspore-lite-train.a"))) == set()

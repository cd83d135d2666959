"""The library of this machine fits Android's loader, and asks bionic for nothing that API level 24 lacks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.android.elf import OF_GLIBC, absent_from_bionic, bionic_names, imports, link, problems
from tests.cropper.subjects import ARCHIVE

pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"there is no {ARCHIVE}")


def test_the_library_fits_the_loader(tmp_path: Path) -> None:
    assert list(problems(link(ARCHIVE, "c++", tmp_path / "lib.so"))) == []


def test_a_library_that_does_not_fit_is_found(tmp_path: Path) -> None:
    source = tmp_path / "odd.c"
    source.write_text("#include <math.h>\nint secret(double x) { return (int)sin(x); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-z,max-page-size=4096", "-Wl,--no-as-needed", "-o", tmp_path / "odd.so",
                    source, "-lstdc++"], check=True)  # fmt: skip
    found = list(problems(tmp_path / "odd.so"))
    assert "a segment is aligned to 4096 bytes, which 16 KiB pages cannot load" in found
    assert "needs libstdc++.so.6" in found
    assert "exports secret, which is no public name" in found


def test_every_import_is_in_bionic() -> None:
    names = imports(ARCHIVE, ARCHIVE.with_name("libmindspore-lite-train.a"))
    assert {"memcpy", "dlopen", "free"} <= names
    assert absent_from_bionic(names) == set()


def test_names_that_came_later_are_found() -> None:
    assert absent_from_bionic({"memcpy", "aligned_alloc", "getrandom", "__errno_location"}) == {
        "aligned_alloc",
        "getrandom",
    }
    assert len(bionic_names()) > 1300
    assert all(reason for reason in OF_GLIBC.values())

"""What was compiled is hardened as docs/security.md says: looked at with readelf, on the libraries and programs of the build."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.runtime.test_library_size import BUILD, cached

PACKAGE = BUILD / "python" / "mslite"
FILES = {
    "library": BUILD / "lite_runtime" / "libmindspore-lite.so",
    "training library": BUILD / "lite_runtime" / "libmindspore-lite-train.so",
    "benchmark": BUILD / "benchmark" / "benchmark",
    **{name: next(iter(PACKAGE.glob(f"{name}.*.so")), PACKAGE / name) for name in ("_native", "_runtime", "_codegen")},
}
PROGRAMS = ("benchmark",)


def readelf(flags: str, file: Path) -> str:
    return subprocess.run(
        ["readelf", flags, "-W", file], env={**os.environ, "LC_ALL": "C"}, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest) -> Path:
    path = FILES[request.param]
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    if cached("MSLITE_SANITIZE") == "ON" or shutil.which("readelf") is None:
        pytest.skip("built with sanitizers, or there is no readelf")
    return path


def test_addresses_cannot_be_overwritten(file: Path) -> None:
    """Full RELRO: all are resolved before the program begins, and their pages are read-only from then on."""
    assert re.search(r"^\s*GNU_RELRO\b", readelf("-l", file), re.MULTILINE)
    assert re.search(r"\((FLAGS|BIND_NOW)\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b", readelf("-d", file))
    assert "(TEXTREL)" not in readelf("-d", file)


def test_no_memory_is_both_written_and_run(file: Path) -> None:
    segments = re.findall(r"^\s*(LOAD|GNU_STACK)\s.*?\s(R[W ][E ])\s+0x", readelf("-l", file), re.MULTILINE)
    assert [flags for kind, flags in segments if kind == "GNU_STACK"] == ["RW "]
    assert not [flags for kind, flags in segments if "W" in flags and "E" in flags]


def test_it_lies_anywhere(file: Path) -> None:
    assert re.search(r"Type:\s+DYN\b", readelf("-h", file))
    if file.name in PROGRAMS:
        assert re.search(r"\(FLAGS_1\).*\bPIE\b", readelf("-d", file))


def test_stacks_and_copies_are_checked(file: Path) -> None:
    imported = readelf("--dyn-syms", file)
    assert "__stack_chk_fail" in imported
    if file == FILES["library"] and cached("CMAKE_BUILD_TYPE") in ("", "Release"):
        assert "__memcpy_chk" in imported

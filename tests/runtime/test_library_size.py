"""The library stays small: with the kernels of every x86 instruction set, stripped, under 3 MB, and what engines add.

It is found through MSLITE_BUILD (the CMake build folder) or in `build/`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUDGET = 2_950_000
ENGINES = {
    "MSLITE_OPENCL": 340_000,
    "MSLITE_OPENVINO": 150_000,
    "MSLITE_NNAPI": 100_000,
    "MSLITE_NNRT": 75_000,
    "MSLITE_COREML": 45_000,
}
"""Sub-graphs as OpenCL launches in float32 and float16, buffers and images, joined, tuned and counted, with the kernels'
texts, and kernels of applications; as OpenVINO's representation; and as models of the engines of phones, which only builds
for phones and those with tests have."""
BUILD = Path(os.environ.get("MSLITE_BUILD", Path(__file__).resolve().parents[2] / "build"))
LIBRARY = BUILD / "lite_runtime" / "libmindspore-lite.so"
X86_64 = 62  # e_machine of an ELF file


def cached(name: str) -> str:
    """A setting of the build; "" when it is not there."""
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found[1] if found else ""


def test_the_stripped_library_is_within_its_budget(tmp_path: Path) -> None:
    if not LIBRARY.is_file():
        pytest.skip(f"there is no {LIBRARY}")
    if cached("CMAKE_BUILD_TYPE") not in ("", "Release", "MinSizeRel") or cached("MSLITE_SANITIZE") == "ON":
        pytest.skip("not a release build")
    if int.from_bytes(LIBRARY.read_bytes()[18:20], "little") != X86_64:
        pytest.skip("not built for x86-64")
    if shutil.which("strip") is None:
        pytest.skip("there is no strip")
    contents = LIBRARY.read_bytes()
    for instructions in (b"_avx2\0", b"_avx512\0"):
        assert instructions in contents, f"no kernels named *{instructions[:-1].decode()}"
    stripped = tmp_path / "stripped.so"
    subprocess.run(["strip", "-o", stripped, LIBRARY], check=True, timeout=60)
    assert stripped.stat().st_size < BUDGET + sum(size for engine, size in ENGINES.items() if cached(engine) == "ON")

"""The library stays small, and that for training. One number for each and for each processor: who adds a feature that needs more
raises it in the same commit, and says there why.

The library is found through MSLITE_BUILD (the CMake build folder) or in `build/`, the one for 64-bit ARM through
MSLITE_ARM64_BUILD. docs/developers/size.md has what makes it small.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from mslite.cropper import cli
from mslite.cropper.crop import INSTRUCTION_SETS
from tests.cropper.subjects import ARCHIVE, product

X86_64, AARCH64 = 62, 183  # e_machine of an ELF file
BUDGETS = {X86_64: 2_120_000, AARCH64: 1_985_000}
"""Bytes of the stripped library with the kernels of every operator and instruction set, compiled by gcc 12, for 64-bit ARM
by clang 22 (which takes 50,000 more), and linked by GNU's linker, without engines for other devices and without scalar copies
that only tests need. 64-bit ARM: float16 as a precision of its own and products of matrices (i8mm) took 180,000. Training is
a library of its own, and its kernels are there; its functions of the C++ and C API, and what it calls here, took 33,000, planning
its mixed precision 6,000, and adapters that are switched 20,000. Winograd's filtering for weights that change, which convolutions
without constant weights have in inference, too, took 17,000 on x86-64."""
TRAINING_BUDGETS = {X86_64: 520_000, AARCH64: 512_000}
"""The same of the training library: 150,000 of it on x86-64, where there are three of most, are kernels and the functions that these
call. Gradients of pooling, layer normalization and convolutions of few channels by vectors took 20,000, models exported in training mode 12,000,
sizes and types that are compared, and calls that change nothing when they fail, 10,000 (16,000 on 64-bit ARM)."""
CROPPED_BUDGET = 610_000
"""The same of a library that mslite-crop makes for one product of matrices and a tanh, for programs in C on x86-64 (--api=c): what every
model needs is most of it. Functions of the C API that let no exception out, and input sizes that are held, took 10,000."""
ENGINES = {
    "MSLITE_OPENCL": 340_000,
    "MSLITE_OPENVINO": 150_000,
    "MSLITE_NNAPI": 100_000,
    "MSLITE_NNRT": 75_000,
    "MSLITE_COREML": 45_000,
}
"""Subgraphs as OpenCL launches in float32 and float16, buffers and images, joined, tuned and counted, with the kernels'
texts, and kernels of applications; as OpenVINO's representation; and as models of the engines of phones, which only builds
for phones and those with tests have."""
SCALAR_COPIES = {X86_64: 0, AARCH64: 135_000}
"""On x86-64 they are part of the library: a processor need not have AVX2."""
PLAIN_RELOCATIONS = {X86_64: 115_000, AARCH64: 0}
"""On x86-64 GNU's linker packs them, where the C library can load that."""
SETS = {X86_64: ("scalar", "avx2", "avx512", "vnni"), AARCH64: ("neon", "neon_dot", "neon_fp16", "neon_i8mm")}
ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MSLITE_BUILD", ROOT / "build"))
_NAME = Path("lite_runtime/libmindspore-lite.so")
_TRAINING_NAME = Path("lite_runtime/libmindspore-lite-train.so")
LIBRARY = BUILD / _NAME
_PAGE = 16384


def builds() -> list[Path]:
    """The build folders that hold a library."""
    folders = [BUILD]
    if "MSLITE_ARM64_BUILD" in os.environ:
        folders.append(Path(os.environ["MSLITE_ARM64_BUILD"]))
    return [folder for folder in folders if (folder / _NAME).is_file()]


def cached(name: str, build: Path = BUILD) -> str:
    """A setting of the build; "" when it is not there."""
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found[1] if found else ""


def is_on(build: Path, name: str) -> bool:
    return cached(name, build) in ("ON", "1", "TRUE")


def is_release(build: Path) -> bool:
    return cached("CMAKE_BUILD_TYPE", build) in ("", "Release") and not is_on(build, "MSLITE_SANITIZE")


def machine_of(contents: bytes) -> int:
    return int.from_bytes(contents[18:20], "little")


def stripper(machine: int) -> str | None:
    """A `strip` for libraries of that machine."""
    names = {X86_64: ("x86_64-linux-gnu-strip", "strip"), AARCH64: ("aarch64-linux-gnu-strip",)}[machine]
    return next((name for name in names if shutil.which(name) is not None), None)


def stripped_size(build: Path, name: Path, folder: Path) -> int:
    """Bytes of the stripped library; skips the test for builds without a budget."""
    machine = machine_of((build / name).read_bytes())
    if machine not in BUDGETS:
        pytest.skip(f"no budget for machine {machine}")
    if not is_release(build):
        pytest.skip("not a release build")
    strip = stripper(machine)
    if strip is None:
        pytest.skip("there is no strip for it")
    stripped = folder / "stripped.so"
    subprocess.run([strip, "-o", stripped, build / name], check=True, timeout=60)
    return stripped.stat().st_size


def check_budget(size: int, budget: int) -> None:
    assert size <= budget, "more than the budget: raise it in this commit and say why, or make something smaller"
    assert size > 0.9 * budget, "the budget can be lowered"


@pytest.mark.parametrize("build", builds(), ids=lambda folder: folder.name)
def test_the_stripped_library_is_within_its_budget(build: Path, tmp_path: Path) -> None:
    size = stripped_size(build, _NAME, tmp_path)
    contents = (build / _NAME).read_bytes()
    machine = machine_of(contents)
    for name in SETS[machine]:
        assert name in INSTRUCTION_SETS
        assert f"_{name}\0".encode() in contents, f"no kernels named *_{name}"
    budget = BUDGETS[machine] + sum(size for engine, size in ENGINES.items() if is_on(build, engine))
    if is_on(build, "MSLITE_SCALAR_COPIES"):
        budget += SCALAR_COPIES[machine]
    if not is_on(build, "MSLITE_LINKS_RELR"):
        budget += PLAIN_RELOCATIONS[machine]
    check_budget(size, budget)


@pytest.mark.parametrize("build", builds(), ids=lambda folder: folder.name)
def test_the_stripped_training_library_is_within_its_budget(build: Path, tmp_path: Path) -> None:
    if not (build / _TRAINING_NAME).is_file():
        pytest.skip("there is no training library")
    size = stripped_size(build, _TRAINING_NAME, tmp_path)
    check_budget(size, TRAINING_BUDGETS[machine_of((build / _TRAINING_NAME).read_bytes())])


def test_the_cropped_library_is_within_its_budget(tmp_path: Path) -> None:
    if machine_of((BUILD / _NAME).read_bytes()) != X86_64 or not is_release(BUILD) or not ARCHIVE.is_file():
        pytest.skip("not a release build for x86-64")
    if "clang" in cached("CMAKE_CXX_COMPILER"):
        pytest.skip("not compiled by gcc")
    model, output = product(tmp_path / "product.ms"), tmp_path / "cropped"
    with contextlib.redirect_stdout(io.StringIO()):
        assert cli.main([f"--models={model}", f"--archive={ARCHIVE}", f"--output={output}", "--api=c"]) == 0
    check_budget((output / "libmindspore-lite.so").stat().st_size, CROPPED_BUDGET)


def loaded_segments(contents: bytes) -> list[tuple[int, int, int]]:
    """Offset, address and alignment of each segment that is loaded, of a 64-bit ELF file."""
    begin = struct.unpack_from("<Q", contents, 32)[0]
    size, count = struct.unpack_from("<HH", contents, 54)
    found = []
    for place in range(begin, begin + size * count, size):
        kind, _, offset, address, _, _, _, alignment = struct.unpack_from("<IIQQQQQQ", contents, place)
        if kind == 1:
            found.append((offset, address, alignment))
    return found


@pytest.mark.parametrize("build", builds(), ids=lambda folder: folder.name)
def test_segments_lie_on_pages_of_every_phone(build: Path) -> None:
    """Systems with pages of 16 KiB load it, and no larger alignment costs padding."""
    contents = (build / _NAME).read_bytes()
    if machine_of(contents) != AARCH64:
        pytest.skip("not built for 64-bit ARM")
    segments = loaded_segments(contents)
    assert segments
    for offset, address, alignment in segments:
        assert alignment == _PAGE
        assert (address - offset) % _PAGE == 0

"""What libmindspore-lite.so exports: the public API, and what the Python modules and the training library call, under a version
of its own. The kernels of this machine are in the library, those that only training needs in the training library; the others call
them there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mslite import _native
from tests.runtime.test_library_size import BUILD, LIBRARY, ROOT, cached

PACKAGE = BUILD / "python" / "mslite"
MODULES = sorted(PACKAGE.glob("_*.so"))
TRAINING = BUILD / "lite_runtime" / "libmindspore-lite-train.so"
CALLERS = [*MODULES, *([TRAINING] if TRAINING.is_file() else [])]
PUBLIC = re.compile(
    r"(vtable for |typeinfo for |typeinfo name for )?mindspore::"
    r"|MS(Model|AsyncRun|Tensor|Context|DeviceInfo|Train|RunStep|Export)"
    r"|mslite::(InspectPlan|InspectPlacement|InspectEngines|LoadPlugin|SetRunLimits|CancelPredict|AsyncRun|StartPredict|ReplaceModel|SetQueueCapacity|VerifyDigest|FileDigest|SupportedRanges|BorderOf|RoundsHalfToEven)\b"
)


def symbols(file: Path) -> list[tuple[str, bool, str]]:
    """(demangled name, whether it is defined, version) of all that the file exports, or takes from others."""
    environment = {**os.environ, "LC_ALL": "C"}
    command = ["readelf", "--dyn-syms", "--demangle", "--wide", file]
    text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    found = []
    for line in text.splitlines():
        fields = line.split(maxsplit=7)
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[4] == "LOCAL":
            continue
        name, _, version = re.sub(r" \(\d+\)$", "", fields[7]).replace("@@", "@").rpartition("@")
        if fields[6] != "ABS":  # the names of the versions
            found.append((name, fields[6] != "UND", version) if name else (version, fields[6] != "UND", ""))
    return found


def exports(library: Path) -> dict[str, set[str]]:
    """Names that the library exports, by version."""
    found: dict[str, set[str]] = {}
    for name, is_defined, version in symbols(library):
        if is_defined:
            found.setdefault(version, set()).add(name)
    return found


@pytest.fixture(autouse=True)
def built() -> None:
    if not LIBRARY.is_file() or shutil.which("readelf") is None:
        pytest.skip(f"there is no readelf, or no {LIBRARY}")


def test_programs_see_the_public_api_only() -> None:
    by_version = exports(LIBRARY)
    public = by_version.pop("MSLITE_0")
    assert len(public) > 300
    assert not [name for name in public if not PUBLIC.match(name)]
    has_callers = "ON" in (cached("MSLITE_PYTHON"), cached("MSLITE_TRAINING"))
    assert set(by_version) == ({f"MSLITE_INTERNAL_{cached('CMAKE_PROJECT_VERSION')}"} if has_callers else set())


def test_the_training_library_exports_its_classes_one_function_and_its_kernels() -> None:
    if not TRAINING.is_file():
        pytest.skip(f"there is no {TRAINING}")
    names = {name for names in exports(TRAINING).values() for name in names}
    assert {name for name in names if not PUBLIC.match(name)} == {"mslite_create_trainer", "mslite_training_kernels"}
    assert any(name.startswith("mindspore::LossMonitor::") for name in names)


def test_all_that_is_exported_for_them_is_called() -> None:
    if not MODULES:
        pytest.skip("there are no Python modules")
    internal = {
        name for version, names in exports(LIBRARY).items() if version.startswith("MSLITE_INTERNAL_") for name in names
    }
    called = {
        name
        for module in CALLERS
        for name, is_defined, version in symbols(module)
        if not is_defined and version.startswith("MSLITE_INTERNAL_")
    }
    assert "mslite::OwnKernels()" in called
    assert internal == called


def kernels_in(library: Path) -> set[str]:
    """The names of the kernels that the library defines, without `_scalar`, which portable ones have in their names alone."""
    text = subprocess.run(["nm", library], check=True, capture_output=True, text=True).stdout
    found = re.findall(r" [A-TV-Za-z] mslite_kernel_(\w+)$", text, re.MULTILINE)
    return {name.removesuffix("_scalar") for name in found} - {"count"}


def kernels_for_training() -> set[str]:
    """The kernels of the training library, without their instruction sets."""
    text = (ROOT / "kernels/training/kernels.inc").read_text()
    return set(re.findall(r"^KERNEL(?:_VECTOR)?\((\w+)\)", text, re.MULTILINE))


def test_one_library_holds_each_kernel() -> None:
    """In the modules portable ones are not looked for: a few lie beside functions that kernels of generated C's targets call,
    too."""
    if not MODULES or not TRAINING.is_file():
        pytest.skip("there are no Python modules, or there is no training library")
    listed = kernels_for_training()
    kernels = [(name, isa) for name, _, isa, _ in _native.kernels()]
    names = {name.removesuffix("_scalar") for name, _ in kernels}
    for_training = {name.removesuffix("_scalar") for name, isa in kernels if name.removesuffix(f"_{isa}") in listed}
    assert len(for_training) >= len(listed)
    assert kernels_in(TRAINING) == for_training
    assert kernels_in(LIBRARY) == names - for_training
    vectors = [f"{name}\0".encode() for name, isa in kernels if isa != "scalar"]
    for module in MODULES:
        contents = module.read_bytes()
        assert not [name for name in vectors if name in contents], module


def test_another_library_on_the_path_is_not_taken(tmp_path: Path) -> None:
    """LD_LIBRARY_PATH may name another file of that name, of an installed C++ library."""
    compiler = shutil.which("gcc")
    if compiler is None or not MODULES:
        pytest.skip("there is no gcc, or there are no Python modules")
    (tmp_path / "empty.c").write_text("")
    name = "libmindspore-lite.so.0"
    command = [compiler, "-shared", f"-Wl,-soname,{name}", tmp_path / "empty.c", "-o", tmp_path / name]
    subprocess.run(command, check=True, timeout=60)
    for module in ("_native", "_codegen", "_runtime"):
        command = [sys.executable, "-c", f"from mslite import {module}"]
        environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


def test_no_first_call_can_leave_the_child_of_a_fork_waiting() -> None:
    """A local static object is made by the first call; the child of a fork() in the middle of one waits for ever."""
    harmless = {
        "GroupedFiles()::files": "made under a mutex that fork() waits for",
        "InternCores(std::vector<int, std::allocator<int> > const&)::masks": "likewise",
        "TheRegistry()::registry": "likewise",
        "::models": "likewise",
        "KernelsByOperator()::sorted": "made when the library is loaded",
        "DetectedIsas()::isas": "likewise",
        "ThreadPool::Instance()::pool": "made by the first run of the process",
    }
    text = subprocess.run(["nm", "-C", LIBRARY], check=True, capture_output=True, text=True).stdout
    guarded = re.findall(r"guard variable for (.*)", text)
    assert guarded
    assert [name for name in guarded if not name.endswith(tuple(harmless))] == []

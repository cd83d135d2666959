"""Projects that call CMSIS-NN are built by every build system; the library is the definitions of its functions here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named

from .test_cmsis_nn import mixture
from .test_wrappers import ESP, STM32, ZEPHYR

CMSIS_NN = Path(__file__).parent / "cmsis_nn"


@pytest.fixture(scope="module")
def cmsis_nn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project that calls CMSIS-NN, and what looks like a checkout of it."""
    folder = tmp_path_factory.mktemp("cmsis-nn")
    (folder / "model.tflite").write_bytes(mixture())
    target = target_named("cortex-m3")
    settings = GenerateSettings(target, folder / "project", kernel_library="cmsis-nn", measure=False)
    generate([Source(folder / "model.tflite")], settings)
    for kind, name in (("Include", "arm_nnfunctions.h"), ("Source/AllFunctions", "reference.c")):
        (folder / "checkout" / kind).mkdir(parents=True)
        shutil.copy(CMSIS_NN / name, folder / "checkout" / kind)
    return folder


def _cmake(source: Path, build: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = ["cmake", "-S", str(source), "-B", str(build), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done
    return subprocess.run(["cmake", "--build", str(build)], capture_output=True, text=True, check=False)


def test_cmsis_nn_by_cmake(cmsis_nn: Path, tmp_path: Path) -> None:
    done = _cmake(cmsis_nn / "project", tmp_path, f"-DCMSIS_NN={cmsis_nn / 'checkout'}")
    assert done.returncode == 0, done.stderr
    test = subprocess.run(["ctest", "--test-dir", str(tmp_path)], capture_output=True, text=True, check=False)
    assert "100% tests passed, 0 tests failed out of 1" in test.stdout


def test_cmsis_nn_of_the_project_around(cmsis_nn: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.14)\nproject(stand_in C)\nadd_library(cmsis-nn STATIC "
        f"{CMSIS_NN / 'reference.c'})\ntarget_include_directories(cmsis-nn SYSTEM PUBLIC {CMSIS_NN})\n"
        "add_subdirectory(project)\n"
    )
    (tmp_path / "project").symlink_to(cmsis_nn / "project")
    done = _cmake(tmp_path, tmp_path / "b")
    assert done.returncode == 0, done.stderr


def test_cmake_asks_for_cmsis_nn(cmsis_nn: Path, tmp_path: Path) -> None:
    done = _cmake(cmsis_nn / "project", tmp_path)
    assert done.returncode != 0
    assert "set it: cmake" in done.stderr


@pytest.mark.parametrize("text", [ESP, ZEPHYR])
def test_cmsis_nn_in_other_environments(text: str, cmsis_nn: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(text)
    (tmp_path / "project").symlink_to(cmsis_nn / "project")
    done = _cmake(tmp_path, tmp_path / "b", f"-DCMSIS_NN={cmsis_nn / 'checkout'}")
    assert done.returncode == 0, done.stderr


def test_cmsis_nn_on_stm32(cmsis_nn: Path, tmp_path: Path) -> None:
    (tmp_path / "project").symlink_to(cmsis_nn / "project")
    (tmp_path / "Makefile").write_text(STM32)
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    command = ["make", "-C", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert 'CMSIS_NN="Drivers/CMSIS/NN" is not a checkout of CMSIS-NN' in done.stderr
    shutil.copytree(cmsis_nn / "checkout", tmp_path / "Drivers" / "CMSIS" / "NN")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_cmsis_nn_is_asked_for_by_the_compiler(cmsis_nn: Path, tmp_path: Path) -> None:
    """Arduino's library has no place for include paths."""
    (source,) = (cmsis_nn / "project" / "src" / "cmsis_nn").glob("convolution.c")
    command = ["gcc", "-c", f"-I{cmsis_nn / 'project' / 'src'}", str(source), "-o", str(tmp_path / "x.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "add its folder Include to the include path" in done.stderr
    properties = (cmsis_nn / "project" / "library.properties").read_text()
    assert "Copy the contents of CMSIS-NN's Include to src" in properties
    for path in (cmsis_nn / "checkout").rglob("arm_nnfunctions.h"):
        shutil.copy(path, tmp_path)
    assert subprocess.run([*command, f"-I{tmp_path}"], capture_output=True, check=False).returncode == 0

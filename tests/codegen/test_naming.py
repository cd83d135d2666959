"""`--name`: several projects in one program. Every symbol, header and target of theirs has its project's name."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mslite.codegen import cli
from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.project.naming import check_name
from mslite.codegen.targets import target_named
from mslite.converter.errors import UsageError

from . import modules

PROGRAM = """\
#include <stdio.h>
#include "ear_model_handle.h"
#include "ear/ear.h"
#include "eye_model_handle.h"
#include "eye_left/eye_left.h"
#include "eye_right/eye_right.h"

int main(void) {
  ear_MSModelHandle ear = ear_MSModelCreate();
  eye_MSModelHandle left = eye_MSModelCreate0(), right = eye_MSModelCreate1();
  printf("%d %d %d\\n", EAR_ARENA_SIZE > 0, EYE_LEFT_ARENA_SIZE > 0, EYE_RIGHT_ARENA_SIZE > 0);
  return ear == NULL || left == NULL || right == NULL || EAR_OK != EYE_LEFT_OK || ear_kMSStatusSuccess != eye_kMSStatusSuccess;
}
"""


def project(folder: Path, name: str, target: str, models: list[Path], **more: object) -> Path:
    settings = GenerateSettings(target_named(target), folder / name, prefix=name, measure=False, **more)  # type: ignore[arg-type]
    return generate([Source(model) for model in models], settings).folder


def run(*command: object, folder: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout + done.stderr


def own_symbols(folder: Path, tool: str = "nm") -> set[str]:
    """Of the library, what others can see."""
    (library,) = (folder / "build").glob("lib*.a")
    found = run(tool, "-g", "--defined-only", library, folder=folder)
    return set(re.findall(r"^\w+ \w (\w+)$", found, re.MULTILINE))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    made = {"left": modules.floats(), "right": modules.counter(), "ear": modules.stored()}
    return {name: modules.write(module, folder, name) for name, module in made.items()}


def test_two_projects_in_one_program(models: dict[str, Path], tmp_path: Path) -> None:
    ear = project(tmp_path, "ear", "x86", [models["ear"]])
    eye = project(tmp_path, "eye", "x86", [models["left"], models["right"]], parallel=True)
    for folder in (ear, eye):
        assert "2 of 2 cases as recorded" in run("make", "test", folder=folder)
    names = own_symbols(ear), own_symbols(eye)
    assert all(symbol.startswith("ear_") for symbol in names[0])
    assert all(symbol.startswith("eye_") for symbol in names[1])
    assert {"ear_run", "ear_MSModelPredict"} <= names[0]
    assert {"eye_left_run", "eye_right_run", "eye_right_reset"} <= names[1]
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.14)\nproject(both C)\nadd_subdirectory(ear)\nadd_subdirectory(eye)\n"
        "add_executable(both main.c)\ntarget_link_libraries(both PRIVATE ear_net eye_net)\n"
    )
    run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", folder=tmp_path)
    run("cmake", "--build", "build", "--target", "both", folder=tmp_path)
    assert run("build/both", folder=tmp_path) == "1 1 1\n"


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed")
def test_on_a_microcontroller(models: dict[str, Path], tmp_path: Path) -> None:
    folder = project(tmp_path, "ear", "cortex-m4", [models["ear"], models["left"]])
    run("make", folder=folder)
    assert all(symbol.startswith("ear_") for symbol in own_symbols(folder, "arm-none-eabi-nm"))
    assert run("make", "test", folder=folder).count("2 of 2 cases as recorded") == 2
    assert "2 of 2 cases as recorded" in run("make", "host-test", folder=folder)


def test_texts_say_the_names(models: dict[str, Path], tmp_path: Path) -> None:
    folder = project(tmp_path, "ear", "cortex-m4", [models["ear"]])
    texts = "".join(
        path.read_text() for path in sorted(folder.rglob("*")) if path.suffix in (".md", ".c", ".h", ".cmake")
    )
    assert not re.search(r"\bmodel0|\bMODEL0|\bnet0|<i>|(?<!EAR_)\bMSLITE_|(?<!ear_)\bmslite_", texts)
    assert '#include "ear/ear.h"' in (folder / "README.md").read_text()


def test_without_a_name_nothing_changes(models: dict[str, Path], tmp_path: Path) -> None:
    folder = project(tmp_path, "", "x86", [models["ear"]])
    assert (folder / "src" / "model0" / "net0.h").is_file()


@pytest.mark.parametrize("name", ["1st", "a-b", "int", "src", "mslite", "ä", "x" * 41])
def test_impossible_names(
    name: str, models: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="--name="):
        check_name(name)
    assert cli.main([str(models["ear"]), f"--output={tmp_path / 'p'}", f"--name={name}"]) == 2
    assert "letters, digits and _" in capsys.readouterr().err
    assert not (tmp_path / "p").exists()

"""The build files for other environments name all sources and folders; their own CMake functions are stand-ins here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Projects

ESP = """
cmake_minimum_required(VERSION 3.14)
project(stand_in C)
set(ESP_PLATFORM 1)
macro(idf_component_register)
  cmake_parse_arguments(IDF "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
  set(COMPONENT_LIB component)
  add_library(component STATIC ${IDF_SRCS})
  target_include_directories(component PUBLIC ${IDF_INCLUDE_DIRS})
endmacro()
add_subdirectory(project)
"""

ZEPHYR = """
cmake_minimum_required(VERSION 3.14)
project(stand_in C)
macro(zephyr_library_named name)
  set(LIBRARY ${name})
  add_library(${name} STATIC)
endmacro()
macro(zephyr_library_sources)
  target_sources(${LIBRARY} PRIVATE ${ARGN})
endmacro()
macro(zephyr_library_sources_ifdef condition)
  if(${condition})
    target_sources(${LIBRARY} PRIVATE ${ARGN})
  endif()
endmacro()
macro(zephyr_library_compile_options)
  target_compile_options(${LIBRARY} PRIVATE ${ARGN})
endmacro()
macro(zephyr_include_directories)
  target_include_directories(${LIBRARY} PUBLIC ${ARGN})
endmacro()
set(CONFIG_PROJECT 1)
set(CONFIG_PROJECT_ADAPTER 1)
add_subdirectory(project/zephyr)
"""


@pytest.fixture
def project(projects: Projects) -> Path:
    return projects(["keywords"], "cortex-m3")


@pytest.mark.parametrize(
    ("text", "library"), [(ESP, "project/libcomponent.a"), (ZEPHYR, "project/zephyr/libproject.a")]
)
def test_cmake(text: str, library: str, project: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(text)
    (tmp_path / "project").symlink_to(project)
    subprocess.run(["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "b")], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(tmp_path / "b")], check=True, capture_output=True)
    members = subprocess.run(["ar", "t", str(tmp_path / "b" / library)], check=True, capture_output=True, text=True)
    assert {"net0.c.o", "model_run.c.o"} <= set(members.stdout.split())


def test_arduino(project: Path, tmp_path: Path) -> None:
    """Arduino compiles everything below src, with src as the only folder for headers."""
    properties = dict(line.split("=", 1) for line in (project / "library.properties").read_text().splitlines())
    assert {"name", "version", "author", "maintainer", "sentence", "category", "url", "architectures"} <= set(
        properties
    )
    header = project / "src" / properties["includes"]
    assert header.exists()
    copy = tmp_path / "library"
    shutil.copytree(project / "src", copy / "src")
    for source in sorted((copy / "src").rglob("*.c")):
        command = ["gcc", "-std=gnu11", "-w", "-c", f"-I{copy / 'src'}", str(source), "-o", str(tmp_path / "x.o")]
        subprocess.run(command, check=True)
    (tmp_path / "sketch.cpp").write_text(
        f"#include <{header.name}>\nint main() {{ return MSModelCreate0() == nullptr; }}\n"
    )
    command = ["g++", "-c", f"-I{copy / 'src'}", str(tmp_path / "sketch.cpp"), "-o", str(tmp_path / "x.o")]
    subprocess.run(command, check=True)


def test_stm32(project: Path, tmp_path: Path) -> None:
    (tmp_path / "project").symlink_to(project)
    (tmp_path / "Makefile").write_text(
        "include project/stm32/sources.mk\nshow:\n\t@ls $(C_SOURCES) && echo $(C_INCLUDES)\n"
    )
    done = subprocess.run(["make", "-C", str(tmp_path), "show"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "project/src/model0/net0.c" in done.stdout
    assert "-Iproject/src/include" in done.stdout

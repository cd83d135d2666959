"""The build files for other environments name all sources and folders; their own CMake functions are stand-ins here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType
from tests.passes.builder import Builder

from .conftest import Projects
from .modules import write
from .networks import keywords

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


CUSTOM_KERNEL = r"""
#include "registered_kernel.h"
int CustomKernel(TensorC *inputs, int input_num, TensorC *outputs, int output_num, CustomParameter *param) {
  if (input_num != 1 || output_num != 1 || param->attr_num != 0) return 1;
  for (int i = 0; i < 6; ++i) ((float *)outputs[0].data_)[i] = 2 * ((const float *)inputs[0].data_)[i];
  return 0;
}
"""
PROGRAM = r"""
#include <string.h>
#include "model_handle.h"
static unsigned char memory[2][100000] __attribute__((aligned(16)));
int main(void) {
  const MSModelHandle models[] = {model0, model1};
  for (int i = 0; i < 2; ++i) {
    if (MSModelCalcWorkspaceSize(models[i]) > sizeof memory[i]) return 1;
    MSModelSetWorkspace(models[i], memory[i], sizeof memory[i]);
    if (MSModelBuild(models[i], NULL, 0, kMSModelTypeMindIR, NULL) != kMSStatusSuccess) return 2;
    const MSTensorHandleArray inputs = MSModelGetInputs(models[i]);
    memset(MSTensorGetMutableData(inputs.handle_list[0]), 0, MSTensorGetDataSize(inputs.handle_list[0]));
    if (i == 0) ((float *)MSTensorGetMutableData(inputs.handle_list[0]))[5] = 1.5f;
    MSTensorHandleArray outputs = MSModelGetOutputs(models[i]);
    if (MSModelPredict(models[i], inputs, &outputs, NULL, NULL) != kMSStatusSuccess) return 3;
    if (i == 0 && ((const float *)MSTensorGetData(outputs.handle_list[0]))[5] != 3) return 4;
  }
  return 0;
}
"""


@pytest.fixture
def project(projects: Projects) -> Path:
    return projects(["keywords"], "cortex-m3")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project of two models, one with a custom operator, and what a program needs to run them."""
    folder = tmp_path_factory.mktemp("mixed")
    build = Builder()
    x = build.input(2, 3)
    y = Value("y", DataType.FLOAT32, (2, 3))
    build.graph.nodes.append(Node(Custom(type="Twice"), "twice", (x,), (y,)))
    (folder / "keywords.tflite").write_bytes(keywords())
    sources = [Source(write(build.module(y), folder)), Source(folder / "keywords.tflite")]
    generate(sources, GenerateSettings(target_named("cortex-m3"), folder / "project", measure=False))
    (folder / "custom_kernel.c").write_text(CUSTOM_KERNEL)
    (folder / "main.c").write_text(PROGRAM)
    return folder


def _runs(folder: Path, sources: Path, *more: str | Path) -> None:
    """Links the program with what was built, and runs it: two models, one of them with the custom operator."""
    includes = [f"-I{sources}", f"-I{sources / 'include'}"]
    command = ["gcc", *includes, str(folder / "main.c"), *map(str, more), "-lm", "-o", str(folder / "main")]
    subprocess.run(command, check=True)
    assert subprocess.run([str(folder / "main")], check=False).returncode == 0


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


@pytest.mark.parametrize(
    ("text", "library"), [(ESP, "project/libcomponent.a"), (ZEPHYR, "project/zephyr/libproject.a")]
)
def test_cmake_with_several_models_and_a_custom_kernel(text: str, library: str, mixed: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(text)
    (tmp_path / "project").symlink_to(mixed / "project")
    option = f"-DCUSTOM_KERNEL={mixed / 'custom_kernel.c'}"
    subprocess.run(["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "b"), option], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(tmp_path / "b")], check=True, capture_output=True)
    shutil.copy(mixed / "main.c", tmp_path)
    _runs(tmp_path, mixed / "project" / "src", tmp_path / "b" / library)


def test_esp_idf_reads_the_component_in_script_mode(mixed: Path, tmp_path: Path) -> None:
    """ESP-IDF asks every component for what it registers before there is a project: no targets, no cache."""
    (tmp_path / "scan.cmake").write_text(
        "set(ESP_PLATFORM 1)\nset(CMAKE_BUILD_EARLY_EXPANSION 1)\n"
        'macro(idf_component_register)\n  message("sources: ${ARGN}")\n  return()\nendmacro()\n'
        f"include({mixed / 'project' / 'CMakeLists.txt'})\n"
    )
    done = subprocess.run(["cmake", "-P", str(tmp_path / "scan.cmake")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "model1/net1.c" in done.stderr
    assert "Warning" not in done.stderr


def test_arduino_with_several_models_and_a_custom_kernel(mixed: Path, tmp_path: Path) -> None:
    """The kernel is part of the sketch."""
    shutil.copytree(mixed / "project" / "src", tmp_path / "src")
    shutil.copy(mixed / "main.c", tmp_path)
    sources = sorted((tmp_path / "src").rglob("*.c"))
    _runs(tmp_path, tmp_path / "src", "-std=gnu11", mixed / "custom_kernel.c", *sources)


def test_stm32_with_several_models_and_a_custom_kernel(mixed: Path, tmp_path: Path) -> None:
    (tmp_path / "project").symlink_to(mixed / "project")
    shutil.copy(mixed / "custom_kernel.c", tmp_path)
    shutil.copy(mixed / "main.c", tmp_path)
    (tmp_path / "Makefile").write_text(
        "CUSTOM_KERNEL = custom_kernel.c\nC_SOURCES = main.c\ninclude project/stm32/sources.mk\n"
        "main: $(C_SOURCES)\n\tgcc $(CFLAGS) $(C_INCLUDES) $(C_SOURCES) -lm -o $@\n"
    )
    done = subprocess.run(["make", "-C", str(tmp_path), "main"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(tmp_path / "main")], check=False).returncode == 0


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

"""The build files for other environments name all sources and folders.

Arduino's own builder builds the library; the functions of ESP-IDF and of Zephyr, and the Makefile of STM32CubeMX, are
stand-ins here (docs/micro_codegen.md says with which kits they were built).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mslite.codegen.boards import BOARDS
from mslite.codegen.boards.build import Image
from mslite.codegen.boards.run import run_image
from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Floor
from tests.passes.builder import Builder

from .arduino import build_sketch
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
CHECK = r"""
#include <string.h>
#include "model_handle.h"
static unsigned char memory[2][100000] __attribute__((aligned(16)));
int check(void) {
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


arduino = pytest.mark.skipif(
    not all(map(shutil.which, ("arduino-builder", "arm-none-eabi-g++", "qemu-system-arm"))),
    reason="arduino-builder, gcc-arm-none-eabi and qemu-system-arm are needed",
)


@pytest.fixture
def project(projects: Projects) -> Path:
    return projects(["keywords"], "cortex-m3")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project of two models, one with a custom operator and a function of libm, and a program for both."""
    folder = tmp_path_factory.mktemp("mixed")
    build = Builder()
    x = build.input(2, 3)
    y = Value("y", DataType.FLOAT32, (2, 3))
    build.graph.nodes.append(Node(Custom(type="Twice"), "twice", (x,), (y,)))
    z = build.call(Floor(), y)
    (folder / "keywords.tflite").write_bytes(keywords())
    sources = [Source(write(build.module(z), folder)), Source(folder / "keywords.tflite")]
    generate(sources, GenerateSettings(target_named("cortex-m3"), folder / "project", measure=False))
    (folder / "custom_kernel.c").write_text(CUSTOM_KERNEL)
    (folder / "check.c").write_text(CHECK)
    (folder / "main.c").write_text('#include "check.c"\nint main(void) { return check(); }\n')
    return folder


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


@pytest.mark.parametrize(("text", "libraries"), [(ESP, "component"), (ZEPHYR, "project m")])
def test_cmake_with_several_models_and_a_custom_kernel(text: str, libraries: str, mixed: Path, tmp_path: Path) -> None:
    """Zephyr's C library has the functions of libm; ESP-IDF leaves libm to its components."""
    program = f"add_executable(program {mixed / 'main.c'})\ntarget_link_libraries(program {libraries})\n"
    (tmp_path / "CMakeLists.txt").write_text(text + program)
    (tmp_path / "project").symlink_to(mixed / "project")
    option = f"-DCUSTOM_KERNEL={mixed / 'custom_kernel.c'}"
    subprocess.run(["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "b"), option], check=True, capture_output=True)
    done = subprocess.run(["cmake", "--build", str(tmp_path / "b")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(tmp_path / "b" / "program")], check=False).returncode == 0


def test_zephyr_gives_floats_the_full_c_library(mixed: Path, project: Path) -> None:
    """The smallest one has neither INFINITY nor the functions of libm."""
    line = "select REQUIRES_FULL_LIBC"
    assert line in (mixed / "project" / "zephyr" / "Kconfig").read_text()
    assert line not in (project / "zephyr" / "Kconfig").read_text()


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


RECORDED = """
#include <{library}.h>
#include "recorded.h"
static MODEL0_ALIGNED unsigned char arena[MODEL0_ARENA_SIZE];
static unsigned char result[sizeof expected[0]];

static bool right(int number) {{
  const void *const inputs[] = {{input[number]}};
  void *const outputs[] = {{result}};
  return model0_run(inputs, outputs, arena) == MODEL0_OK && memcmp(result, expected[number], sizeof result) == 0;
}}

void setup() {{
  if (MSModelCreate0() == nullptr || !right(0)) board_exit(1);
}}

void loop() {{ board_exit(!right(1)); }}
"""


def _write_sketch(folder: Path, text: str) -> Path:
    folder.mkdir()
    sketch = folder / f"{folder.name}.ino"
    sketch.write_text(text)
    return sketch


def _write_recorded(project: Path, header: Path) -> None:
    """The recorded runs of model 0 as arrays."""
    lines = []
    for name, role in (("input", "input0"), ("expected", "output0")):
        runs = [(project / "test" / "data" / f"model0_case{case}_{role}.bin").read_bytes() for case in range(2)]
        rows = ", ".join("{" + ", ".join(map(str, run)) + "}" for run in runs)
        lines.append(f"alignas(8) static const unsigned char {name}[2][{len(runs[0])}] = {{{rows}}};\n")
    header.write_text("".join(lines))


def _run_sketch(sketch: Path, project: Path, folder: Path) -> None:
    """The builder's library manager finds the project by its header; QEMU runs the program."""
    shutil.copytree(project, folder / "libraries" / "network")
    board = BOARDS["mps2-an385"]
    done = build_sketch(sketch, folder / "libraries", board, folder)
    assert done.returncode == 0, done.stderr
    assert "architecture" not in done.stdout + done.stderr
    (program,) = (folder / "build").glob("*.elf")
    assert run_image(Image(board, program, 0, 0, 0, 0), count=False).status == 0


@arduino
def test_arduino(project: Path, tmp_path: Path) -> None:
    sketch = _write_sketch(tmp_path / "recorded", RECORDED.format(library="project"))
    _write_recorded(project, sketch.parent / "recorded.h")
    _run_sketch(sketch, project, tmp_path)


@arduino
def test_arduino_with_several_models_and_a_custom_kernel(mixed: Path, tmp_path: Path) -> None:
    """The kernel is part of the sketch."""
    text = '#include <project.h>\nextern "C" int check(void);\nvoid setup() { board_exit(check()); }\nvoid loop() {}\n'
    sketch = _write_sketch(tmp_path / "several", text)
    for name in ("custom_kernel.c", "check.c"):
        shutil.copy(mixed / name, sketch.parent)
    _run_sketch(sketch, mixed / "project", tmp_path)


@arduino
def test_arduino_is_warned_of_processors_with_short_int(project: Path, tmp_path: Path) -> None:
    sketch = _write_sketch(tmp_path / "short", RECORDED.format(library="project"))
    _write_recorded(project, sketch.parent / "recorded.h")
    shutil.copytree(project, tmp_path / "libraries" / "network")
    done = build_sketch(sketch, tmp_path / "libraries", BOARDS["mps2-an385"], tmp_path, architecture="avr")
    assert "may be incompatible with your current board which runs on (avr)" in done.stdout + done.stderr


def test_short_int_is_refused(project: Path, tmp_path: Path) -> None:
    options = ["-fsyntax-only", "-w", "-U__INT_MAX__", "-D__INT_MAX__=32767"]
    command = ["gcc", *options, str(project / "src" / "model0" / "net0.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "needs an int of at least 32 bits" in done.stderr


STM32 = """
C_SOURCES = \
main.c
C_INCLUDES = \
-I.
CFLAGS += $(C_INCLUDES) -Wall
CFLAGS += -MMD -MP -MF"$(@:%.o=%.d)"
BUILD_DIR = build
CC = gcc
all: $(BUILD_DIR)/program
OBJECTS = $(addprefix $(BUILD_DIR)/,$(notdir $(C_SOURCES:.c=.o)))
vpath %.c $(sort $(dir $(C_SOURCES)))
include project/stm32/sources.mk
$(BUILD_DIR)/%.o: %.c Makefile | $(BUILD_DIR)
\t$(CC) -c $(CFLAGS) $< -o $@
$(BUILD_DIR)/program: $(OBJECTS)
\t$(CC) $(OBJECTS) -lm -o $@
$(BUILD_DIR):
\tmkdir $@
-include $(wildcard $(BUILD_DIR)/*.d)
"""
"""The variables and rules of a Makefile of STM32CubeMX, in its order."""


def _make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)


def test_stm32_with_several_models_and_a_custom_kernel(mixed: Path, tmp_path: Path) -> None:
    (tmp_path / "project").symlink_to(mixed / "project")
    for name in ("custom_kernel.c", "check.c", "main.c"):
        shutil.copy(mixed / name, tmp_path)
    (tmp_path / "Makefile").write_text(STM32)
    done = _make(tmp_path, "CUSTOM_KERNEL=custom_kernel.c")
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(tmp_path / "build" / "program")], check=False).returncode == 0


def test_stm32_beside_sources_of_the_same_names(project: Path, tmp_path: Path) -> None:
    (tmp_path / "Middlewares").mkdir()
    (tmp_path / "Middlewares" / "network").symlink_to(project)
    text = STM32.replace("main.c", "main.c model.c").replace("project/stm32", "Middlewares/network/stm32")
    (tmp_path / "Makefile").write_text(text)
    (tmp_path / "model.c").write_text("int own(void) { return 0; }\n")
    (tmp_path / "main.c").write_text(
        '#include "model0/net0.h"\n#include "model_handle.h"\nint own(void);\n'
        "int main(void) { return own() != 0 || model0_run(0, 0, 0) == MODEL0_OK || MSModelCreate0() == 0; }\n"
    )
    done = _make(tmp_path)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(tmp_path / "build" / "program")], check=False).returncode == 0
    assert (tmp_path / "build" / "Middlewares_network_src_model.o").exists()
    assert "up to date" in _make(tmp_path, "build/program").stdout


def test_stm32_says_where_the_line_belongs(project: Path, tmp_path: Path) -> None:
    (tmp_path / "project").symlink_to(project)
    line = "include project/stm32/sources.mk\n"
    (tmp_path / "Makefile").write_text(STM32.replace(line, "").replace("C_INCLUDES =", f"{line}C_INCLUDES ="))
    done = _make(tmp_path)
    assert done.returncode != 0
    assert "include project/stm32/sources.mk after the lines that set OBJECTS" in done.stderr

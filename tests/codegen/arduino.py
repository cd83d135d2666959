"""Emulates a board for arduino-builder: a Cortex-M in QEMU, described as an Arduino platform."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from mslite.codegen.boards import Board
from mslite.codegen.boards.build import RUNTIME, memory_options

_TOOLS = Path("/usr/share/arduino-builder")
"""Folder of Debian's package with the tool that finds the functions of a sketch."""

_PLATFORM = """
name=Emulated boards
version=1.0.0
flags={{board}} -mthumb --specs=nano.specs -Os -w -ffunction-sections -fdata-sections "-I{runtime}" -DARDUINO={{runtime.ide.version}}
recipe.c.o.pattern=arm-none-eabi-gcc -c -std=gnu11 {{flags}} {{includes}} "{{source_file}}" -o "{{object_file}}"
recipe.cpp.o.pattern=arm-none-eabi-g++ -c -std=gnu++11 -fno-exceptions -fno-rtti {{flags}} {{includes}} "{{source_file}}" -o "{{object_file}}"
recipe.ar.pattern=arm-none-eabi-ar rcs "{{archive_file_path}}" "{{object_file}}"
recipe.c.combine.pattern=arm-none-eabi-gcc {{flags}} -nostartfiles -Wl,--gc-sections {memory} -T "{runtime}/memory.ld" {{object_files}} "{{archive_file_path}}" -lm -o "{{build.path}}/{{build.project_name}}.elf"
"""

_CORE = """
#include <Arduino.h>
int main(void) {
  setup();
  for (;;) loop();
}
"""

_HEADER = """
#include <stdint.h>
#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif
#include "board.h"
#ifdef __cplusplus
}
#endif
void setup(void);
void loop(void);
"""


def _write_hardware(board: Board, folder: Path) -> None:
    core = folder / "cores" / "emulated"
    core.mkdir(parents=True)
    (folder / "platform.txt").write_text(_PLATFORM.format(runtime=RUNTIME, memory=" ".join(memory_options(board))))
    (folder / "boards.txt").write_text(
        f"board.name={board.name}\nboard.build.core=emulated\nboard.build.board=EMULATED\n"
        f"board.board={' '.join(board.compiler_options)}\n"
    )
    (core / "Arduino.h").write_text(_HEADER)
    (core / "main.cpp").write_text(_CORE)
    for source in RUNTIME.glob("*.c"):
        shutil.copy(source, core)


def build_sketch(
    sketch: Path, libraries: Path, board: Board, folder: Path, architecture: str = "mbed"
) -> subprocess.CompletedProcess[str]:
    """Builds `sketch` (an .ino file in a folder with its name) and the libraries it includes to `folder`/build/*.elf."""
    _write_hardware(board, folder / "hardware" / "test" / architecture)
    (folder / "build").mkdir()
    command = ["arduino-builder", "-compile", "-fqbn", f"test:{architecture}:board"]
    command += ["-hardware", str(_TOOLS), "-hardware", str(folder / "hardware"), "-tools", str(_TOOLS)]
    command += ["-libraries", str(libraries), "-build-path", str(folder / "build"), str(sketch)]
    return subprocess.run(command, capture_output=True, text=True, check=False)

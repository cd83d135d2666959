"""Compiles a program for an emulated board."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.codegen.boards.machines import Board

COMPILER = "arm-none-eabi-gcc"
RUNTIME = Path(__file__).parent / "runtime"
STACK_SIZE = 4096


class BuildError(Exception):
    """The compiler or linker failed; the message is its output."""


@dataclass(frozen=True)
class Image:
    """A linked program: its file, and the sizes of its sections in bytes."""

    board: Board
    path: Path
    text: int
    rodata: int
    data: int
    bss: int

    def symbols(self) -> dict[str, int]:
        """Returns the address of each function, without the Thumb bit."""
        lines = _output(["arm-none-eabi-nm", str(self.path)]).splitlines()
        fields = [line.split() for line in lines]
        return {field[2]: int(field[0], 16) & ~1 for field in fields if len(field) == 3 and field[1] in "tT"}


def _output(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise BuildError(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout


def compile_for_board(source: Path, options: Sequence[str], output: Path, *, compiler: str = COMPILER) -> None:
    """Compiles a file to an object for `build_for_board`. `options` include the processor's. Raises BuildError."""
    _output([compiler, "-mthumb", "--specs=nano.specs", *options, "-c", str(source), "-o", str(output)])


def memory_options(board: Board, stack_size: int = STACK_SIZE) -> list[str]:
    """Returns linker options with the board's memory for `memory.ld`; sizes in bytes."""
    memory = {
        "FLASH_ORIGIN": board.flash[0],
        "FLASH_SIZE": board.flash[1],
        "RAM_ORIGIN": board.ram[0],
        "RAM_SIZE": board.ram[1],
        "STACK_SIZE": stack_size,
    }
    return [f"-Wl,--defsym={name}={value}" for name, value in memory.items()]


def build_for_board(
    board: Board,
    sources: Sequence[str | Path],
    options: Sequence[str] = ("-O2",),
    output: str | Path = "program.elf",
    *,
    stack_size: int = STACK_SIZE,
    compiler: str = COMPILER,
) -> Image:
    """Compiles and links `sources` (.c files or objects) with the board's startup code. `options` are used for every
    file.

    Raises:
        BuildError: with the compiler's message.
    """
    output = Path(output)
    command = [compiler, "-mthumb", *board.compiler_options, "-std=c99", "-ffunction-sections", "-fdata-sections"]
    command += [*options, "-ffp-contract=off", "-I", str(RUNTIME), "-nostartfiles", "--specs=nano.specs"]
    command += [*map(str, sources), str(RUNTIME / "startup.c"), str(RUNTIME / "semihosting.c")]
    command += ["-T", str(RUNTIME / "memory.ld"), "-Wl,--gc-sections", f"-Wl,-Map={output.with_suffix('.map')}"]
    command += memory_options(board, stack_size)
    _output([*command, "-lm", "-lc", "-lgcc", "-o", str(output)])
    sizes: dict[str, int] = {}
    for line in _output(["arm-none-eabi-size", "-A", str(output)]).splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[0].startswith("."):
            sizes[fields[0]] = int(fields[1])
    return Image(board, output, *(sizes.get(name, 0) for name in (".text", ".rodata", ".data", ".bss")))

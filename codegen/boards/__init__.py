"""Cortex-M boards emulated by QEMU: compiles a program for one of them, runs it and counts its instructions.

To try out a kernel, write a `main.c` that includes "board.h", calls `board_count_begin(); ...; board_count_end();`,
prints with `board_printf` and returns 0 from `main` if its results are right:

    from mslite.codegen.boards import BOARDS, run_on_board
    run = run_on_board(BOARDS["mps2-an386"], ["main.c"], ["-O2", "-I", "/path/to/kernels"])
    print(run.status, run.output, run.regions[0].instructions, run.regions[0].by_function)

or on the command line: `python -m mslite.codegen.boards mps2-an386 main.c -O2 -I kernels` (`--keep DIR` keeps the
program and its map file). `run.text`, `.rodata`, `.data`, `.bss`: sizes by section; `build_for_board(...)` compiles
only.
"""

from mslite.codegen.boards.build import BuildError, Image, build_for_board
from mslite.codegen.boards.machines import BOARDS, Board
from mslite.codegen.boards.run import BoardRun, Region, run_on_board

__all__ = ["BOARDS", "Board", "BoardRun", "BuildError", "Image", "Region", "build_for_board", "run_on_board"]

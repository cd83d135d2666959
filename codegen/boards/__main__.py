"""Compiles C files for an emulated board, runs them, and prints output, sizes and instructions by function."""

from __future__ import annotations

import argparse
import sys

from mslite.codegen.boards import BOARDS, BuildError, run_on_board


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mslite.codegen.boards", description=__doc__)
    parser.add_argument("board", choices=BOARDS)
    parser.add_argument("--keep", metavar="DIR", help="folder to keep the program and its map file in")
    parser.add_argument("--stack", type=int, default=4096, help="reserved stack in bytes (default: 4096)")
    arguments, rest = parser.parse_known_args()
    try:
        run = run_on_board(
            BOARDS[arguments.board], [], rest or ["-O2"], folder=arguments.keep, stack_size=arguments.stack
        )
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    print(run.output, end="")
    image = run.image
    print(f"status {run.status}; text {image.text}, rodata {image.rodata}, data {image.data}, bss {image.bss}")
    for index, region in enumerate(run.regions):
        print(f"region {index}: {region.instructions} instructions")
        for name, count in list(region.by_function.items())[:20]:
            print(f"  {count:12d}  {name}")
    return run.status


if __name__ == "__main__":
    sys.exit(main())

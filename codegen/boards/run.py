"""Runs a program on an emulated board and counts its instructions."""

from __future__ import annotations

import bisect
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from mslite.codegen.boards.build import BuildError, Image, build_for_board
from mslite.codegen.boards.machines import Board

EMULATOR = "qemu-system-arm"
PLUGIN_SOURCE = Path(__file__).parent / "count_instructions.c"


@dataclass(frozen=True)
class Region:
    """Instructions executed between one call of `board_count_begin` and `board_count_end`."""

    instructions: int
    by_function: dict[str, int]
    by_address: dict[int, int] = field(repr=False)


@dataclass(frozen=True)
class BoardRun:
    """Output and exit status of a program, and its counted regions in order."""

    image: Image
    status: int
    output: str
    regions: list[Region]


@cache
def counting_plugin(emulator: str = EMULATOR) -> str:
    """Compiles the counting plugin for the installed QEMU and returns its path."""
    version = subprocess.run([emulator, "--version"], capture_output=True, text=True, check=True).stdout
    major = int(version.split("version ")[1].split(".")[0])
    folder = tempfile.mkdtemp(prefix="mslite-plugin-")
    library = str(Path(folder) / "count_instructions.so")
    # QEMU 9 and later reject plugins with an interface version below 2.
    interface = 1 if major < 9 else 2
    command = ["cc", "-std=c99", "-O2", "-fPIC", "-shared", f"-DQEMU_PLUGIN_VERSION={interface}"]
    subprocess.run([*command, str(PLUGIN_SOURCE), "-o", library], check=True)
    return library


def _regions(counts: Path, symbols: dict[str, int]) -> list[Region]:
    names = sorted((address, name) for name, address in symbols.items() if not name.startswith("$"))
    starts = [address for address, _ in names]
    regions: list[Region] = []
    for line in counts.read_text().splitlines():
        left, right = line.split()
        if left == "region":
            regions.append(Region(int(right), {}, {}))
        else:
            regions[-1].by_address[int(left, 16)] = int(right)
    for region in regions:
        functions: Counter[str] = Counter()
        for address, count in region.by_address.items():
            at = bisect.bisect_right(starts, address) - 1
            functions[names[at][1] if at >= 0 else "?"] += count
        region.by_function.update(functions.most_common())
    return regions


def run_image(image: Image, *, folder: str | Path | None = None, count: bool = True, timeout: float = 120) -> BoardRun:
    """Runs a linked program until it exits, in `folder` (for files that it reads by relative paths).

    Raises:
        BuildError: if it does not exit within `timeout` seconds, or QEMU is not installed.
    """
    board = image.board
    command = [EMULATOR, "-M", board.name, *board.emulator_options, "-nographic", "-monitor", "none", "-serial", "null"]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", str(image.path)]
    counts = image.path.with_suffix(".counts")
    counts.unlink(missing_ok=True)
    symbols = image.symbols()
    if count and "board_count_begin" in symbols and "board_count_end" in symbols:
        marks = f"begin={symbols['board_count_begin']:#x},end={symbols['board_count_end']:#x}"
        command += ["-plugin", f"{counting_plugin()},{marks},out={counts}"]
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            check=False,
        )
    except (subprocess.TimeoutExpired, FileNotFoundError) as error:
        raise BuildError(f"{board.name}: {error}") from None
    regions = _regions(counts, symbols) if counts.exists() else []
    return BoardRun(image, result.returncode, result.stdout + result.stderr, regions)


def run_on_board(
    board: Board,
    sources: Sequence[str | Path],
    options: Sequence[str] = ("-O2",),
    *,
    folder: str | Path | None = None,
    count: bool = True,
    timeout: float = 120,
    stack_size: int = 4096,
) -> BoardRun:
    """Compiles `sources` for the board and runs them; `folder` keeps the program and its map.

    Raises:
        BuildError: if it does not compile, link or exit.
    """
    with tempfile.TemporaryDirectory() as temporary:
        output = Path(folder or temporary) / f"{board.name}.elf"
        output.parent.mkdir(parents=True, exist_ok=True)
        image = build_for_board(board, sources, options, output, stack_size=stack_size)
        return run_image(image, count=count, timeout=timeout)

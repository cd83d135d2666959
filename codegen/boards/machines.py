"""The emulated boards: processor, memory map, options for QEMU and for the compiler."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Board:
    """One machine of `qemu-system-arm`. `flash` and `ram` are (first address, bytes)."""

    name: str
    processor: str
    flash: tuple[int, int]
    ram: tuple[int, int]
    compiler_options: tuple[str, ...]
    emulator_options: tuple[str, ...] = ()


_ALL = (
    # The real board has 256 KB of flash and 16 KB of RAM; QEMU's nRF51 can be given more.
    Board(
        "microbit",
        "cortex-m0",
        (0x00000000, MEGABYTE),
        (0x20000000, MEGABYTE // 4),
        ("-mcpu=cortex-m0", "-mfloat-abi=soft"),
        ("-global", "nrf51-soc.flash-size=1048576", "-global", "nrf51-soc.sram-size=262144"),
    ),
    Board(
        "mps2-an385",
        "cortex-m3",
        (0x00000000, 4 * MEGABYTE),
        (0x20000000, 4 * MEGABYTE),
        ("-mcpu=cortex-m3", "-mfloat-abi=soft"),
    ),
    Board(
        "mps2-an386",
        "cortex-m4",
        (0x00000000, 4 * MEGABYTE),
        (0x20000000, 4 * MEGABYTE),
        ("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    ),
    Board(
        "mps2-an500",
        "cortex-m7",
        (0x00000000, 4 * MEGABYTE),
        (0x20000000, 4 * MEGABYTE),
        ("-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16"),
    ),
    # This board and the next: secure addresses of the memories, because the processors start in secure state.
    Board(
        "mps2-an505",
        "cortex-m33",
        (0x10000000, 4 * MEGABYTE),
        (0x38000000, 4 * MEGABYTE),
        ("-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
    ),
    Board(
        "mps3-an547",
        "cortex-m55",
        (0x10000000, MEGABYTE // 2),
        (0x30000000, MEGABYTE // 2),
        ("-mcpu=cortex-m55", "-mfloat-abi=hard"),
    ),
)

BOARDS = {board.name: board for board in _ALL}

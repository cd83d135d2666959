"""Counts instructions and memory accesses of one program on 64-bit ARM under QEMU."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mslite.codegen.boards.run import counting_plugin

EMULATORS = {"arm64": "qemu-aarch64", "armv7": "qemu-arm"}
MARKS = {"arm64": "begin-code=0xd5032ddf,end-code=0xd5032dff", "armv7": "begin-code=0x806ef3af,end-code=0x806ff3af"}
"""The hint instructions of tests/arm64/marks.h; on 32-bit ARM those of Thumb code."""


@dataclass(frozen=True)
class Setting:
    """A precision, the core that executes its instructions, and the core in /proc/cpuinfo."""

    precision: str
    core: str
    told: str
    arch: str = "arm64"

    @property
    def name(self) -> str:
        return f"{self.precision} on {self.core}"

    @property
    def file(self) -> str:
        """Returns the core for file names, because options of the plug-in end at commas."""
        return self.core.replace(",", "_")


SETTINGS = (
    # ncnn uses up to twice as many instructions on a Cortex-A53, so the other runtimes see the name of another core
    # with the same instruction set.
    Setting("float32", "cortex-a53", "cortex-a72"),
    Setting("float16", "cortex-a76", "cortex-a76"),
    Setting("int8", "cortex-a76", "cortex-a76"),
    Setting("int8", "max", "max"),
    # QEMU's newest core has SME, which LiteRT uses.
    Setting("int8", "max,sme=off", "max"),
    Setting("int8", "cortex-a53", "cortex-a53"),
    Setting("float32", "cortex-a7", "cortex-a7", "armv7"),
    Setting("int8", "cortex-a7", "cortex-a7", "armv7"),
)
PRECISIONS = tuple(dict.fromkeys(setting.precision for setting in SETTINGS))


@dataclass(frozen=True)
class Count:
    """The counts of one inference. Bytes and 64-byte cache lines are those of data."""

    network: str
    setting: str
    runtime: str
    """The name of the other runtime, or `mslite` and the build."""
    instructions: int
    loaded: int
    stored: int
    l1_misses: int
    l2_misses: int
    result: str
    """The checksum of mslite's outputs; for other runtimes, the cosine similarity of the first output with onnxruntime on this machine."""


class Failed(Exception):
    """A program ended without a count. The message is the last line of its output."""


@dataclass(frozen=True)
class Counted:
    """The counts of the plug-in, and the output of the program."""

    instructions: int
    memory: tuple[int, int, int, int]
    """Bytes loaded and stored, and misses of the L1 and L2 cache."""
    by_address: dict[int, int]
    output: str


def counted(
    command: list[str],
    core: str,
    out: Path,
    root: Path | None = None,
    environment: Mapping[str, str] | None = None,
    arch: str = "arm64",
) -> Counted:
    """Runs a program on the emulated machine. Files under `root` replace those of this machine.

    Raises:
        Failed: the program fails, or does not reach both marks.
    """
    out.unlink(missing_ok=True)
    plugin = f"{counting_plugin(EMULATORS[arch])},{MARKS[arch]},out={out},memory=on"
    prefix = [EMULATORS[arch], "-cpu", core, *(("-L", str(root)) if root else ()), "-plugin", plugin]
    result = subprocess.run([*prefix, *command], capture_output=True, text=True, check=False, env=environment)
    lines = out.read_text().splitlines() if out.exists() else []
    if result.returncode != 0 or not lines:
        words = result.stderr.strip().splitlines()
        raise Failed(words[-1] if words else f"it ended with status {result.returncode} and no count")
    total, memory = (line.split()[1:] for line in lines[:2])
    loaded, stored, first, second = map(int, memory)
    by_address = {int(address, 16): int(count) for address, count in (line.split() for line in lines[2:])}
    return Counted(int(total[0]), (loaded, stored, first, second), by_address, result.stdout)

"""What is counted on 64-bit ARM, and one program's count under QEMU."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mslite.codegen.boards.run import counting_plugin

EMULATORS = {"arm64": "qemu-aarch64", "armv7": "qemu-arm"}
MARKS = {"arm64": "begin-code=0xd5032ddf,end-code=0xd5032dff", "armv7": "begin-code=0x806ef3af,end-code=0x806ff3af"}
"""The hints of tests/arm64/marks.h; on 32-bit ARM those of Thumb code."""


@dataclass(frozen=True)
class Setting:
    """A precision, the core whose instructions are there, and the one that programs find in /proc/cpuinfo."""

    precision: str
    core: str
    told: str
    arch: str = "arm64"

    @property
    def name(self) -> str:
        return f"{self.precision} on {self.core}"

    @property
    def file(self) -> str:
        """The core in the name of a file: the plug-in's options end at commas."""
        return self.core.replace(",", "_")


SETTINGS = (
    # Told that it is a Cortex-A53, ncnn takes up to twice as many instructions; so peers choose what they have for
    # another core with the same ones.
    Setting("float32", "cortex-a53", "cortex-a72"),
    Setting("float16", "cortex-a76", "cortex-a76"),
    Setting("int8", "cortex-a76", "cortex-a76"),
    Setting("int8", "max", "max"),
    # QEMU's newest core has SME, which LiteRT takes.
    Setting("int8", "max,sme=off", "max"),
    Setting("int8", "cortex-a53", "cortex-a53"),
    Setting("float32", "cortex-a7", "cortex-a7", "armv7"),
    Setting("int8", "cortex-a7", "cortex-a7", "armv7"),
)
PRECISIONS = tuple(dict.fromkeys(setting.precision for setting in SETTINGS))


@dataclass(frozen=True)
class Count:
    """What one inference took. Bytes and lines of 64 bytes are those of data."""

    network: str
    setting: str
    runtime: str
    """A peer's name, or `mslite` and the build's."""
    instructions: int
    loaded: int
    stored: int
    l1_misses: int
    l2_misses: int
    result: str
    """The checksum of our outputs, or the cosine of a peer's first one with onnxruntime's on this machine."""


class Failed(Exception):
    """A program ended without a count; the message is its last words."""


@dataclass(frozen=True)
class Counted:
    """The plug-in's numbers of one passage, and what the program printed."""

    instructions: int
    memory: tuple[int, int, int, int]
    """Bytes loaded and stored, misses of the first and of the second cache."""
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
    """Runs a program of the emulated machine, which finds files of `root` in the place of this machine's.

    Raises:
        Failed: when the program fails, or never reached both marks.
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

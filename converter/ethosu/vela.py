"""Runs vela, Arm's compiler for Ethos-U NPUs, on one file, and reads the result."""

from __future__ import annotations

import csv
import importlib.metadata
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.flatbuffer import FlatBufferError, Source, Table
from mslite.converter.parsers.tflite.model import SourceModel, load
from mslite.extras import install

from .settings import NpuSettings

_PACKAGE = "ethos-u-vela"
_MISSING = "--target={} needs vela, Arm's compiler (the Python package 'ethos-u-vela'), which is not installed: {}"
_CONFIGURATION = "Arm/vela.ini"
"""Vela's default configuration, in its package."""
_NPU = "CUSTOM:ethos-u"
_REFUSED = re.compile(
    r"^Warning \(supported operators\) operator: (?P<operator>\w+), ofm: '(?P<tensor>.*)'\nReason: (?P<reason>.*)$",
    re.MULTILINE,
)
_MAX_LINES = 3
"""Largest number of lines of vela's output in a message."""


@dataclass(frozen=True)
class Compiled:
    """The result of vela: one call of the NPU for the whole file."""

    commands: bytes
    constants: bytes
    scratch: int
    fast_scratch: int
    """Size of a second, faster scratch buffer in bytes; 0 if there is only one."""
    places: dict[str, int]
    """Name of an input or output -> its offset in the scratch buffer."""
    cycles: int
    macs: int
    sram: int
    frequency: float


@dataclass(frozen=True)
class UnsupportedOperations:
    """Operations that vela leaves to the CPU: name of their result -> reason."""

    reasons: dict[str, str]


def vela_version(settings: NpuSettings) -> str:
    """Returns the version of vela. Raises ConversionError if it is not installed."""
    try:
        version = importlib.metadata.version(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise ConversionError(
            _MISSING.format(settings.accelerator, install("ethosu")), code=ReturnCode.NOT_SUPPORTED
        ) from None
    return version


def compile_file(data: bytes, settings: NpuSettings) -> Compiled | UnsupportedOperations:
    """Compiles a TensorFlow Lite file. Raises ConversionError if vela fails."""
    with tempfile.TemporaryDirectory(prefix="mslite-vela-") as name:
        folder = Path(name)
        (folder / "part.tflite").write_bytes(data)
        printed = _run(command_of(settings), folder, settings)
        try:
            model = load(folder / "out" / "part_vela.tflite")
            operators = [operator.name for operator in model.graphs[0].operators]
            if operators != [_NPU]:
                return UnsupportedOperations(_reasons(printed))
            return _compiled(folder / "out", model)
        except (OSError, FlatBufferError, KeyError, ValueError, IndexError, StopIteration) as error:
            raise _failed(f"wrote a file that cannot be read ({type(error).__name__}: {error})", printed) from None


def command_of(settings: NpuSettings) -> list[str]:
    """Returns the command line that compiles `part.tflite` in the current folder to the folder `out`."""
    config = _CONFIGURATION if settings.vela_config is None else str(settings.vela_config.resolve())
    command = [
        sys.executable, "-m", "ethosu.vela", "part.tflite", "--output-dir=out",
        f"--accelerator-config={settings.accelerator}", f"--config={config}", f"--system-config={settings.system_config}",
        f"--memory-mode={settings.memory_mode}", f"--optimise={settings.optimise}",
    ]  # fmt: skip
    if settings.arena_cache_size is not None:
        command.append(f"--arena-cache-size={settings.arena_cache_size}")
    return command


def _run(command: list[str], folder: Path, settings: NpuSettings) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=settings.time_limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConversionError(
            f"vela did not compile a subgraph within {settings.time_limit} seconds. Increase time_limit in [ethos_u] of "
            "--configFile, or set optimise=Size there",
            code=ReturnCode.NOT_SUPPORTED,
        ) from None
    if done.returncode:
        raise _failed(f"failed with exit code {done.returncode}", done.stdout)
    return done.stdout


def _failed(what: str, printed: str) -> ConversionError:
    lines = [line.strip() for line in printed.splitlines() if line.strip()][-_MAX_LINES:]
    said = f": {' / '.join(lines)}" if lines else ""
    return ConversionError(
        f"vela {what}{said}. Check system_config and memory_mode in [ethos_u] of --configFile; without --target, the model "
        "is converted for the CPU",
        code=ReturnCode.NOT_SUPPORTED,
    )


def _reasons(printed: str) -> dict[str, str]:
    return {
        match["tensor"]: f"vela leaves {match['operator']} to the CPU: {match['reason'].strip()}"
        for match in _REFUSED.finditer(printed)
    }


def _compiled(folder: Path, model: SourceModel) -> Compiled:
    """Reads vela's operator. Its inputs are commands, constants, scratch buffer, fast scratch buffer, then those of the
    subgraph."""
    graph = model.graphs[0]
    (operator,) = graph.operators
    tensors = graph.tensors
    commands, constants, scratch, fast = operator.inputs[:4]
    offsets = _offsets(folder / "part_vela.tflite")
    estimates = _estimates(folder)
    return Compiled(
        bytes(tensors[commands].data or b""),
        bytes(tensors[constants].data or b""),
        tensors[scratch].shape[0],
        0 if fast == scratch else tensors[fast].shape[0],
        {tensors[index].name: offsets[index] for index in (*operator.inputs[4:], *operator.outputs)},
        int(float(estimates["cycles_total"])),
        int(float(estimates["nn_macs"])),
        int(1024 * float(estimates["sram_memory_used"])),
        float(estimates["core_clock"]),
    )


def _offsets(path: Path) -> list[int]:
    """Returns the offset of each tensor in the scratch buffer, -1 for constants. In the metadata, the offsets are after
    version, graph and count."""
    root = Source(path.read_bytes()).root()
    record = next(one for one in root.tables(6) or () if one.text(0) == "OfflineMemoryAllocation")
    buffers: list[Table] = root.tables(4) or []
    data = buffers[int(record.scalar(1, "uint"))].bytes(0) or b""
    return [int(number) for number in np.frombuffer(data, "<i4")[3:]]


def _estimates(folder: Path) -> dict[str, str]:
    (path,) = folder.glob("part_summary_*.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file))

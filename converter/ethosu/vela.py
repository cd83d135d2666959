"""Runs vela, Arm's compiler for Ethos-U NPUs, on one file and reads what it wrote."""

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
_MISSING = "--target={} needs vela, Arm's compiler, the Python package 'ethos-u-vela', which is not installed: {}"
_CONFIGURATION = "Arm/vela.ini"
"""Vela's own, which lies in its package."""
_NPU = "CUSTOM:ethos-u"
_REFUSED = re.compile(
    r"^Warning \(supported operators\) operator: (?P<operator>\w+), ofm: '(?P<tensor>.*)'\nReason: (?P<reason>.*)$",
    re.MULTILINE,
)
_MOST_LINES = 3
"""Of vela's output, in a message."""


@dataclass(frozen=True)
class Compiled:
    """One call of the NPU that computes the whole file."""

    commands: bytes
    constants: bytes
    scratch: int
    fast_scratch: int
    """0: the one scratch memory serves for both."""
    places: dict[str, int]
    """Of inputs and outputs in the scratch memory, by their names."""
    cycles: int
    macs: int
    sram: int
    frequency: float


@dataclass(frozen=True)
class Refusals:
    """Operations that vela leaves to the CPU: name of what they write -> why."""

    reasons: dict[str, str]


def vela_version(settings: NpuSettings) -> str:
    """Raises ConversionError where it is not installed."""
    try:
        version = importlib.metadata.version(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise ConversionError(
            _MISSING.format(settings.accelerator, install("ethosu")), code=ReturnCode.NOT_SUPPORTED
        ) from None
    return version


def compile_file(data: bytes, settings: NpuSettings) -> Compiled | Refusals:
    """Compiles a TensorFlow Lite file. Raises ConversionError where vela fails."""
    with tempfile.TemporaryDirectory(prefix="mslite-vela-") as name:
        folder = Path(name)
        (folder / "part.tflite").write_bytes(data)
        printed = _run(command_of(settings), folder, settings)
        try:
            model = load(folder / "out" / "part_vela.tflite")
            operators = [operator.name for operator in model.graphs[0].operators]
            if operators != [_NPU]:
                return Refusals(_reasons(printed))
            return _compiled(folder / "out", model)
        except (OSError, FlatBufferError, KeyError, ValueError, IndexError, StopIteration) as error:
            raise _failed(f"wrote what cannot be read ({type(error).__name__}: {error})", printed) from None


def command_of(settings: NpuSettings) -> list[str]:
    """Compiles `part.tflite` of the folder that it runs in into the folder `out`."""
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
            f"vela has not compiled a subgraph in {settings.time_limit} seconds. Raise time_limit in [ethos_u] of "
            "--configFile, or use optimise=Size there",
            code=ReturnCode.NOT_SUPPORTED,
        ) from None
    if done.returncode:
        raise _failed(f"ended with {done.returncode}", done.stdout)
    return done.stdout


def _failed(what: str, printed: str) -> ConversionError:
    lines = [line.strip() for line in printed.splitlines() if line.strip()][-_MOST_LINES:]
    said = f": {' / '.join(lines)}" if lines else ""
    return ConversionError(
        f"vela {what}{said}. [ethos_u] of --configFile names its system and memory mode; without --target the model is for the CPU",
        code=ReturnCode.NOT_SUPPORTED,
    )


def _reasons(printed: str) -> dict[str, str]:
    return {
        match["tensor"]: f"vela leaves {match['operator']} to the CPU: {match['reason'].strip()}"
        for match in _REFUSED.finditer(printed)
    }


def _compiled(folder: Path, model: SourceModel) -> Compiled:
    """Inputs of vela's operator: commands, constants, scratch memory, fast scratch memory, and those of the subgraph."""
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
    """Place of each tensor in the scratch memory, -1 for constants: behind version, graph and count in that record."""
    root = Source(path.read_bytes()).root()
    record = next(one for one in root.tables(6) or () if one.text(0) == "OfflineMemoryAllocation")
    buffers: list[Table] = root.tables(4) or []
    data = buffers[int(record.scalar(1, "uint"))].bytes(0) or b""
    return [int(number) for number in np.frombuffer(data, "<i4")[3:]]


def _estimates(folder: Path) -> dict[str, str]:
    (path,) = folder.glob("part_summary_*.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file))

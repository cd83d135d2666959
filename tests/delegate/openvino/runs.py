"""Runs models on OpenVINO's CPU device with the program `run_on_openvino`.

The program is in MSLITE_BUILD (the CMake build folder) or in `build/`; OpenVINO is found through its Python package.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant, data_type_of
from mslite.converter.mindir.ops import Operator

Array = npt.NDArray[Any]

BUILD = Path(os.environ.get("MSLITE_BUILD", Path(__file__).resolve().parents[3] / "build"))
PROGRAM = BUILD / "tests" / "delegate" / "run_on_openvino"


@dataclass(frozen=True)
class Placement:
    """Placement of a node."""

    part: int
    """Partition of the node; -1: the CPU runs it."""
    flops: int
    op: str
    node: str
    reason: str


@dataclass(frozen=True)
class Result:
    """The result of one folder."""

    placements: list[Placement]
    outputs: list[Array]
    error: str

    @property
    def is_whole(self) -> bool:
        """Whether the backend ran every node."""
        return bool(self.placements) and all(entry.part >= 0 for entry in self.placements)


def openvino_folder() -> Path | None:
    """Returns the folder of OpenVINO's Python package; None if it is not installed."""
    found = importlib.util.find_spec("openvino")
    return None if found is None or found.origin is None else Path(found.origin).parent


def write_model(
    folder: Path, op: Operator, inputs: Sequence[Array], constants: Sequence[int], outputs: Sequence[Array]
) -> None:
    """Writes a model with one node, and its inputs."""
    folder.mkdir(parents=True, exist_ok=True)
    graph = Graph("main")
    operands = [
        constant(f"x{i}", array) if i in constants else Value(f"x{i}", data_type_of(array), array.shape)
        for i, array in enumerate(inputs)
    ]
    graph.inputs = [value for value in operands if not value.is_constant]
    graph.outputs = [Value(f"y{i}", data_type_of(array), array.shape) for i, array in enumerate(outputs)]
    graph.nodes = [Node(op, op.name, tuple(operands), tuple(graph.outputs))]
    module_io.save(Module([graph]), folder / "model.ms")
    for number, array in enumerate(array for i, array in enumerate(inputs) if i not in constants):
        np.save(folder / f"input_{number}.npy", array)


def operators() -> list[str]:
    """Returns the operators that the backend supports."""
    return subprocess.run([PROGRAM, "--operators"], capture_output=True, text=True, check=True).stdout.split()


def run(folders: Sequence[Path], *options: str, **settings: str) -> list[Result]:
    """Runs the models of all folders in one process. `settings`: environment variables."""
    return run_and_hear(folders, *options, **settings)[0]


def run_and_hear(folders: Sequence[Path], *options: str, **settings: str) -> tuple[list[Result], str]:
    """The same. Also returns the log of the process."""
    for folder in folders:
        for path in [folder / "report.txt", folder / "error.txt", *folder.glob("output_*.npy")]:
            path.unlink(missing_ok=True)
    environment = {**os.environ, "MSLITE_OPENVINO_LIBRARY": str(openvino_folder()), "MSLITE_DELEGATE_COSTS": "off"}
    command = [PROGRAM, *options, *folders]
    done = subprocess.run(
        command, env={**environment, **settings}, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr}"
    return [read(folder) for folder in folders], done.stderr


def read(folder: Path) -> Result:
    """Reads the files that the program wrote into a folder."""
    placements = []
    if (folder / "report.txt").is_file():
        for line in (folder / "report.txt").read_text().splitlines():
            part, flops, op, node, reason = line.split("\t")
            placements.append(Placement(int(part), int(flops), op, node, reason))
    error = folder / "error.txt"
    outputs = [np.load(path) for path in sorted(folder.glob("output_*.npy"), key=lambda path: int(path.stem[7:]))]
    return Result(placements, outputs, error.read_text() if error.is_file() else "")

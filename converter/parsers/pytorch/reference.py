"""Runs a `torch.export` program with PyTorch in a separate process, to compare its outputs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mslite.converter.archive import ArchiveError
from mslite.converter.memory_limit import memory_limit
from mslite.converter.mindir.graph import Array
from mslite.converter.text_shortening import shortened

from .checked_copy import write_checked_copy
from .expressions import UnsafeProgram
from .pickles import UnsafePickle

_LONGEST_REASON = 300


class ProgramRunError(Exception):
    """PyTorch cannot run the program here; `str()` is the reason."""


@dataclass(frozen=True)
class ProgramRuns:
    """Consecutive runs of a program, which show its state."""

    inputs: list[dict[str, Array]]
    """For each run: input name -> array."""
    outputs: list[list[Array]]
    noise: list[Array] | None
    """The change of each output for small random changes of inputs and weights; None if there was no time."""
    is_coarse: bool
    """Whether the program computes with 16-bit floats."""
    is_quantized: bool = False
    """Whether the program quantizes to 8-bit integers."""


def run_program(
    path: Path, shapes: Mapping[str, Sequence[int]], in_evaluation: bool, folder: Path, seconds: int
) -> ProgramRuns:
    """Runs the program twice on random inputs, in at most `seconds` seconds, with temporary files in `folder`.

    The inputs have the types, shapes and ranges of the program's example inputs; `shapes` sets other shapes. In the
    second run, the first row of a mask masks everything (masks: boolean inputs, integers 0 and 1, or inputs with -inf
    in the example). `in_evaluation`: raises ProgramRunError for programs in training mode. Raises ProgramRunError.
    """
    copy, asked, target = folder / "program.pt2", folder / "asked.json", folder / "runs.npz"
    try:
        write_checked_copy(path, copy)
        wanted = {"shapes": {name: list(shape) for name, shape in shapes.items()}, "in_evaluation": in_evaluation}
        asked.write_text(json.dumps(wanted))
    except (ArchiveError, UnsafePickle, UnsafeProgram, OSError) as error:
        raise ProgramRunError(str(error)) from None
    script = str(Path(__file__).with_name("runner.py"))
    command = [sys.executable, "-P", script, str(copy), str(asked), str(target), str(memory_limit()), str(seconds)]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=seconds, cwd=folder
        )
    except subprocess.TimeoutExpired:
        raise ProgramRunError(f"PyTorch did not finish within {seconds} seconds") from None
    finally:
        copy.unlink(missing_ok=True)
    if run.returncode != 0 or not target.is_file():
        reason = (run.stdout.strip().splitlines() or [f"PyTorch ended with code {run.returncode}"])[-1]
        raise ProgramRunError(f"PyTorch cannot run it: {shortened(reason, _LONGEST_REASON)}")
    with np.load(target, allow_pickle=False) as file:
        return _runs({name: file[name] for name in file.files})


def _runs(found: Mapping[str, Array]) -> ProgramRuns:
    inputs: list[dict[str, Array]] = []
    outputs: list[list[Array]] = []
    while any(name.startswith(f"output{len(outputs)}/") for name in found):
        run = len(outputs)
        mine = {name.removeprefix(f"input{run}/"): data for name, data in found.items()}
        inputs.append({name: data for name, data in mine.items() if f"input{run}/{name}" in found})
        count = sum(name.startswith(f"output{run}/") for name in found)
        outputs.append([found[f"output{run}/{place}"] for place in range(count)])
    noise = [found[f"noise{run}"] for run in range(len(outputs))] if "noise0" in found else None
    return ProgramRuns(inputs, outputs, noise, bool(found["is_coarse"]), bool(found["is_quantized"]))

"""What networks do on an OpenCL device, counted: launches, bytes and operations of a run beside the least that any way
of computing it needs, and what compiling takes, first and again.

PYTHONPATH=build/python:. python -m tests.delegate.counts FOLDER      .onnx and .ms files of a folder, as a table
PYTHONPATH=build/python:. python -m tests.delegate.counts FOLDER --kernels    and which kernels have how much of it
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options

from .engines import OPENCL

Counts = dict[str, Any]
"""A line of the file that MSLITE_OPENCL_COUNTS names: what one part did."""


@dataclass(frozen=True)
class Counted:
    """A network: its parts, and the seconds that making its programs took, without and with compiled ones."""

    parts: list[Counts]
    cold: float
    warm: float

    def total(self, name: str) -> int:
        return sum(part[name] for part in self.parts)


def inputs_of(model: mslite.Model) -> list[np.ndarray]:
    """Numbers that any network takes; integers are ones, which any table of words has."""
    rng = np.random.default_rng(7)
    return [
        rng.standard_normal(tensor.shape).astype(np.float32)
        if tensor.dtype == mslite.DataType.FLOAT32
        else np.ones(tensor.shape, np.int64 if tensor.dtype == mslite.DataType.INT64 else np.int32)
        for tensor in model.get_inputs()
    ]


def parts_of(path: Path, folder: Path, **environment: str) -> list[Counts]:
    """Builds a model and runs it once; what each of its parts did."""
    lines = folder / "counts.jsonl"
    lines.unlink(missing_ok=True)
    with OPENCL.chosen(MSLITE_OPENCL_COUNTS=str(lines), MSLITE_DELEGATE_COSTS="off", **environment):
        model = OPENCL.built(path)
        model.predict(inputs_of(model))
        del model
        return [json.loads(line) for line in lines.read_text().splitlines()]


def counted(path: Path, folder: Path) -> Counted:
    """The counts of a model, compiled in an empty folder and again."""
    cache = folder / "cache" / path.stem
    cold = parts_of(path, folder, MSLITE_OPENCL_CACHE=str(cache), POCL_KERNEL_CACHE="0")
    warm = parts_of(path, folder, MSLITE_OPENCL_CACHE=str(cache), POCL_KERNEL_CACHE="0")
    seconds = [sum(part["program_seconds"] for part in parts) for parts in (cold, warm)]
    return Counted(warm, *seconds)


HEAD = (
    "network | nodes | launches | MB loaded | MB stored | MB of operands | MB at least | GFLOP | GFLOP at least"
    " | kB in | kB out | kB shared | s cold | s warm"
)


def row(name: str, network: Counted) -> str:
    """A line of the table."""
    mega = [network.total(key) / 1e6 for key in ("loaded_bytes", "stored_bytes", "operand_bytes", "border_bytes")]
    giga = [network.total(key) / 1e9 for key in ("flops", "least_flops")]
    kilo = [network.total(key) / 1e3 for key in ("copied_in_bytes", "copied_out_bytes", "shared_bytes")]
    numbers = [str(network.total("nodes")), str(network.total("launches")), *(f"{each:.1f}" for each in mega)]
    numbers += [*(f"{each:.2f}" for each in giga), *(f"{each:.0f}" for each in kilo)]
    return " | ".join([name, *numbers, f"{network.cold:.1f}", f"{network.warm:.2f}"])


def kernels(network: Counted) -> list[str]:
    """A line for each kernel, those first that load and store most."""
    totals: dict[str, list[int]] = {}
    for part in network.parts:
        for name, launched in part["kernels"].items():
            total = totals.setdefault(name, [0, 0, 0])
            for i, key in enumerate(("launches", "bytes", "flops")):
                total[i] += launched[key]
    ordered = sorted(totals.items(), key=lambda item: -item[1][1])
    return [
        f"    {name}: {count} launches, {size / 1e6:.1f} MB, {flops / 1e9:.2f} GFLOP"
        for name, (count, size, flops) in ordered
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="What networks do on an OpenCL device, counted.")
    parser.add_argument("networks", type=Path, help="a folder of .onnx or .ms files")
    parser.add_argument("--kernels", action="store_true", help="which kernels have how much of it")
    given = parser.parse_args()
    print(f"| {HEAD} |\n|{'---|' * (HEAD.count('|') + 1)}")
    for source in sorted([*given.networks.glob("*.onnx"), *given.networks.glob("*.ms")]):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            path = source if source.suffix == ".ms" else convert(Options(source, folder / source.stem)).files[0]
            network = counted(path, folder)
        print(f"| {row(source.stem, network)} |", flush=True)
        if given.kernels:
            print("\n".join(kernels(network)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

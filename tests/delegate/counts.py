"""Counts the work of networks on an OpenCL device: launches, bytes and operations of a run compared with the minimum.

It also measures the compile time, without and with cached programs.

PYTHONPATH=build/python:. python -m tests.delegate.counts FOLDER      .onnx and .ms files of a folder, as a table
PYTHONPATH=build/python:. python -m tests.delegate.counts FOLDER --kernels    with the shares of each kernel
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
"""A line of the file MSLITE_OPENCL_COUNTS: the counts of one partition."""


@dataclass(frozen=True)
class Counted:
    """The partitions of a network, and the seconds for building its programs without and with cached ones."""

    parts: list[Counts]
    cold: float
    warm: float

    def total(self, name: str) -> int:
        return sum(part[name] for part in self.parts)


def inputs_of(model: mslite.Model) -> list[np.ndarray]:
    """Random inputs that any network accepts; integers are ones, which are valid indices of any embedding table."""
    rng = np.random.default_rng(7)
    return [
        rng.standard_normal(tensor.shape).astype(np.float32)
        if tensor.dtype == mslite.DataType.FLOAT32
        else np.ones(tensor.shape, np.int64 if tensor.dtype == mslite.DataType.INT64 else np.int32)
        for tensor in model.get_inputs()
    ]


def parts_of(path: Path, folder: Path, **environment: str) -> list[Counts]:
    """Builds a model and runs it once. Returns the counts of its partitions."""
    lines = folder / "counts.jsonl"
    lines.unlink(missing_ok=True)
    with OPENCL.chosen(MSLITE_OPENCL_COUNTS=str(lines), MSLITE_DELEGATE_COSTS="off", **environment):
        model = OPENCL.built(path)
        model.predict(inputs_of(model))
        del model
        return [json.loads(line) for line in lines.read_text().splitlines()]


def counted(path: Path, folder: Path) -> Counted:
    """Returns the counts of a model, compiled with an empty cache and with cached programs."""
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
    """Returns a row of the table."""
    mega = [network.total(key) / 1e6 for key in ("loaded_bytes", "stored_bytes", "operand_bytes", "border_bytes")]
    giga = [network.total(key) / 1e9 for key in ("flops", "least_flops")]
    kilo = [network.total(key) / 1e3 for key in ("copied_in_bytes", "copied_out_bytes", "shared_bytes")]
    numbers = [str(network.total("nodes")), str(network.total("launches")), *(f"{each:.1f}" for each in mega)]
    numbers += [*(f"{each:.2f}" for each in giga), *(f"{each:.0f}" for each in kilo)]
    return " | ".join([name, *numbers, f"{network.cold:.1f}", f"{network.warm:.2f}"])


def kernels(network: Counted) -> list[str]:
    """Returns a row for each kernel, sorted by the bytes that it loads and stores."""
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
    parser = argparse.ArgumentParser(
        description="Counts launches, bytes and operations of networks on an OpenCL device."
    )
    parser.add_argument("networks", type=Path, help="a folder of .onnx or .ms files")
    parser.add_argument("--kernels", action="store_true", help="show the shares of each kernel")
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

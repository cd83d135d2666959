"""Measures the accuracy of float16 on 64-bit ARM under QEMU: the SNR of each network's outputs compared with float32.

    python -m tests.arm64.accuracy MODELS --build build-arm64

Both run on a Cortex-A76, on the same random inputs (tests/arm64/one_inference.cc). 60 dB is an error of 0.1 %.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import mslite
from tests.arm64.counting import EMULATORS


def outputs_of(program: Path, model: Path, precision: str, folder: Path) -> NDArray[np.float64]:
    file = folder / f"{model.stem}.{precision}"
    command = [EMULATORS["arm64"], "-cpu", "cortex-a76", str(program), str(model), precision, str(file)]
    subprocess.run(command, check=True, capture_output=True)
    return np.fromfile(file, np.float32).astype(np.float64)


def decibels(wanted: NDArray[np.float64], got: NDArray[np.float64]) -> float:
    noise = np.sum((wanted - got) ** 2)
    return float(10 * np.log10(np.sum(wanted**2) / noise)) if noise > 0 else float("inf")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.arm64.accuracy", description=__doc__)
    parser.add_argument("models", type=Path, help="folder of ONNX files in float32")
    parser.add_argument("--build", type=Path, default=Path("build-arm64"), help="a cross build")
    parser.add_argument("--networks", default="", help="only these, separated by commas")
    options = parser.parse_args()
    wanted = set(filter(None, options.networks.split(",")))
    print("| network | SNR in dB | top-1 class |\n|---|--:|---|")
    with tempfile.TemporaryDirectory() as name:
        for source in sorted(options.models.glob("*.onnx")):
            if wanted and source.stem not in wanted:
                continue
            model = Path(name) / f"{source.stem}.ms"
            mslite.Converter().convert(mslite.FmkType.ONNX, source, model)
            program = options.build / "tests/one_inference"
            single, half = (outputs_of(program, model, precision, Path(name)) for precision in ("float32", "float16"))
            place = "same as in float32" if single.argmax() == half.argmax() else "another"
            print(f"| {source.stem} | {decibels(single, half):.1f} | {place} |", flush=True)


if __name__ == "__main__":
    main()

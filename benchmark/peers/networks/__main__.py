"""`PYTHONPATH=benchmark/peers python -m networks FOLDER [--int8 FOLDER] [--only NAMES] [--onnx-only]`: writes the networks' files.

Needs the packages of benchmark/peers/requirements.txt; mslite is not needed. Existing files are kept. Files that cannot be written are
printed with the reason, and listed in the folder's missing.txt; the benchmark then reports that the runtime did not run. If an ONNX file
cannot be written, the exit status is 1. The output of the converters goes to FOLDER/conversion.log.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .files import attempt, write_onnx, write_onnx_int8, write_tflite, write_tflite_int8
from .zoo import Network, chosen


def write(network: Network, floats: Path, int8: Path | None, is_onnx_alone: bool) -> dict[Path, str]:
    """Writes all files of a network. Returns for each file the reason why it cannot be written, "" if it is written."""
    onnx, lite = floats / f"{network.name}.onnx", floats / f"{network.name}.tflite"
    reasons = {onnx: attempt(lambda: write_onnx(network, onnx), onnx)}
    if not is_onnx_alone:
        reasons[lite] = attempt(lambda: write_tflite(network, lite), lite)
    if int8 is not None:
        small, small_lite = int8 / onnx.name, int8 / lite.name
        reasons[small] = reasons[onnx] or attempt(lambda: write_onnx_int8(network, onnx, small), small)
        if not is_onnx_alone:
            reasons[small_lite] = reasons[lite] or attempt(
                lambda: write_tflite_int8(network, lite, small_lite), small_lite
            )
    return reasons


def note(reasons: dict[Path, str]) -> None:
    """Updates missing.txt in each folder: one line for each file that cannot be written, `NAME: REASON`."""
    for folder in {path.parent for path in reasons}:
        folder.mkdir(parents=True, exist_ok=True)
        notes = folder / "missing.txt"
        lines = notes.read_text().splitlines() if notes.exists() else []
        known = dict(line.split(": ", 1) for line in lines) | {
            path.name: reason for path, reason in reasons.items() if path.parent == folder
        }
        notes.write_text("".join(f"{name}: {reason}\n" for name, reason in sorted(known.items()) if reason))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m networks", description=__doc__)
    parser.add_argument("floats", type=Path, help="folder for the float32 files")
    parser.add_argument("--int8", type=Path, help="folder for the int8 files; without it, no int8 files are written")
    parser.add_argument("--only", default="", help="networks to write, separated by commas (all)")
    parser.add_argument("--onnx-only", action="store_true", help="write no TensorFlow Lite files")
    options = parser.parse_args()
    try:
        networks = chosen(options.only)
    except ValueError as error:
        parser.error(str(error))
    options.floats.mkdir(parents=True, exist_ok=True)
    console = os.fdopen(os.dup(1), "w", buffering=1)
    log = os.open(options.floats / "conversion.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for network in networks:
        reasons = write(network, options.floats, options.int8, options.onnx_only)
        note(reasons)
        failed = [f"  {path}: {reason}" for path, reason in reasons.items() if reason]
        print(f"{network.name:32} {'not written:' if failed else 'written'}", *failed, sep="\n", file=console)
    absent = [network.name for network in networks if not (options.floats / f"{network.name}.onnx").exists()]
    if absent:
        print(f"No ONNX file could be written for: {', '.join(absent)}", file=console)
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())

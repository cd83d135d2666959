#!/usr/bin/env python3
"""The demo of `make demo`: converts the digit recognizer in this folder, measures it, checks its accuracy, and compares two
larger networks with onnxruntime.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from compare import compare, images_of_28
from rich.console import Console
from rich.panel import Panel
from rich.table import Table

import mslite

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "build" / "demo"
TRAINED = HERE.parents[1] / "tests" / "models" / "trained"
NETWORKS = {"cnn": "residual", "vit": "transformer"}
PROGRAMS = Path(sys.executable).parent


def run(*command: str) -> None:
    """Runs an installed program. Its output is only printed if it fails."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")


def accuracy(model_file: Path) -> tuple[float, int]:
    """Returns the accuracy of the converted model on the test split, with the Python API, and the size of the split."""
    data = np.load(HERE / "digits_test.npz")
    images = np.ascontiguousarray(data["images"].transpose(0, 2, 3, 1))  # the input of the .ms file is NHWC
    context = mslite.Context()
    context.cpu.thread_num = 1
    model = mslite.Model()
    model.build_from_file(str(model_file), mslite.ModelType.MINDIR_LITE, context)
    inputs = model.get_inputs()
    model.resize(inputs, [list(images.shape)])
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(images)
    (probabilities,) = model.predict(inputs)
    right = probabilities.get_data_to_numpy().argmax(axis=1) == data["labels"]
    return float(right.mean()), len(images)


def beside_onnxruntime() -> Table:
    """Compares the networks in `TRAINED` with 28 x 28 inputs in both runtimes."""
    import onnxruntime

    images = images_of_28(np.load(HERE / "digits_test.npz")["images"])
    table = Table(title=f"compared with onnxruntime {onnxruntime.__version__}, 1 thread, median time of one image")
    table.add_column("network", style="cyan")
    for head in ("mslite", "onnxruntime", "ratio", "same answers", "difference"):
        table.add_column(head, justify="right")
    for name, kind in NETWORKS.items():
        model_file, onnx_file = OUT / f"{name}.ms", TRAINED / f"{name}.onnx"
        run(
            str(PROGRAMS / "converter_lite"), f"--modelFile={onnx_file}", f"--outputFile={model_file}",
            "--inputShape=input:1,1,28,28",
        )  # fmt: skip
        found = compare(onnx_file, model_file, images)
        table.add_row(
            f"{name} ({kind})",
            f"{found.mslite_ms * 1000:.0f} µs",
            f"{found.onnxruntime_ms * 1000:.0f} µs",
            f"{found.mslite_ms / found.onnxruntime_ms:.2f}",
            f"{found.same_answers} of {found.images}",
            f"{found.largest_difference:.1g}",
        )
        if found.same_answers != found.images:
            sys.exit(f"{name}: mslite and onnxruntime return different predictions.")
    return table


def main() -> None:
    console = Console()
    OUT.mkdir(parents=True, exist_ok=True)
    model_file, report, page = OUT / "digits.ms", OUT / "benchmark.json", OUT / "benchmark.html"

    console.print("[bold]1.[/bold] converting examples/digits/digits.onnx ...")
    run(
        str(PROGRAMS / "converter_lite"),
        "--fmk=ONNX",
        f"--modelFile={HERE / 'digits.onnx'}",
        f"--outputFile={model_file}",
    )
    console.print("[bold]2.[/bold] measuring with benchmark ...")
    run(
        str(PROGRAMS / "benchmark"), f"--modelFile={model_file}", "--inputShapes=1,8,8,1", "--numThreads=1",
        "--warmUpLoopCount=20", "--loopCount=200", f"--jsonFile={report}", f"--htmlFile={page}",
    )  # fmt: skip
    console.print("[bold]3.[/bold] running the test split with the Python API ...")
    share, count = accuracy(model_file)
    measured = json.loads(report.read_text())

    table = Table.grid(padding=(0, 3))
    table.add_column(style="cyan")
    table.add_column()
    latency = measured["latency_ms"]
    table.add_row(
        "latency",
        f"{latency['median'] * 1000:.1f} µs median, {latency['p90'] * 1000:.1f} µs p90 (1 thread, {measured['isa']})",
    )
    table.add_row(
        "memory",
        f"{measured['arena_bytes'] / 1024:.1f} KiB activations, {measured['packed_weight_bytes'] / 1024:.1f} KiB weights",
    )
    table.add_row("accuracy", f"{share:.2%} of {count} handwritten digits of the test split")
    table.add_row(
        "model",
        f"{model_file.relative_to(Path.cwd()) if model_file.is_relative_to(Path.cwd()) else model_file} ({model_file.stat().st_size / 1024:.1f} KiB)",
    )
    table.add_row("report", str(page.relative_to(Path.cwd()) if page.is_relative_to(Path.cwd()) else page))
    console.print(Panel(table, title="mslite: a digit recognizer, from ONNX to a running .ms", expand=False))
    if share < 0.95:
        sys.exit("The accuracy is lower than that of the trained model.")
    console.print("[bold]4.[/bold] running two larger networks in mslite and in onnxruntime, in turn ...")
    try:
        console.print(beside_onnxruntime())
    except ImportError:
        console.print("Skipped: onnxruntime is not installed (pip install onnxruntime).")
    if not (Path(mslite.__file__).parent / "bin" / "benchmark_train").is_file():
        console.print(
            "Next: README.md, 'Run a model'. `make install` builds the rest: training, the code generator, OpenCL and OpenVINO."
        )


if __name__ == "__main__":
    main()

"""Measures models with branches on the CPU, on OpenCL, and on both in parallel: the table of docs/developers/gpu.md.

PYTHONPATH=build/python:. python -m tests.delegate.beside
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mslite.converter.convert import convert
from mslite.converter.options import Options
from tests.e2e.models import convert_model, models

from .engines import OPENCL

ROOT = Path(__file__).parents[2]
PROGRAM = (ROOT / os.environ.get("MSLITE_BUILD", "build") / "benchmark/benchmark").resolve()
OF_THE_OPEN_SET = "torch_cnn/squeezenet1_1_op11"
WAYS = {
    "CPU": ["--numThreads=1"],
    "OpenCL": ["--device=GPU", "--numThreads=1"],
    "both": ["--device=GPU", "--numThreads=2", "--enableParallel"],
}
ONE_THREAD = {"POCL_MAX_PTHREAD_COUNT": "1", "POCL_CPU_MAX_CU_COUNT": "1"}
"""Names of PoCL's library in its versions."""


def two_towers(folder: Path) -> Path:
    """Two branches of four convolutions each, then one layer on both outputs."""
    rng = np.random.default_rng(5)
    nodes, weights, ends = [], [], []
    for side in ("left", "right"):
        value = side
        for layer, (inputs, outputs) in enumerate([(8, 32), (32, 32), (32, 32), (32, 32)]):
            kernel = f"{side}_w{layer}"
            array = rng.standard_normal((outputs, inputs, 3, 3)).astype(np.float32) / np.sqrt(9 * inputs)
            weights.append(numpy_helper.from_array(array.astype(np.float32), kernel))
            nodes.append(helper.make_node("Conv", [value, kernel], [f"{side}_c{layer}"], pads=[1, 1, 1, 1]))
            nodes.append(helper.make_node("Relu", [f"{side}_c{layer}"], [f"{side}_r{layer}"]))
            value = f"{side}_r{layer}"
        ends.append(value)
    nodes.append(helper.make_node("Concat", ends, ["joined"], axis=1))
    weights.append(numpy_helper.from_array(rng.standard_normal((8, 64, 1, 1)).astype(np.float32), "head"))
    nodes.append(helper.make_node("Conv", ["joined", "head"], ["y"]))
    images = [helper.make_tensor_value_info(side, TensorProto.FLOAT, [1, 8, 56, 56]) for side in ("left", "right")]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 56, 56])
    graph = helper.make_graph(nodes, "two_towers", images, [result], weights)
    path = folder / "two_towers.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return convert(Options(path, folder / "two_towers")).files[0]


def measured(model: Path, flags: list[str], loops: int) -> tuple[float, float, float]:
    """Returns minimum and median time in milliseconds, and the share of operations on OpenCL."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run(
            [PROGRAM, f"--modelFile={model}", f"--jsonFile={report}", f"--loopCount={loops}", "--cpuBindMode=0", *flags],
            check=True, capture_output=True, timeout=600, env={**os.environ, **ONE_THREAD},
        )  # fmt: skip
        found = json.loads(report.read_text())
    total = sum(node["flops"] for node in found["placement"])
    on_engine = sum(node["flops"] for node in found["placement"] if node["engine"].startswith(OPENCL.name))
    return found["latency_ms"]["min"], found["latency_ms"]["median"], on_engine / total if total else 0.0


def main() -> int:
    loops = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as name, OPENCL.chosen():
        folder = Path(name)
        chosen = [two_towers(folder)]
        chosen += [convert_model(entry, folder) for entry in models() if entry.path == OF_THE_OPEN_SET]
        for path in chosen:
            for way, flags in WAYS.items():
                least, median, share = measured(path, flags, loops)
                print(f"{path.stem}: {way}: {least:.1f} ms at least, median {median:.1f} ms, {share:.1%} on OpenCL")
    return 0


if __name__ == "__main__":
    sys.exit(main())

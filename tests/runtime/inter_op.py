"""`python -m tests.runtime.inter_op`: compares running branches of a model sequentially and in parallel, with the same threads.

The models are an Inception-like one (four branches and a concatenation, six times), one with eight heads on a shared trunk, and one
without branches, all with random weights. The two modes alternate. Prints the median over all rounds of their medians, and the fastest
run, which other programs on the machine affect least.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mslite.converter.convert import convert
from mslite.converter.options import Options

BENCHMARK = Path("build/benchmark/benchmark")
SIZE = 28


class Network:
    """A model of convolutions under construction."""

    def __init__(self, channels: int) -> None:
        self._random = np.random.default_rng(1)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._channels = {"x": channels}

    def conv(self, source: str, channels: int, kernel: int) -> str:
        name = f"value{len(self._nodes)}"
        shape = (channels, self._channels[source], kernel, kernel)
        weight = self._random.standard_normal(shape, np.float32) / np.sqrt(np.prod(shape[1:]))
        self._weights.append(numpy_helper.from_array(weight.astype(np.float32), f"{name}_weight"))
        self._nodes.append(
            helper.make_node("Conv", [source, f"{name}_weight"], [f"{name}_sum"], pads=[kernel // 2] * 4)
        )
        self._nodes.append(helper.make_node("Relu", [f"{name}_sum"], [name]))
        self._channels[name] = channels
        return name

    def concat(self, sources: list[str]) -> str:
        name = f"value{len(self._nodes)}"
        self._nodes.append(helper.make_node("Concat", sources, [name], axis=1))
        self._channels[name] = sum(self._channels[source] for source in sources)
        return name

    def save(self, path: Path, outputs: list[str]) -> Path:
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, self._channels["x"], SIZE, SIZE])
        results = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, self._channels[name], SIZE, SIZE])
            for name in outputs
        ]
        graph = helper.make_graph(self._nodes, "network", [x], results, self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, path.with_suffix(".onnx"))
        convert(Options(model_file=path.with_suffix(".onnx"), output_file=path))
        return path.with_suffix(".ms")


def inception(path: Path) -> Path:
    network, value = Network(96), "x"
    for _ in range(6):
        branches = [
            network.conv(value, 32, 1),
            network.conv(network.conv(value, 24, 1), 32, 3),
            network.conv(network.conv(network.conv(value, 16, 1), 16, 3), 16, 3),
            network.conv(value, 16, 1),
        ]
        value = network.concat(branches)
    return network.save(path, [value])


def heads(path: Path) -> Path:
    network = Network(32)
    trunk = network.conv(network.conv("x", 32, 3), 32, 3)
    return network.save(path, [network.conv(network.conv(trunk, 16, 3), 8, 1) for _ in range(8)])


def chain(path: Path) -> Path:
    network, value = Network(48), "x"
    for _ in range(12):
        value = network.conv(value, 48, 3)
    return network.save(path, [value])


def milliseconds(model: Path, inter_op: int, loops: int, report: Path) -> tuple[float, float]:
    """Returns the median and the minimum time of one process with two threads."""
    command = [
        BENCHMARK, f"--modelFile={model}", "--numThreads=2", f"--interOpParallelNum={inter_op}", f"--loopCount={loops}",
        "--warmUpLoopCount=5", f"--jsonFile={report}",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    times: dict[str, float] = json.loads(report.read_text())["latency_ms"]
    return times["median"], times["min"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--loops", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = {make.__name__: make(folder / make.__name__) for make in (inception, heads, chain)}
        for label, model in models.items():
            ways = {1: list[tuple[float, float]](), 2: list[tuple[float, float]]()}
            for _ in range(given.rounds):
                for inter_op, found in ways.items():
                    found.append(milliseconds(model, inter_op, given.loops, folder / "report.json"))
            for place, (name, choose) in enumerate((("median", statistics.median), ("fastest", min))):
                one, two = (choose(times[place] for times in found) for found in ways.values())
                print(
                    f"{label:10} {name:8} one by one {one:7.3f} ms   branches at the same time {two:7.3f} ms   {two / one:.3f}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())

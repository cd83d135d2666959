"""Runs every runtime on every network, interleaved.

In each round every runtime runs once for a fixed time, so that slow periods of the machine affect all runtimes equally. The
reported time is the median over the rounds of each round's median.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx

from .runtimes import RUNTIMES

REFERENCE = "onnxruntime"
OWN_FLOAT = "mslite float32"
"""Name of the row that shows mslite on the float32 network, for comparison with the quantized network."""


@dataclass(kw_only=True)
class Figures:
    """The measurements of one runtime, or the reason why it did not run."""

    median_ms: float | None = None
    rounds_ms: list[float] = field(default_factory=list)
    cpu_ms: float | None = None
    """Median CPU time of all threads, measured with one thread only: other programs on the machine do not affect it."""
    rounds_cpu_ms: list[float] = field(default_factory=list)
    peak_mb: float | None = None
    """Peak memory in MB of loading and the first run, in a process that did nothing else."""
    error: str = ""

    def conclude(self) -> None:
        """Computes the medians over all rounds. Called after the last round."""
        if self.rounds_ms and not self.error:
            self.median_ms = statistics.median(self.rounds_ms)
        if self.rounds_cpu_ms and not self.error:
            self.cpu_ms = statistics.median(self.rounds_cpu_ms)


@dataclass
class Row(Figures):
    """The measurements of one runtime on one network with one thread count."""

    network: str
    threads: int
    runtime: str
    cosine: float | None = None
    """Cosine similarity between this runtime's first output and that of the reference runtime."""


class Worker:
    """A child process that runs one runtime and answers JSON commands (see `serve`)."""

    def __init__(self, module: str = "mslite.benchmark.peers.worker") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def ask(self, command: dict[str, Any]) -> dict[str, Any]:
        """Sends a command and returns the answer; {"error": reason} if the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            return {"error": f"the process ended with status {self.process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def make_inputs(model: Path, path: Path) -> None:
    """Writes random inputs with a fixed seed to the npz file `path`, one array for each graph input.

    Float inputs are normally distributed, integer inputs are token ids below 1000, and masks are all ones.
    """
    rng = np.random.default_rng(7)
    graph = onnx.load(str(model), load_external_data=False).graph
    known = {tensor.name for tensor in graph.initializer}
    arrays: dict[str, npt.NDArray[Any]] = {}
    for value in graph.input:
        if value.name in known:
            continue
        tensor = value.type.tensor_type
        shape = [dim.dim_value or 1 for dim in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if np.issubdtype(dtype, np.floating):
            arrays[value.name] = rng.standard_normal(shape).astype(dtype)
        else:
            high = 2 if "mask" in value.name else 1000
            arrays[value.name] = rng.integers(1 if high == 2 else 0, high, shape).astype(dtype)
    np.savez(path, **arrays)  # type: ignore[arg-type]


def is_wanted(network: str, names: str) -> bool:
    """Returns whether `network` is in `names`, a comma-separated list. A name may omit the input size. An empty list means all."""
    wanted = set(filter(None, names.split(",")))
    return not wanted or bool(wanted & {network, network.rpartition("_")[0]})


def cosine(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    """Returns the cosine similarity of two arrays, 0 if they have different numbers of elements."""
    x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    if x.size != y.size:
        return 0.0
    return float(x @ y / max(float(np.linalg.norm(x) * np.linalg.norm(y)), 1e-300))


def measure(
    model: Path,
    threads: int,
    runtimes: list[str],
    rounds: int,
    seconds: float,
    versions: dict[str, str],
    float_model: Path | None = None,
) -> list[Row]:
    """Measures all runtimes on one network with one thread count, and mslite on `float_model` with the same inputs.

    Adds the version of each runtime to `versions`.
    """
    if float_model is not None:
        runtimes = [*runtimes, OWN_FLOAT]
    rows = {name: Row(model.stem, threads, name) for name in runtimes}
    workers: dict[str, Worker] = {}
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs.npz"
        make_inputs(model, inputs)
        work = Path(folder)
        try:
            for name in runtimes:
                request = {"runtime": name, "model": str(model), "work": str(work), "threads": threads}
                if name == OWN_FLOAT:
                    (work / "float").mkdir()
                    request |= {"runtime": "mslite", "model": str(float_model), "work": str(work / "float")}
                load = {"load": {**request, "inputs": str(inputs)}}
                # The first process converts the model; its memory must not count in the second process, which is measured.
                first = Worker()
                answer = first.ask(load)
                first.close()
                if "error" in answer:
                    rows[name].error = answer["error"]
                    continue
                workers[name] = Worker()
                answer = workers[name].ask(load)
                versions[name], rows[name].peak_mb = answer["version"], answer["peak_mb"]
            compare(workers, rows, work)
            for _ in range(rounds):
                for name, worker in list(workers.items()):
                    answer = worker.ask({"run": {"seconds": seconds, "most": 500}})
                    if "error" in answer:
                        rows[name].error = answer["error"]
                        workers.pop(name).close()
                        continue
                    rows[name].rounds_ms.append(statistics.median(answer["times_ms"]))
                    if threads == 1:
                        rows[name].rounds_cpu_ms.append(statistics.median(answer["cpu_ms"]))
                    time.sleep(0.02)  # spinning threads of this runtime stop before the next runtime starts
        finally:
            for worker in workers.values():
                worker.close()
    for row in rows.values():
        row.conclude()
    return list(rows.values())


def compare(workers: dict[str, Worker], rows: dict[str, Row], work: Path) -> None:
    """Sets `cosine` of each row: its first output compared with that of the reference runtime.

    A runtime that returned no output gets an error and its worker is removed.
    """
    outputs: dict[str, npt.NDArray[Any]] = {}
    for name, worker in list(workers.items()):
        file = work / f"{name}.npz"
        if "error" in worker.ask({"save": str(file)}):
            continue
        with np.load(file) as arrays:
            if arrays.files:
                outputs[name] = arrays[arrays.files[0]]
            else:
                rows[name].error = "the runtime returned no output"
                workers.pop(name).close()
    if REFERENCE in outputs:
        for name, output in outputs.items():
            rows[name].cosine = cosine(output, outputs[REFERENCE])


def measure_all(
    models: list[Path],
    thread_counts: list[int],
    rounds: int,
    seconds: float,
    report: Callable[[Row], None],
    floats: Path | None = None,
) -> tuple[list[Row], dict[str, str]]:
    """Measures every network with every thread count. Returns the rows and the versions of the runtimes that ran.

    Args:
        floats: folder of the float32 networks that the quantized ones were made from; mslite runs these too.
    """
    rows: list[Row] = []
    versions: dict[str, str] = {}
    for model in models:
        own = floats / model.name if floats is not None and (floats / model.name).exists() else None
        for threads in thread_counts:
            for row in measure(model, threads, list(RUNTIMES), rounds, seconds, versions, own):
                rows.append(row)
                report(row)
    return rows, versions


def processor() -> str:
    """Returns the processor's name, its widest vector extension and the number of cores that this process may use."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    name = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    widest = "AVX-512" if " avx512f" in text else "AVX2" if " avx2" in text else "no AVX2"
    vnni = " with VNNI" if "avx512_vnni" in text else ""
    return f"{name}, {widest}{vnni}, {len(os.sched_getaffinity(0))} cores"

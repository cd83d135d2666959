"""Runs every runtime on every network, interleaved: round by round each runtime gets its turn, so that a slow minute of the
machine falls on all of them alike. A runtime's figure is the median over rounds of its median run."""

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
"""mslite on the float network of the same name, beside a quantized one."""


@dataclass(kw_only=True)
class Figures:
    """What was measured of one runtime, or why nothing could be."""

    median_ms: float | None = None
    rounds_ms: list[float] = field(default_factory=list)
    cpu_ms: float | None = None
    """The same of the CPU time of all threads: with one thread other programs on the machine do not change it."""
    rounds_cpu_ms: list[float] = field(default_factory=list)
    peak_mb: float | None = None
    """Memory that getting ready and the first run took at most, in a process that did nothing else."""
    error: str = ""

    def conclude(self) -> None:
        """After the last round: the figure that stands for all."""
        if self.rounds_ms and not self.error:
            self.median_ms = statistics.median(self.rounds_ms)
        if self.rounds_cpu_ms and not self.error:
            self.cpu_ms = statistics.median(self.rounds_cpu_ms)


@dataclass
class Row(Figures):
    """What one runtime does on one network with one thread count."""

    network: str
    threads: int
    runtime: str
    cosine: float | None = None
    """Cosine of the first output with the reference runtime's."""


class Worker:
    """A runtime in a process of its own."""

    def __init__(self, module: str = "mslite.benchmark.peers.worker") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def ask(self, command: dict[str, Any]) -> dict[str, Any]:
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
    """Seeded inputs for every graph input: normal numbers, token numbers below 1000, masks of ones."""
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
    """Whether a network is one of these names, with commas between; a name may leave out the size at its end. No name means all."""
    wanted = set(filter(None, names.split(",")))
    return not wanted or bool(wanted & {network, network.rpartition("_")[0]})


def cosine(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
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
    """All runtimes on one network with one thread count, and mslite on `float_model`, which takes the same inputs."""
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
                # The first one converts the model, which takes memory, too.
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
                    time.sleep(0.02)  # let spinning threads of this runtime go to sleep before the next one starts
        finally:
            for worker in workers.values():
                worker.close()
    for row in rows.values():
        row.conclude()
    return list(rows.values())


def compare(workers: dict[str, Worker], rows: dict[str, Row], work: Path) -> None:
    """Fills in how close each runtime's first output is to the reference runtime's; one without an output is out."""
    outputs: dict[str, npt.NDArray[Any]] = {}
    for name, worker in list(workers.items()):
        file = work / f"{name}.npz"
        if "error" in worker.ask({"save": str(file)}):
            continue
        with np.load(file) as arrays:
            if arrays.files:
                outputs[name] = arrays[arrays.files[0]]
            else:
                rows[name].error = "it ran, and gave no output"
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
    """Every network with every thread count; the rows, and the versions of the runtimes that ran.

    `floats`: the folder of the float networks, to set beside quantized ones.
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
    """The processor's name, its widest vector extension and the cores that this process may use."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    name = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    widest = "AVX-512" if " avx512f" in text else "AVX2" if " avx2" in text else "no AVX2"
    vnni = " with VNNI" if "avx512_vnni" in text else ""
    return f"{name}, {widest}{vnni}, {len(os.sched_getaffinity(0))} cores"

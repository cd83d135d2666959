"""Trains every network with every trainer of `runtimes`, interleaved.

In each round every trainer runs once, so that slow periods of the machine affect all of them equally. The reported time is the
median over the rounds of each round's median step.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..measure import Figures, Worker
from .runtimes import IN_HALF, TRAINERS

REFERENCE = "PyTorch"
NETWORKS = (
    "lenet_28", "lstm_28", "mobilenet_v2_224", "mobilenet_v2_224_head", "resnet18_224", "transformer_128", "unet_128",
)  # fmt: skip
"""The names in `networks`, which is not imported because this process does not need PyTorch."""
_OF_THE_GRAPH_MB = 6
"""Memory that --trainMemory does not count: the runtime's code and its description of the graph."""


@dataclass
class Row(Figures):
    """The measurements of one trainer with one network, batch size and thread count."""

    network: str
    batch: int
    threads: int
    runtime: str
    losses: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Turns:
    """The number of rounds, and the duration of a trainer's turn in one round."""

    rounds: int
    seconds: float


def prepare(network: str, batch: int, work: Path) -> Path:
    """Writes the files of a network into `work` unless they exist. Returns their path without suffix.

    Raises:
        RuntimeError: the network cannot be exported or converted.
    """
    path = work / f"{network}_{batch}"
    if not path.with_suffix(".ms").exists():
        _run("-m", f"{__package__}.networks", network, str(batch), str(path))
        _convert(path, path)
    return path


def _prepare_half(path: Path, megabytes: float) -> None:
    """Converts the network to PATH_half.ms, which trains in half of `megabytes`.

    Raises:
        RuntimeError: the network does not fit into that memory.
    """
    _convert(path, Path(f"{path}_half"), f"--trainMemory={max(int((megabytes / 2 - _OF_THE_GRAPH_MB) * 1024), 1)}K")


def _convert(model: Path, output: Path, *flags: str) -> None:
    start = "import sys; from mslite.programs import converter_lite; sys.exit(converter_lite())"
    files = [f"--modelFile={model}.onnx", f"--outputFile={output}", f"--configFile={model}.cfg"]
    _run("-c", start, "--fmk=ONNX", "--trainModel=true", *files, *flags)


def _run(*arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip()).splitlines()[-1])


def measure(network: str, batch: int, threads: int, work: Path, turns: Turns, versions: dict[str, str]) -> list[Row]:
    """Measures all trainers on one network. Adds the version of each library to `versions`."""
    rows = {name: Row(network, batch, threads, name) for name in TRAINERS}
    workers: dict[str, Worker] = {}
    try:
        path = prepare(network, batch, work)
        for name, row in rows.items():
            request = {"runtime": name, "network": network, "path": str(path), "work": str(work), "threads": threads}
            if name == "torch.compile":
                _first(request)
            if name == IN_HALF:
                row.error = _why_not_in_half(path, rows[REFERENCE].peak_mb)
                if row.error:
                    continue
            workers[name] = Worker(f"{__package__}.worker")
            answer = workers[name].ask({"load": request})
            if "error" in answer:
                row.error = answer["error"]
                workers.pop(name).close()
                continue
            versions[name], row.peak_mb, row.losses = answer["version"], answer["peak_mb"], answer["losses"]
        for _ in range(turns.rounds):
            for name, worker in workers.items():
                answer = worker.ask({"run": {"seconds": turns.seconds, "most": 500, "least": 1}})
                rows[name].rounds_ms.append(statistics.median(answer["times_ms"]))
                time.sleep(0.02)  # spinning threads of this trainer stop before the next trainer starts
    finally:
        for worker in workers.values():
            worker.close()
    for row in rows.values():
        row.conclude()
    return list(rows.values())


def _why_not_in_half(path: Path, megabytes: float | None) -> str:
    """Writes PATH_half.ms. Returns the reason if that is impossible, else ""."""
    if megabytes is None:
        return f"the memory of {REFERENCE} was not measured"
    try:
        _prepare_half(path, megabytes)
    except RuntimeError as error:
        return str(error)
    return ""


def _first(request: dict[str, object]) -> None:
    """Runs torch.compile in a separate process, so that the memory of the compiler is not measured."""
    worker = Worker(f"{__package__}.worker")
    worker.ask({"load": request})
    worker.close()


def agrees(row: Row, rows: list[Row]) -> bool:
    """Returns whether the losses of `row` equal those of PyTorch within 0.1 % of the largest loss."""
    for other in rows:
        same = (other.network, other.batch, other.threads) == (row.network, row.batch, row.threads)
        if same and other.runtime == REFERENCE and row.losses and other.losses:
            largest = max(map(abs, other.losses))
            return all(abs(a - b) <= 1e-3 * largest for a, b in zip(row.losses, other.losses, strict=True))
    return True


def measure_all(
    networks: list[str],
    batches: list[int],
    thread_counts: list[int],
    work: Path,
    turns: Turns,
    report: Callable[[list[Row]], None],
) -> tuple[list[Row], dict[str, str]]:
    """Measures every network with every batch size and thread count. Returns the rows and the versions of the libraries."""
    rows: list[Row] = []
    versions: dict[str, str] = {}
    for network in networks:
        for batch in batches:
            for threads in thread_counts:
                found = measure(network, batch, threads, work, turns, versions)
                rows += found
                report(found)
    return rows, versions

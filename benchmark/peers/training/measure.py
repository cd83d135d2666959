"""Trains every network in every way, interleaved: round by round each gets its turn, so that a slow minute of the machine falls on
all of them alike. A figure is the median over rounds of the median step."""

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
"""Those of `networks`, which is not imported: PyTorch is not needed in this process."""
_OF_THE_GRAPH_MB = 6
"""What the runtime takes beside what --trainMemory counts: its code, and what it knows of the graph."""


@dataclass
class Row(Figures):
    """What one way of training does with one network, batch and thread count."""

    network: str
    batch: int
    threads: int
    runtime: str
    losses: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Turns:
    """How often, and how long, each gets its turn."""

    rounds: int
    seconds: float


def prepare(network: str, batch: int, work: Path) -> Path:
    """What is trained, as files in `work` of this path with different suffixes. Raises RuntimeError."""
    path = work / f"{network}_{batch}"
    if not path.with_suffix(".ms").exists():
        _run("-m", f"{__package__}.networks", network, str(batch), str(path))
        _convert(path, path)
    return path


def _prepare_half(path: Path, megabytes: float) -> None:
    """PATH_half.ms, which trains in half of `megabytes`. Raises RuntimeError where that is not possible."""
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
    """All ways of training one network."""
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
                time.sleep(0.02)  # let spinning threads of this one go to sleep before the next one starts
    finally:
        for worker in workers.values():
            worker.close()
    for row in rows.values():
        row.conclude()
    return list(rows.values())


def _why_not_in_half(path: Path, megabytes: float | None) -> str:
    if megabytes is None:
        return f"what {REFERENCE} takes is not known"
    try:
        _prepare_half(path, megabytes)
    except RuntimeError as error:
        return str(error)
    return ""


def _first(request: dict[str, object]) -> None:
    """The process that compiles, which takes memory, too."""
    worker = Worker(f"{__package__}.worker")
    worker.ask({"load": request})
    worker.close()


def agrees(row: Row, rows: list[Row]) -> bool:
    """Whether the losses are those of the reference."""
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
    """Every network with every batch and thread count; the rows, and the versions of what ran."""
    rows: list[Row] = []
    versions: dict[str, str] = {}
    for network in networks:
        for batch in batches:
            for threads in thread_counts:
                found = measure(network, batch, threads, work, turns, versions)
                rows += found
                report(found)
    return rows, versions

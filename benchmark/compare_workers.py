"""`python -m mslite.benchmark.compare_workers net.ms`: compares two workers in one process with two processes of one worker each.

All workers have one thread, and both processes run at the same time. The two variants are measured in turns, so that changes
of the machine's speed affect both. The result is the median over all rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mslite.converter.errors import ExitStatus

MAX_TASKS = 1_000_000

Result = Mapping[str, Any]
"""The JSON output of `benchmark --enableParallelPredict --jsonFile`."""


@dataclass(frozen=True)
class Round:
    """Results of one round. `workers`, `processes`: requests per second of the two variants; `workers_bytes`,
    `processes_bytes`: peak resident memory (shared pages of two processes count twice)."""

    workers: float
    processes: float
    workers_bytes: int
    processes_bytes: int


def throughput(results: Sequence[Result]) -> float:
    """Returns the total requests per second of all clients.

    Only the time in which all clients run is counted, because a single client has the machine for itself. Returns 0 if there
    is no such time.
    """
    streams: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for number, result in enumerate(results):
        requests = result["requests"]
        for client, sent, end in zip(requests["client"], requests["sent_ms"], requests["end_ms"], strict=True):
            begin = result["started"] + sent / 1000
            streams.setdefault((number, client), []).append((begin, result["started"] + end / 1000))
    begin = max(min(one[0] for one in stream) for stream in streams.values())
    end = min(max(one[1] for one in stream) for stream in streams.values())
    if end <= begin:
        return 0.0
    answered = sum(begin < one[1] <= end for stream in streams.values() for one in stream)
    return answered / (end - begin)


def run(program: Path, model: Path, workers: int, processes: int, tasks: int) -> list[Result]:
    """Runs several processes at the same time, each with one client for each worker and `tasks` requests for each client.

    Raises CalledProcessError with the output of the program.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.json" for number in range(processes)]
        flags = [
            f"--modelFile={model}",
            "--enableParallelPredict",
            "--numThreads=1",
            f"--workersNum={workers}",
            f"--parallelNum={workers}",
            f"--parallelTaskNum={tasks}",
        ]
        commands = [[str(program), *flags, f"--jsonFile={file}"] for file in files]
        started = [
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for command in commands
        ]
        said = [process.communicate()[1] for process in started]
        for process, command, text in zip(started, commands, said, strict=True):
            if process.returncode != 0:
                raise subprocess.CalledProcessError(process.returncode, command, stderr=text)
        return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def measure(program: Path, model: Path, tasks: int) -> Round:
    """Measures each variant once."""
    workers = run(program, model, workers=2, processes=1, tasks=tasks)
    processes = run(program, model, workers=1, processes=2, tasks=tasks)
    return Round(
        throughput(workers),
        throughput(processes),
        sum(result["peak_memory_bytes"] for result in workers),
        sum(result["peak_memory_bytes"] for result in processes),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m mslite.benchmark.compare_workers",
        description="Compares two workers in one process with two processes of one worker each; all have one thread.",
    )
    parser.add_argument("model", type=Path, help="a .ms file")
    parser.add_argument("--program", type=Path, default=Path("build/benchmark/benchmark"), help="benchmark")
    parser.add_argument("--rounds", type=int, default=9, help="number of measurements of each variant (9)")
    parser.add_argument("--tasks", type=int, default=200, help="requests of each client in a measurement (200)")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.tasks < 1:
        parser.error("--rounds and --tasks must be at least 1")
    rounds: list[Round] = []
    tasks = options.tasks
    try:
        while len(rounds) < options.rounds:
            found = measure(options.program, options.model, tasks)
            if min(found.workers, found.processes) == 0 and tasks < MAX_TASKS:
                tasks = min(4 * tasks, MAX_TASKS)
                print(f"the clients did not run at the same time; using {tasks} requests for each client", flush=True)
                continue
            rounds.append(found)
            print(
                f"round {len(rounds)}: 2 workers {found.workers:.1f}/s, 2 processes {found.processes:.1f}/s", flush=True
            )
    except subprocess.CalledProcessError as error:
        print(error.stderr.strip(), file=sys.stderr)
        return int(ExitStatus.BAD_INPUT)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}; build it with `make build` or use --program=...", file=sys.stderr)
        return int(ExitStatus.BAD_INPUT)
    if min(min(found.workers, found.processes) for found in rounds) == 0:
        print("the clients do not run at the same time: the machine has too few free processors", file=sys.stderr)
        return int(ExitStatus.BAD_INPUT)
    workers = statistics.median(found.workers for found in rounds)
    processes = statistics.median(found.processes for found in rounds)
    print(f"median: 2 workers {workers:.1f}/s, 2 processes {processes:.1f}/s, ratio {workers / processes:.3f}")
    mebibytes = [max(found.workers_bytes for found in rounds) / (1 << 20)]
    mebibytes.append(max(found.processes_bytes for found in rounds) / (1 << 20))
    print(f"memory: 2 workers {mebibytes[0]:.1f} MiB, 2 processes {mebibytes[1]:.1f} MiB together")
    return 0


if __name__ == "__main__":
    sys.exit(main())

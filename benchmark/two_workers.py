"""`python -m mslite.benchmark.two_workers net.ms`: two workers of one process beside two processes of one worker each.

All have one thread, and both processes run at the same time. The two ways take turns, so that a slow minute of the machine
falls on both; what counts is the median over all rounds.
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

MOST_TASKS = 1_000_000

Result = Mapping[str, Any]
"""What `benchmark --enableParallelPredict --jsonFile` writes."""


@dataclass(frozen=True)
class Round:
    """`workers`, `processes`: requests per second of the two ways; `workers_bytes`, `processes_bytes`: highest resident
    memory, of the processes together (pages of the library and of the file that they share count twice)."""

    workers: float
    processes: float
    workers_bytes: int
    processes_bytes: int


def throughput(results: Sequence[Result]) -> float:
    """Requests per second that all clients of some results have answered together.

    Counted while all of them were at work, since one that is alone has the machine for itself: from the moment at which the
    last one began to that at which the first one was done. 0 where there is no such time.
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
    """Results of some processes at the same time, each with as many clients as workers, and `tasks` requests per client.

    Raises CalledProcessError with what the program said.
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
    """One turn of each way."""
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
        prog="python -m mslite.benchmark.two_workers",
        description="Two workers of one process beside two processes of one worker each; all have one thread.",
    )
    parser.add_argument("model", type=Path, help="a .ms file")
    parser.add_argument("--program", type=Path, default=Path("build/benchmark/benchmark"), help="benchmark")
    parser.add_argument("--rounds", type=int, default=9, help="turns that each way gets (9)")
    parser.add_argument("--tasks", type=int, default=200, help="requests of each client in a turn (200)")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.tasks < 1:
        parser.error("--rounds and --tasks must be at least 1")
    rounds: list[Round] = []
    tasks = options.tasks
    try:
        while len(rounds) < options.rounds:
            found = measure(options.program, options.model, tasks)
            if min(found.workers, found.processes) == 0 and tasks < MOST_TASKS:
                tasks = min(4 * tasks, MOST_TASKS)
                print(f"the clients did not work at the same time; {tasks} requests of each from now on", flush=True)
                continue
            rounds.append(found)
            print(
                f"round {len(rounds)}: 2 workers {found.workers:.1f}/s, 2 processes {found.processes:.1f}/s", flush=True
            )
    except subprocess.CalledProcessError as error:
        print(error.stderr.strip(), file=sys.stderr)
        return int(ExitStatus.BAD_INPUT)
    except OSError as error:
        print(
            f"{error.filename}: {error.strerror}; `make build` makes it, --program=... names another", file=sys.stderr
        )
        return int(ExitStatus.BAD_INPUT)
    if min(min(found.workers, found.processes) for found in rounds) == 0:
        print("the clients do not work at the same time: the machine gives them no processors", file=sys.stderr)
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

"""What a process with one runtime in it does: it answers its parent, who sends a JSON line per command and reads one back:

{"load": {...}}                     -> {"ready", ...} or {"error"}
{"run": {"seconds", "most", ...}}   -> {"times_ms": [...], "cpu_ms": [...]}
{"save": "file.npz"}                -> {"saved": true}
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Runs(Protocol):
    """What is loaded."""

    def run(self) -> list[Any]: ...


def timed(runtime: Runs, seconds: float, most: int, least: int = 3) -> tuple[list[float], list[float]]:
    """Milliseconds of each run: as many as fit into `seconds`, at least `least`, at most `most`; and those of CPU time.

    CPU time is that of all threads of this process: a runtime may compute in another thread than the one that calls it. What other
    programs take of the machine is not in it.
    """
    times: list[float] = []
    cpu_times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or (len(times) < most and time.perf_counter() < end):
        start, cpu_start = time.perf_counter(), time.process_time()
        runtime.run()
        times.append((time.perf_counter() - start) * 1e3)
        cpu_times.append((time.process_time() - cpu_start) * 1e3)
    return times, cpu_times


def serve(load: Callable[[dict[str, Any]], tuple[Runs, dict[str, Any]]]) -> None:
    """Answers the parent's commands until it closes the pipe."""
    # Whatever a runtime prints goes to the error output; the answers go out through the original one.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runtime: Runs | None = None
    for line in sys.stdin:
        command = json.loads(line)
        answer: dict[str, Any]
        try:
            if "load" in command:
                runtime, answer = load(command["load"])
            elif runtime is None:
                answer = {"error": "nothing is loaded"}
            elif "run" in command:
                times, cpu_times = timed(runtime, **command["run"])
                answer = {"times_ms": times, "cpu_ms": cpu_times}
            else:
                np.savez(command["save"], *runtime.run())
                answer = {"saved": True}
        except Exception as error:  # an adapter may fail in any way; the parent reports it
            own = isinstance(error, FileNotFoundError | ImportError | RuntimeError)  # these say enough by themselves
            text = str(error) if own else f"{type(error).__name__}: {error}"
            answer = {"error": text.splitlines()[0][:200]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

"""Command loop of a child process that runs one runtime. Each command and each answer is a line of JSON:

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
    """A loaded model that can run."""

    def run(self) -> list[Any]: ...


def timed(runtime: Runs, seconds: float, most: int, least: int = 3) -> tuple[list[float], list[float]]:
    """Runs the model for `seconds`, at least `least` and at most `most` times. Returns time and CPU time of each run in ms.

    CPU time is that of all threads of this process, because a runtime may compute in other threads than the calling one. It
    does not include the time of other programs.
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
    """Reads commands from stdin and answers them until the parent closes the pipe. `load` handles the command "load"."""
    # What runtimes print to stdout is redirected to stderr, so that the original stdout carries only the answers.
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
                answer = {"error": "no model is loaded"}
            elif "run" in command:
                times, cpu_times = timed(runtime, **command["run"])
                answer = {"times_ms": times, "cpu_ms": cpu_times}
            else:
                np.savez(command["save"], *runtime.run())
                answer = {"saved": True}
        except Exception as error:  # runtimes raise errors of any type; the parent reports the message
            own = isinstance(error, FileNotFoundError | ImportError | RuntimeError)  # their messages need no type name
            text = str(error) if own else f"{type(error).__name__}: {error}"
            answer = {"error": text.splitlines()[0][:200]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

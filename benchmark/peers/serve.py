"""What a process with one runtime in it does: it answers its parent, who sends a JSON line per command and reads one back:

{"load": {...}}                     -> {"ready", ...} or {"error"}
{"run": {"seconds", "most", ...}}   -> {"times_ms": [...]}
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


def timed(runtime: Runs, seconds: float, most: int, least: int = 3) -> list[float]:
    """Milliseconds of each run: as many as fit into `seconds`, at least `least`, at most `most`."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or (len(times) < most and time.perf_counter() < end):
        start = time.perf_counter()
        runtime.run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


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
                answer = {"times_ms": timed(runtime, **command["run"])}
            else:
                np.savez(command["save"], *runtime.run())
                answer = {"saved": True}
        except Exception as error:  # an adapter may fail in any way; the parent reports it
            own = isinstance(error, FileNotFoundError | ImportError | RuntimeError)  # these say enough by themselves
            text = str(error) if own else f"{type(error).__name__}: {error}"
            answer = {"error": text.splitlines()[0][:200]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

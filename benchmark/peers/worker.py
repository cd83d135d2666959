"""One process per runtime, so that thread pools and allocators of one do not disturb another.

The parent sends a JSON line per command and reads one back:
    {"load": {"runtime", "model", "work", "threads", "inputs"}} -> {"ready", "version", "peak_mb"} or {"error"}
    {"run": {"seconds", "most"}}                                 -> {"times_ms": [...]}
    {"save": "file.npz"}                                         -> {"saved": true}
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx  # noqa: F401  some adapters read the model's file with it: not memory of their runtimes

from .resident import PeakBeyond
from .runtimes import RUNTIMES, Runtime


def load(request: dict[str, Any]) -> tuple[Runtime, dict[str, Any]]:
    """Loads the model and runs it once; the answer has the memory that both took, beyond that of the interpreter."""
    kind = RUNTIMES[request["runtime"]]
    with np.load(request["inputs"]) as arrays:
        inputs = {name: arrays[name] for name in arrays.files}
    peak = PeakBeyond()
    runtime = kind(Path(request["model"]), Path(request["work"]), inputs, request["threads"])
    runtime.run()
    return runtime, {"ready": True, "version": kind.version(), "peak_mb": peak.megabytes()}


def timed(runtime: Runtime, seconds: float, most: int) -> list[float]:
    """Milliseconds of each run: as many as fit into `seconds`, at least 3, at most `most`."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or (len(times) < most and time.perf_counter() < end):
        start = time.perf_counter()
        runtime.run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def main() -> None:
    # Whatever a runtime prints goes to the error output; the answers go out through the original one.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runtime: Runtime | None = None
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


if __name__ == "__main__":
    main()

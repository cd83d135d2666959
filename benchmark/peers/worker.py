"""Child process that runs one runtime, so that thread pools and allocators of the runtimes do not affect each other.

The "load" request is {"runtime", "model", "work", "threads", "inputs"}, the answer {"ready", "version", "peak_mb"}.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx  # noqa: F401  loaded first, so that its memory does not count for the runtimes that use it

from .resident import PeakBeyond
from .runtimes import RUNTIMES, Runtime
from .serve import serve


def load(request: dict[str, Any]) -> tuple[Runtime, dict[str, Any]]:
    """Loads the model and runs it once. The peak memory in the answer excludes the interpreter."""
    kind = RUNTIMES[request["runtime"]]
    with np.load(request["inputs"]) as arrays:
        inputs = {name: arrays[name] for name in arrays.files}
    peak = PeakBeyond()
    runtime = kind(Path(request["model"]), Path(request["work"]), inputs, request["threads"])
    runtime.run()
    return runtime, {"ready": True, "version": kind.version(), "peak_mb": peak.megabytes()}


if __name__ == "__main__":
    serve(load)

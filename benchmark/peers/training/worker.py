"""Child process that trains with one library. It answers the commands of `..serve`.

The answer to "load" has the version, the peak memory and the losses of the first steps.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..resident import PeakBeyond
from ..serve import serve
from .runtimes import TRAINERS, Trainer

FIRST_STEPS = 3


def load(request: dict[str, Any]) -> tuple[Trainer, dict[str, Any]]:
    """Builds the network and runs the first training steps.

    The peak memory in the answer excludes the interpreter, the library and the data.
    """
    kind = TRAINERS[request["runtime"]]
    importlib.import_module(kind.library)
    kind.settle()
    with np.load(f"{request['path']}.npz") as arrays:
        data = arrays["x"], arrays["labels"]
    peak = PeakBeyond()
    trainer = kind(request, data)
    losses = [trainer.run()[0] for _ in range(FIRST_STEPS)]
    return trainer, {"ready": True, "version": kind.version(), "peak_mb": peak.megabytes(), "losses": losses}


if __name__ == "__main__":
    serve(load)

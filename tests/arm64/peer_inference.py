"""Runs one inference of another runtime between the marks of marks.h, after a warm-up run, on the emulated machine.

    python peer_inference.py RUNTIME MODEL.onnx WORK INPUTS.npz PRECISION MARKS.so OUTPUT.npy

It only needs Python's library, numpy and the adapters of benchmark/peers. Prints the runtime's version and writes the first output to
OUTPUT.npy.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path

import numpy as np
from peers.runtimes import RUNTIMES


def main() -> int:
    name, model, work, inputs, precision, marks, output = sys.argv[1:]
    with np.load(inputs) as arrays:
        given = {key: arrays[key] for key in arrays.files}
    library = ctypes.CDLL(marks)
    try:
        runtime = RUNTIMES[name](Path(model), Path(work), given, 1, precision)
        runtime.run()
        gc.disable()
        library.mslite_mark_begin()
        found = runtime.run()
        library.mslite_mark_end()
    except Exception as error:  # runtimes raise exceptions of any type; the caller adds the name of the runtime
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    np.save(output, found[0])
    print(runtime.version())
    return 0


if __name__ == "__main__":
    sys.exit(main())

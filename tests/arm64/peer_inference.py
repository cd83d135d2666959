"""One inference of another runtime between the two marks of marks.h, after one that warms up; runs on the emulated machine.

    python peer_inference.py RUNTIME MODEL.onnx WORK INPUTS.npz PRECISION MARKS.so OUTPUT.npy

Only Python's library, numpy and the adapters of benchmark/peers are there. Prints the runtime's version; OUTPUT.npy gets
the first output.
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
    except Exception as error:  # an adapter may fail in any way; whoever reads the message knows the runtime's name
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    np.save(output, found[0])
    print(runtime.version())
    return 0


if __name__ == "__main__":
    sys.exit(main())

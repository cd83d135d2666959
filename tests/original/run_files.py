"""Runs under CPython 3.7 with the wheel mindspore-lite 2.0.0, without mslite: runs each `NAME.ms` of a folder.

    python3.7 run_files.py FOLDER

The inputs are `i0`, ... in `NAME.npz`. Each file runs in a separate process, because the original may crash or hang. Writes
`NAME.original.npz` (`o0`, ...), and prints a line `NAME<tab>RESULT` for each.
"""

from __future__ import annotations

import os
import signal
import sys

import mindspore_lite
import numpy as np

SECONDS = 120


def arrays(path, kind):
    with np.load(path) as stored:
        return [stored[f"{kind}{i}"] for i in range(sum(name[0] == kind for name in stored.files))]


def run(stem):
    """Returns the error, "" if the model ran."""
    context = mindspore_lite.Context()
    context.target = ["cpu"]
    context.cpu.thread_num = 1
    model = mindspore_lite.Model()
    try:
        model.build_from_file(stem + ".ms", mindspore_lite.ModelType.MINDIR_LITE, context)
    except RuntimeError:
        return "not built"
    tensors = model.get_inputs()
    given = [np.ascontiguousarray(array) for array in arrays(stem + ".npz", "i")]
    try:
        if [list(tensor.shape) for tensor in tensors] != [list(array.shape) for array in given]:
            model.resize(tensors, [list(array.shape) for array in given])
            tensors = model.get_inputs()
        for i, tensor in enumerate(tensors):
            tensor.set_data_from_numpy(given[i])
        results = [tensor.get_data_to_numpy() for tensor in model.predict(tensors)]
    except RuntimeError as error:
        return "not run: " + " ".join(str(error).split())[:200]
    np.savez(stem + ".original.npz", **{f"o{i}": array for i, array in enumerate(results)})
    return ""


def run_apart(stem):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        log = os.open(stem + ".log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.write(writer, (run(stem) or "ran").encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return text or f"ended by signal {status & 127}"


def main(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".ms"):
            stem = os.path.join(folder, name[: -len(".ms")])
            print(f"{os.path.basename(stem)}\t{run_apart(stem)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

"""Runs under CPython 3.7 with the wheel mindspore-lite 2.0.0, without mslite: converts and runs each `NAME.onnx` of a folder.

    python3.7 worker.py FOLDER

The inputs are in `NAME.npz`. Each file runs in a separate process, because the original may crash or hang. Writes `NAME.ms` and
`NAME.original.npz` (inputs `i0`, ..., outputs `o0`, ...), and prints a line `NAME<tab>RESULT` for each.
"""

from __future__ import annotations

import os
import signal
import sys

import mindspore_lite
import numpy as np

SECONDS = 20


def arrays(path, kind):
    with np.load(path) as stored:
        return [stored[f"{kind}{i}"] for i in range(sum(name[0] == kind for name in stored.files))]


def arranged(array, shape):
    """Returns the array in the layout of the model; None if no layout fits."""
    if array.ndim == 4 and shape == [array.shape[axis] for axis in (0, 2, 3, 1)]:
        return np.ascontiguousarray(array.transpose(0, 2, 3, 1))
    return np.ascontiguousarray(array) if shape == list(array.shape) else None


def run(stem):
    """Returns the error, "" if the model ran."""
    converter = mindspore_lite.Converter()
    converter.save_type = mindspore_lite.ModelType.MINDIR_LITE
    try:
        converter.convert(mindspore_lite.FmkType.ONNX, stem + ".onnx", stem)
    except RuntimeError:
        return "not converted"
    context = mindspore_lite.Context()
    context.target = ["cpu"]
    context.cpu.thread_num = 1
    model = mindspore_lite.Model()
    try:
        model.build_from_file(stem + ".ms", mindspore_lite.ModelType.MINDIR_LITE, context)
    except RuntimeError:
        return "not built"
    tensors = model.get_inputs()
    arrays_given = arrays(stem + ".npz", "i")
    if len(arrays_given) != len(tensors):
        return "other inputs"
    given = [arranged(arrays_given[i], list(tensor.shape)) for i, tensor in enumerate(tensors)]
    if any(array is None for array in given):
        return "other inputs"
    kept = [array.copy() for array in given]  # its kernels may overwrite their inputs
    try:
        for i, tensor in enumerate(tensors):
            tensor.set_data_from_numpy(given[i])
        results = [tensor.get_data_to_numpy() for tensor in model.predict(tensors)]
    except RuntimeError:
        return "not run"
    named = {f"i{i}": array for i, array in enumerate(kept)}
    named.update({f"o{i}": array for i, array in enumerate(results)})
    np.savez(stem + ".original.npz", **named)
    return ""


def run_apart(stem):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os.write(writer, (run(stem) or "ran").encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return text or (f"ended by signal {status & 127}")


def main(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".onnx"):
            stem = os.path.join(folder, name[: -len(".onnx")])
            print(f"{os.path.basename(stem)}\t{run_apart(stem)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

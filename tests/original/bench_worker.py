"""Runs one model with one library, mindspore_lite (under CPython 3.7) or mslite; their classes have the same names.

    python bench_worker.py mindspore_lite|mslite MODEL.ms INPUTS.npz THREADS

Loads the model, runs it once, and then a few times for each line of its input. Prints a line of JSON each time.
"""

from __future__ import annotations

import importlib
import json
import re
import statistics
import sys
import time

import numpy as np

RUNS = 5


def megabytes(name):
    with open("/proc/self/status") as status:
        return int(re.search(name + r":\s+(\d+) kB", status.read()).group(1)) / 1024


def main(library, path, inputs, threads):
    lite = importlib.import_module(library)
    with np.load(inputs) as given:
        arrays = [given[f"i{i}"] for i in range(len(given.files))]
    if library == "mindspore_lite":  # files of the original have int32 instead of int64
        arrays = [array.astype(np.int32) if array.dtype == np.int64 else array for array in arrays]
    context = lite.Context()
    context.target = ["cpu"]
    context.cpu.thread_num = int(threads)
    before = megabytes("VmRSS")
    start = time.perf_counter()
    model = lite.Model()
    model.build_from_file(path, lite.ModelType.MINDIR_LITE, context)
    load = time.perf_counter() - start
    tensors = model.get_inputs()

    def run():
        begin = time.perf_counter()
        for i, tensor in enumerate(tensors):
            tensor.set_data_from_numpy(arrays[i])
        results = [tensor.get_data_to_numpy() for tensor in model.predict(tensors)]
        return 1000 * (time.perf_counter() - begin), results

    first, _ = run()
    memory = megabytes("VmHWM") - before
    print(json.dumps({"load_ms": 1000 * load, "first_ms": first, "megabytes": memory}), flush=True)
    for _ in sys.stdin:
        print(json.dumps({"median_ms": statistics.median(run()[0] for _ in range(RUNS))}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

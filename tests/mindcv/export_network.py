"""Runs with MindSpore 2.10 and mindcv 0.3, without mslite: exports a network of mindcv.

    python export_network.py FOLDER NAME SIZE

Writes `FOLDER/NAME.mindir`, and `FOLDER/NAME.npz` with an input `x` and the outputs `y0`, ....
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import mindcv
import mindspore as ms
import numpy as np


def varied(name, array, rng):
    """Sets statistics and biases that differ from those of a new network, so that a wrong order changes the result."""
    if name.endswith("moving_variance") or (name.endswith("gamma") and array.any()):
        return rng.uniform(0.7, 1.4, array.shape)
    if array.ndim <= 1 or not array.any():
        return array + rng.normal(0, 0.1, array.shape)
    return array


def main(folder, name, size):
    os.chdir(folder)  # MindSpore writes files for failed compilations into the current folder
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(0)
    network = mindcv.create_model(name, pretrained=False)
    network.set_train(False)
    rng = np.random.default_rng(0)
    for parameter in network.get_parameters():
        array = parameter.asnumpy()
        if array.dtype == np.float32:
            parameter.set_data(ms.Tensor(varied(parameter.name, array, rng).astype(np.float32)))
    x = rng.normal(0, 1, (1, 3, size, size)).astype(np.float32)
    results = network(ms.Tensor(x))
    results = results if isinstance(results, tuple | list) else (results,)
    ms.export(network, ms.Tensor(x), file_name=name, file_format="MINDIR")
    np.savez(f"{name}.npz", x=x, **{f"y{i}": result.asnumpy() for i, result in enumerate(results)})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

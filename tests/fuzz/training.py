"""Fuzzes training files: built, trained, exported and built again in `run_training`, with sanitizers.

    python -m tests.fuzz.training --seconds 1200 [--first 0]

The build folder is MSLITE_SANITIZE_BUILD, or MSLITE_BUILD. Prints the count of each exit code and the problems; equal numbers give equal
files in every run.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model

from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.training import Loss, Optimizer, TrainSettings
from mslite.converter.training.settings import BatchNorm, Lora, Schedule

from . import mutate_training
from .mutate import RAW
from .sanitized import Runs, run_campaign, run_files, run_until, runtime_program

BATCH = 400
SECONDS = 15
"""Time limit for one file, which is trained in four ways."""


def save(path: Path, nodes: list[object], x: list[int], y: list[int], weights: dict[str, list[int]]) -> Path:
    draw = np.random.default_rng(5)
    constants = [
        numpy_helper.from_array(np.abs(draw.standard_normal(shape)).astype(np.float32), name)
        for name, shape in weights.items()
    ]
    kind = TensorProto.INT64 if len(x) == 2 and "table" in weights else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "graph", [helper.make_tensor_value_info("x", kind, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)], constants,
    )  # fmt: skip
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def _network(path: Path) -> Path:
    """A convolution, batch normalization, pooling and a fully connected layer."""
    nodes = [
        helper.make_node("Conv", ["x", "kernel"], ["a"], "conv", kernel_shape=[3, 3]),
        helper.make_node("BatchNormalization", ["a", "scale", "offset", "mean", "variance"], ["b"], "norm"),
        helper.make_node("Relu", ["b"], ["c"], "relu"),
        helper.make_node("MaxPool", ["c"], ["d"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["d"], ["e"], "flat"),
        helper.make_node("Gemm", ["e", "weight", "bias"], ["y"], "head"),
    ]
    channels = {name: [2] for name in ("scale", "offset", "mean", "variance")}
    shapes = {"kernel": [2, 1, 3, 3], **channels, "weight": [8, 3], "bias": [3]}
    return save(path, list(nodes), [2, 1, 6, 6], [2, 3], shapes)


def _words(path: Path) -> Path:
    """Embedding rows, their mean, and a fully connected layer."""
    nodes = [
        helper.make_node("Gather", ["table", "x"], ["a"], "embedding"),
        helper.make_node("ReduceMean", ["a"], ["b"], "mean", axes=[1], keepdims=0),
        helper.make_node("Gemm", ["b", "weight"], ["y"], "head"),
    ]
    return save(path, list(nodes), [2, 3], [2, 3], {"table": [7, 4], "weight": [4, 3]})


def products(path: Path) -> Path:
    """Two layers, for adapters."""
    nodes = [
        helper.make_node("MatMul", ["x", "first"], ["a"], "up"),
        helper.make_node("Tanh", ["a"], ["b"], "tanh"),
        helper.make_node("MatMul", ["b", "second"], ["y"], "down"),
    ]
    return save(path, list(nodes), [2, 4], [2, 3], {"first": [4, 5], "second": [5, 3]})


def seeds() -> list[bytes]:
    """Returns valid training files with each optimizer, each kind of layer and each training option."""
    made = [
        (_network, TrainSettings(Loss.SPARSE_SOFTMAX, Optimizer.ADAM, batch_norm=BatchNorm.TRAIN)),
        (_network, TrainSettings(Loss.SPARSE_SOFTMAX, Optimizer.SGD, clip_norm=1.0)),
        (_network, TrainSettings(Loss.SPARSE_SOFTMAX, Optimizer.MOMENTUM, memory=44000, batch_norm=BatchNorm.TRAIN)),
        (_words, TrainSettings(Loss.SPARSE_SOFTMAX, Optimizer.SGD, momentum=0.0, sparse_embeddings=True)),
        (_words, TrainSettings(Loss.SPARSE_SOFTMAX, Optimizer.ADAMW, weight_decay=0.1)),
        (products, TrainSettings(Loss.SQUARED, Optimizer.ADAM, lora=Lora(rank=2, alpha=2.0))),
        (products, TrainSettings(Loss.SQUARED, Optimizer.NESTEROV, schedule=Schedule.COSINE, decay_steps=9)),
        (products, TrainSettings(Loss.SQUARED, Optimizer.RMSPROP)),
    ]
    files = []
    with tempfile.TemporaryDirectory() as name:
        for number, (write, settings) in enumerate(made):
            source = write(Path(name) / f"{number}.onnx")
            files.append(convert(Options(source, source.with_suffix(""), training=settings)).files[0].read_bytes())
    return files


def training_program() -> Path:
    """Returns `run_training` of the build in the environment variable; skips the test without it."""
    return runtime_program().with_name("run_training")


def variant(good: list[bytes], number: int) -> bytes:
    """Returns malformed file `number`: one of the seeds with raw changes (one in eight) or structured ones."""
    rng = random.Random(f"training-{number}")
    data = rng.choice(good)
    if rng.randrange(8) > 0:
        try:
            return mutate_training.mutate(data, rng)
        except Exception:  # the structured change cannot be written; uses a raw change instead
            pass
    return rng.choice(RAW)(data, rng)


def run(good: list[bytes], first: int, count: int, folder: Path) -> Runs:
    """Runs `count` malformed files from number `first` on."""
    files = []
    for number in range(first, first + count):
        files.append(folder / f"{number:06}.ms")
        files[-1].write_bytes(variant(good, number))
    return run_files(training_program(), files, seconds=SECONDS)


def campaign(seconds: float, first: int = 0) -> tuple[Runs, int]:
    """Runs malformed files until the time is over. Returns the results and the next number."""
    good = seeds()
    return run_until(seconds, lambda number, folder: run(good, number, BATCH, folder), first, BATCH)


if __name__ == "__main__":
    sys.exit(run_campaign("Training files under hostile changes.", campaign))

"""Fuzzes adapter files: loaded into valid models, run, resized and unloaded in `run_adapter`, with sanitizers.

    python -m tests.fuzz.adapters --seconds 1200 [--first 0]

Build folder, output and file numbers are as in `training.py`.
"""

from __future__ import annotations

import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import helper

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.training import Loss, TrainSettings
from mslite.converter.training.settings import Lora
from mslite.quantizer.settings import CommonQuantParam, Method, QuantizerSettings

from . import mutate_adapter
from .mutate import RAW
from .sanitized import Runs, run_campaign, run_files, run_until, runtime_program
from .training import products, save

BATCH = 400


@dataclass(frozen=True)
class Seed:
    """A model for inference, and an adapter for it."""

    name: str
    model: bytes
    adapter: bytes


def _layers(path: Path) -> Path:
    """A layer with bias and activation, a weight that two matmuls share, and an output layer."""
    nodes = [
        helper.make_node("Gemm", ["x", "first", "bias"], ["a"], "layer"),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("MatMul", ["b", "shared"], ["c"], "one"),
        helper.make_node("Tanh", ["c"], ["d"], "tanh"),
        helper.make_node("MatMul", ["d", "shared"], ["e"], "two"),
        helper.make_node("Gemm", ["e", "head", "head_bias"], ["y"], "last"),
    ]
    shapes = {"first": [4, 5], "bias": [5], "shared": [5, 5], "head": [5, 3], "head_bias": [3]}
    return save(path, list(nodes), [2, 4], [2, 3], shapes)


def _adapter(source: Path, lora: Lora) -> bytes:
    """Returns an adapter after three training steps of the source model."""
    settings = TrainSettings(Loss.SQUARED, learning_rate=0.1, lora=lora)
    trained = convert(Options(source, source.with_suffix(".training"), training=settings)).files[0]
    model = mslite.Model()
    model.build_from_file(trained, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    draw = np.random.default_rng(7)
    for _ in range(3):
        model.run_step([draw.standard_normal(tensor.shape).astype(np.float32) for tensor in model.get_inputs()])
    model.export_adapter(source.with_suffix(".ms"))
    return source.with_suffix(".ms").read_bytes()


def seeds() -> list[Seed]:
    """Returns models with each kind of matmul and weights, with trained adapters."""
    small = QuantizerSettings(common=CommonQuantParam(quant_type=Method.WEIGHT_QUANT, min_quant_weight_size=0))
    made = [
        ("products", products, Lora(rank=2, alpha=2.0), QuantizerSettings(), False),
        ("layers", _layers, Lora(rank=3, trained=frozenset({"head"})), QuantizerSettings(), False),
        ("quantized", _layers, Lora(rank=2), small, False),
        ("half", products, Lora(rank=1), QuantizerSettings(), True),
    ]
    result = []
    with tempfile.TemporaryDirectory() as folder:
        for name, write, lora, quantizer, is_half in made:
            source = write(Path(folder) / f"{name}.onnx")
            options = Options(source, source.with_suffix(".base"), float16_weights=is_half, quantizer=quantizer)
            result.append(Seed(name, convert(options).files[0].read_bytes(), _adapter(source, lora)))
    return result


def adapter_program() -> Path:
    """Returns `run_adapter` of the build in the environment variable; skips the test without it."""
    return runtime_program().with_name("run_adapter")


def variant(good: list[Seed], number: int) -> tuple[str, bytes]:
    """Returns malformed adapter `number`, and the name of the seed for its model."""
    rng = random.Random(f"adapter-{number}")
    seed = rng.choice(good)
    if rng.randrange(8) > 0:
        try:
            return seed.name, mutate_adapter.mutate(seed.adapter, seed.model, rng)
        except Exception:  # the structured change cannot be written; uses a raw change instead
            pass
    return seed.name, rng.choice(RAW)(seed.adapter, rng)


def run(good: list[Seed], first: int, count: int, folder: Path) -> Runs:
    """Runs `count` malformed adapters from number `first` on."""
    files = []
    for seed in good:
        (folder / f"{seed.name}.model").write_bytes(seed.model)
        (folder / f"{seed.name}.sound").write_bytes(seed.adapter)
    for number in range(first, first + count):
        name, content = variant(good, number)
        files.append(folder / f"{name}-{number:06}.ms")
        files[-1].write_bytes(content)
    return run_files(adapter_program(), files)


def campaign(seconds: float, first: int = 0) -> tuple[Runs, int]:
    """Runs malformed adapters until the time is over. Returns the results and the next number."""
    good = seeds()
    return run_until(seconds, lambda number, folder: run(good, number, BATCH, folder), first, BATCH)


if __name__ == "__main__":
    sys.exit(run_campaign("Adapters under hostile changes.", campaign))

"""Models for tests of `--trainModel`, and functions that train them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.training import Optimizer, TrainSettings
from tests.codegen.training_reference import (
    Array,
    Layer,
)

BATCH, STEPS = 16, 20
RATES = dict.fromkeys(Optimizer, 0.003) | {Optimizer.SGD: 0.2, Optimizer.MOMENTUM: 0.05, Optimizer.NESTEROV: 0.05}


def digits() -> tuple[Array, Array]:
    images, labels = load_digits(return_X_y=True)
    return images[: BATCH * STEPS].reshape(-1, 8, 8, 1) / 16, labels[: BATCH * STEPS]


def converted(model: Path, settings: TrainSettings) -> Path:
    return convert(Options(model, model.with_name("trains"), training=settings)).files[0]


def built(file: Path) -> mslite.Model:
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    return model


def losses_of(model: mslite.Model, x: Array, labels: Array, steps: int = STEPS) -> list[float]:
    types = (np.float32, np.int32 if labels.ndim == 1 else np.float32)
    found = []
    for step in range(steps):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        inputs = [np.ascontiguousarray(all_rows[rows], kind) for all_rows, kind in zip((x, labels), types, strict=True)]
        (loss,) = model.run_step(inputs)
        found.append(float(loss.get_data_to_numpy().item()))
    return found


def weights_of(model: mslite.Model) -> dict[str, Array]:
    return {one.name: np.asarray(one.get_data_to_numpy(), np.float64) for one in model.get_trainable_params()}


def assert_weights(model: mslite.Model, layers: list[Layer], tolerance: float) -> None:
    """Asserts that the weights equal the reference's, up to the row order of matmul weights after flattened NHWC images."""
    wanted = [weight for layer in layers for weight in layer.weights]
    found = list(weights_of(model).values())
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.size == theirs.size
        apart = np.abs(np.sort(ours, axis=None) - np.sort(theirs, axis=None)).max()
        assert apart <= tolerance * np.abs(theirs).max()

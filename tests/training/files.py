"""Training files of MindSpore, and models built from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.module_io import to_meta
from mslite.converter.mindir.ms_writer import ms_bytes
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.training import SmoothL1Loss

Array = npt.NDArray[Any]

_MODELS = Path(__file__).resolve().parents[3] / "shared" / "models" / "mindspore_ms"
ONE_LAYER = _MODELS / "conv_train_model" / "model.ms"
"""A bias, a convolution, softmax cross entropy; Momentum."""
LENET = _MODELS / "lenet_train_lite" / "model.ms"
"""LeNet-5 and mean absolute error; Adam."""

needs_models = pytest.mark.skipif(not _MODELS.is_dir(), reason="the shared models are not here")


def build(path: Path, train: bool = True, config: mslite.TrainCfg | None = None) -> mslite.Model:
    """Returns a model built for training, with the given train mode."""
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR, train_cfg=config or mslite.TrainCfg())
    model.set_train_mode(train)
    return model


def loss_model() -> bytes:
    """Returns an inference model that computes a loss: `prediction` and `target` [2, 3] to `loss` of the same shape."""
    values = [Value(name, DataType.FLOAT32, (2, 3)) for name in ("prediction", "target", "loss")]
    *inputs, output = values
    huber = Node(SmoothL1Loss(beta=1.0), "huber", tuple(inputs), (output,))
    return ms_bytes(to_meta(Module([Graph("main", inputs, [output], [huber])])))


def batch(model: mslite.Model, seed: int = 0) -> list[Array]:
    """Returns data for a first input, and one-hot labels for a second one."""
    random = np.random.default_rng(seed)
    x, labels = (tensor.shape for tensor in model.get_inputs())
    classes = random.integers(0, labels[1], labels[0])
    return [random.standard_normal(x).astype(np.float32), np.eye(labels[1], dtype=np.float32)[classes]]


def arrays(tensors: list[mslite.Tensor]) -> dict[str, Array]:
    """Returns tensor name -> data."""
    return {tensor.name: tensor.get_data_to_numpy() for tensor in tensors}


def step(model: mslite.Model, inputs: list[Array]) -> tuple[float, dict[str, Array], dict[str, Array]]:
    """Runs one step. Returns the loss, and weight name -> its gradient and its new value."""
    (loss,) = model.run_step(inputs)
    weights = model.get_trainable_params()
    gradients = model.get_gradients()
    by_weight = {w.name: g.get_data_to_numpy() for w, g in zip(weights, gradients, strict=True)}
    return float(loss.get_data_to_numpy().item()), by_weight, arrays(weights)


def assert_close(found: Array, expected: Array, tolerance: float = 1e-6) -> None:
    """Asserts differences within `tolerance` of the largest magnitude of `expected`."""
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()

"""From an inference model to one that has learned more: the digits of examples/, by the commands of README.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter import cli

from .files import Array, build

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits"
ROWS = 32


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The training file of a network that knows nothing: its weights are random."""
    path = tmp_path_factory.mktemp("digits") / "digits_train.ms"
    flags = [f"--modelFile={EXAMPLE / 'digits.onnx'}", f"--outputFile={path}", "--trainModel=true"]
    assert cli.main([*flags, f"--inputShape=image:{ROWS},1,8,8", f"--configFile={EXAMPLE / 'train.cfg'}"]) == 0
    model = build(path)
    random = np.random.default_rng(1)
    fresh = [
        mslite.Tensor.from_numpy(random.standard_normal(weight.shape).astype(np.float32) * 0.1, weight.name)
        for weight in model.get_trainable_params()
    ]
    model.update_feature_maps(fresh)
    model.export_model(path, export_inference_only=False)
    return path


def digits() -> tuple[Array, Array]:
    """Images [N, 8, 8, 1] and labels [N]."""
    data = np.load(EXAMPLE / "digits_test.npz")
    return data["images"].reshape(-1, 8, 8, 1).astype(np.float32), data["labels"].astype(np.int32)


def accuracy(model: mslite.Model, images: Array, labels: Array) -> float:
    """Of whole batches; the model evaluates from then on."""
    model.set_train_mode(False)
    right = 0
    for begin in range(0, len(images), ROWS):
        (scores,) = model.predict([images[begin : begin + ROWS], labels[begin : begin + ROWS]])
        right += int((scores.get_data_to_numpy().argmax(axis=1) == labels[begin : begin + ROWS]).sum())
    return right / len(images)


def test_learns(file: Path) -> None:
    """From guesses to nine of ten digits that it has not seen; evaluation needs more memory here than a step."""
    images, labels = digits()
    train, test = slice(0, 7 * ROWS), slice(7 * ROWS, 11 * ROWS)
    assert accuracy(build(file), images[test], labels[test]) < 0.4
    model = build(file)
    for _ in range(60):
        for begin in range(0, train.stop, ROWS):
            model.run_step([images[begin : begin + ROWS], labels[begin : begin + ROWS]])
    assert accuracy(model, images[test], labels[test]) > 0.9

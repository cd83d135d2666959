"""From an inference model to one that has learned more: the digits of examples/, by the commands of README.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.utils
import pytest

import mslite
from mslite.converter import cli

from .files import Array, build

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits"
ROWS = 8  # as the files of the calibration hold


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
    train, test = slice(0, 28 * ROWS), slice(28 * ROWS, 44 * ROWS)
    assert accuracy(build(file), images[test], labels[test]) < 0.4
    model = build(file)
    for _ in range(30):
        for begin in range(0, train.stop, ROWS):
            model.run_step([images[begin : begin + ROWS], labels[begin : begin + ROWS]])
    assert accuracy(model, images[test], labels[test]) > 0.9


def test_behind_an_int8_backbone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Transfer learning: the convolutions are int8 and stay so; the layer behind them begins with nothing and learns."""
    monkeypatch.chdir(EXAMPLE.parents[1])  # the paths of int8.cfg
    onnx.utils.extract_model(str(EXAMPLE / "digits.onnx"), str(tmp_path / "backbone.onnx"), ["image"], ["p2"])
    flags = [f"--modelFile={tmp_path / 'backbone.onnx'}", f"--outputFile={tmp_path / 'backbone'}"]
    assert cli.main([*flags, f"--inputShape=image:{ROWS},1,8,8", f"--configFile={EXAMPLE / 'int8.cfg'}"]) == 0
    images, labels = digits()
    backbone = mslite.Model()
    backbone.build_from_file(tmp_path / "backbone.ms", mslite.ModelType.MINDIR)
    (features,) = backbone.predict([images[:ROWS]])
    weight = np.zeros((int(np.prod(features.shape[1:])), 10), np.float32)
    shape = list(features.shape)
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Flatten", ["features"], ["flat"], "flatten"),
            onnx.helper.make_node("Gemm", ["flat", "weight", "bias"], ["scores"], "dense"),
        ],
        "head",
        [onnx.helper.make_tensor_value_info("features", onnx.TensorProto.FLOAT, shape)],
        [onnx.helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, [ROWS, 10])],
        [onnx.numpy_helper.from_array(weight, "weight"), onnx.numpy_helper.from_array(weight[0], "bias")],
    )
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]), tmp_path / "head.onnx")
    flags = [f"--modelFile={tmp_path / 'head.onnx'}", f"--outputFile={tmp_path / 'head'}", "--trainModel=true"]
    assert cli.main([*flags, f"--configFile={EXAMPLE / 'train.cfg'}"]) == 0

    model = mslite.Model()
    model.build_transfer_learning(tmp_path / "backbone.ms", tmp_path / "head.ms", mslite.ModelType.MINDIR)
    assert [tensor.name for tensor in model.get_inputs()] == ["image", "label"]
    assert len(model.get_trainable_params()) == 2
    model.set_learning_rate(0.01)
    model.set_train_mode(True)
    train, test = slice(0, 28 * ROWS), slice(28 * ROWS, 44 * ROWS)
    for _ in range(20):
        for begin in range(0, train.stop, ROWS):
            model.run_step([images[begin : begin + ROWS], labels[begin : begin + ROWS]])
    assert accuracy(model, images[test], labels[test]) > 0.9

    # The export holds both, the backbone still in integers; and so does the training file that goes on.
    model.export_model(tmp_path / "whole.ms")
    whole = mslite.Model()
    whole.build_from_file(tmp_path / "whole.ms", mslite.ModelType.MINDIR)
    (found,) = whole.predict([images[:ROWS]])
    (expected,) = model.predict([images[:ROWS], labels[:ROWS]])
    np.testing.assert_allclose(found.get_data_to_numpy(), expected.get_data_to_numpy(), rtol=1e-5, atol=1e-5)
    model.export_model(tmp_path / "goes_on.ms", export_inference_only=False)
    other = build(tmp_path / "goes_on.ms")
    model.set_train_mode(True)
    for learner in (model, other):
        learner.run_step([images[:ROWS], labels[:ROWS]])
    for left, right in zip(model.get_trainable_params(), other.get_trainable_params(), strict=True):
        np.testing.assert_array_equal(left.get_data_to_numpy(), right.get_data_to_numpy())

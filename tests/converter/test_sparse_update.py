"""Sparse updates: [sparse_update] names layers, of which some channels or the bias are trained and everything else stays."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.cli import main
from mslite.converter.mindir.graph import Graph
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.training import LayerUpdate, TrainSettings, store_in_place, training_graph

from ..codegen.training_reference import Array, Trainer, lenet, sparse_cross_entropy

ROOT = Path(__file__).parents[2]
BATCH, STEPS, RATE = 4, 8, 0.1


def _config(folder: Path, text: str) -> Path:
    path = folder / "sparse.cfg"
    path.write_text(text)
    return path


def _converted(folder: Path, update: str, train: str = f"learning_rate={RATE}") -> Path:
    """The training file of the LeNet in the folder."""
    config = _config(folder, f"[train_param]\n{train}\n[sparse_update]\n{update}\n")
    flags = ["--fmk=ONNX", "--trainModel=true", f"--configFile={config}"]
    assert main([f"--modelFile={folder / 'lenet.onnx'}", f"--outputFile={folder / 'sparse'}", *flags]) == 0
    return folder / "sparse.ms"


def _trained(file: Path, x: Array, labels: Array, steps: int) -> tuple[list[float], mslite.Model]:
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    given = [x.astype(np.float32), labels.astype(np.int32)]
    return [float(model.run_step(given)[0].get_data_to_numpy()[0]) for _ in range(steps)], model


def _digits() -> tuple[Array, Array]:
    chance = np.random.default_rng(5)
    return chance.uniform(0, 1, (BATCH, 8, 8, 1)), chance.integers(0, 10, BATCH)


def test_channels_and_biases_as_in_numpy(tmp_path: Path) -> None:
    layers = lenet(tmp_path / "lenet.onnx", BATCH)
    x, labels = _digits()
    file = _converted(tmp_path, "conv2=weights:1/2,bias\ndense1=weights:8\ndense2=weights,bias")
    losses, _ = _trained(file, x, labels, STEPS)
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", RATE)
    convolution, dense, last = layers[3], layers[6], layers[8]
    expected = []
    for _ in range(STEPS):
        expected.append(trainer.gradients(x.astype(np.float32).astype(np.float64), labels))
        convolution.weights[0][..., :3] -= RATE * convolution.gradients[0][..., :3]
        convolution.weights[1] -= RATE * convolution.gradients[1]
        dense.weights[0][:, :8] -= RATE * dense.gradients[0][:, :8]
        for weight, gradient in zip(last.weights, last.gradients, strict=True):
            weight -= RATE * gradient
    assert np.abs(np.array(losses) - expected).max() < 1e-5 * max(expected)
    assert losses[-1] < losses[0]


def _results(graph: Graph, prefix: str) -> dict[str, tuple[int, ...]]:
    return {node.name: node.outputs[0].shape or () for node in graph.nodes if node.name.startswith(prefix)}


def test_only_what_is_chosen_is_computed(tmp_path: Path) -> None:
    lenet(tmp_path / "lenet.onnx", BATCH)
    graph = load(_converted(tmp_path, "conv2=weights:2\ndense1=bias")).main
    gradients = _results(graph, "Gradients/")
    # Two of six channels of conv2, no weights of the dense layers, nothing in front of conv2.
    assert gradients["Gradients/conv2/weight"] == (8, 3, 3, 2)
    assert not {name for name in gradients if "conv1" in name or "pool1" in name or "/b" in name[-2:]}
    assert "Gradients/conv2/x" not in gradients
    (weight,) = (node for node in graph.nodes if node.name == "Gradients/conv2/weight")
    assert weight.inputs[1].shape == (BATCH, 4, 4, 2)
    steps = [node for node in graph.nodes if node.op.name == "SGD"]
    assert sorted(node.inputs[0].name for node in steps) == ["c2/channel_last/trained", "e1"]


def test_evaluation_and_export_have_whole_weights(tmp_path: Path) -> None:
    lenet(tmp_path / "lenet.onnx", BATCH)
    x, labels = _digits()
    _, model = _trained(_converted(tmp_path, "conv2=weights:1/2,bias\ndense2=bias"), x, labels, 3)
    model.set_train_mode(False)
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(x.astype(np.float32))
    ours = model.predict(inputs)[0].get_data_to_numpy()
    model.export_model(str(tmp_path / "trained.ms"))
    exported = mslite.Model()
    exported.build_from_file(str(tmp_path / "trained.ms"), mslite.ModelType.MINDIR_LITE, mslite.Context())
    inputs = exported.get_inputs()
    inputs[0].set_data_from_numpy(x.astype(np.float32))
    np.testing.assert_array_equal(exported.predict(inputs)[0].get_data_to_numpy(), ours)


def _quantized(folder: Path) -> Path:
    """The digits of examples/ in 8-bit integers."""
    config = ROOT / "examples/digits/int8.cfg"
    flags = ["--fmk=ONNX", f"--configFile={config}"]
    assert main([f"--modelFile={ROOT / 'examples/digits/digits.onnx'}", f"--outputFile={folder / 'int8'}", *flags]) == 0
    return folder / "int8.ms"


def test_what_comes_before_stays_on_integers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    module = load(_quantized(tmp_path))
    stored = [node.name for node in module.main.nodes if node.quant_type is QuantType.QUANT_ALL]
    assert "conv1" in stored
    settings = TrainSettings(learning_rate=0.01, batch=4, sparse=(("dense", LayerUpdate(Fraction(1), bias=True)),))
    training = training_graph(module, settings, optimizers_only=True)
    assert set(training.parameters) == {"dense.weight", "dense.bias"} or len(training.parameters) == 2
    kept = [node.name for node in training.module.main.nodes if node.quant_type is QuantType.QUANT_ALL]
    assert {"conv1", "conv2"} <= set(kept)
    assert "dense" not in kept
    save(store_in_place(training), tmp_path / "train.ms")
    data = np.load(ROOT / "examples/digits/samples.npz")
    x, labels = data["image"][:4], (data["label"][:4] + 1) % 10  # it has to learn what it does not know
    losses, model = _trained(tmp_path / "train.ms", x, labels, 40)
    assert losses[-1] < 0.5 * losses[0]
    model.set_train_mode(False)
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(x)
    assert (model.predict(inputs)[0].get_data_to_numpy().argmax(axis=1) == labels).all()


@pytest.mark.parametrize(
    ("update", "train", "message"),
    [
        ("conv3=bias", "", "'conv3' is not a layer with weights; did you mean `conv1`?"),
        ("conv2=weights:9", "", "'conv2' has 6 input channels, not 9"),
        ("relu3=bias", "", "'relu3' is not a layer with weights"),
        ("conv2=weight", "", "'weight' is not valid; write weights"),
        ("conv2=weights:0", "", "must be a share above 0 and up to 1, or a number of channels"),
        ("conv2=weights:1/0", "", "must be a share above 0 and up to 1, or a number of channels"),
        ("conv2=weights:3/2", "", "must be a share above 0 and up to 1, or a number of channels"),
        ("conv2=bias,bias", "", "'bias' is not valid"),
        ("", "", "[sparse_update] needs the name of a layer"),
        ("conv2=bias", "frozen=conv1", "frozen=conv1 in [train_param] cannot be combined with [sparse_update]"),
        ("conv2=bias", "batch_norm=Train", "batch_norm=Train in [train_param] cannot be combined with [sparse_update]"),
    ],
)
def test_what_a_configuration_cannot_mean(
    update: str, train: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lenet(tmp_path / "lenet.onnx", BATCH)
    config = _config(tmp_path, f"[train_param]\n{train}\n[sparse_update]\n{update}\n")
    flags = ["--fmk=ONNX", "--trainModel=true", f"--configFile={config}"]
    assert main([f"--modelFile={tmp_path / 'lenet.onnx'}", f"--outputFile={tmp_path / 'sparse'}", *flags]) != 0
    assert message in capsys.readouterr().err
    assert not (tmp_path / "sparse.ms").exists()

"""`converter_lite --trainModel=true` of inference models: files that the runtime trains, step by step as NumPy does in float64."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model
from sklearn.datasets import load_digits

import mslite
from mslite.converter.cli import main
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.training import Dropout
from mslite.converter.mindir.reference import REFERENCES
from mslite.converter.options import Options
from mslite.converter.training import BatchNorm, Loss, Optimizer, TrainSettings
from tests.codegen.training_reference import (
    Array,
    Convolution,
    Dense,
    Flatten,
    Layer,
    Trainer,
    autoencoder,
    lenet,
    relu,
    sparse_cross_entropy,
    squared_error,
)

BATCH, STEPS = 16, 20
RATES = dict.fromkeys(Optimizer, 0.003) | {Optimizer.SGD: 0.2, Optimizer.MOMENTUM: 0.05, Optimizer.NESTEROV: 0.05}


def _digits() -> tuple[Array, Array]:
    images, labels = load_digits(return_X_y=True)
    return images[: BATCH * STEPS].reshape(-1, 8, 8, 1) / 16, labels[: BATCH * STEPS]


def _converted(model: Path, settings: TrainSettings) -> Path:
    return convert(Options(model, model.with_name("trains"), training=settings)).files[0]


def _built(file: Path) -> mslite.Model:
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    return model


def _losses(model: mslite.Model, x: Array, labels: Array, steps: int = STEPS) -> list[float]:
    types = (np.float32, np.int32 if labels.ndim == 1 else np.float32)
    found = []
    for step in range(steps):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        inputs = [np.ascontiguousarray(all_rows[rows], kind) for all_rows, kind in zip((x, labels), types, strict=True)]
        (loss,) = model.run_step(inputs)
        found.append(float(loss.get_data_to_numpy().item()))
    return found


def _weights(model: mslite.Model) -> dict[str, Array]:
    return {one.name: np.asarray(one.get_data_to_numpy(), np.float64) for one in model.get_trainable_params()}


def _assert_weights(model: mslite.Model, layers: list[Layer], tolerance: float) -> None:
    """Each is that of the reference, whose products may have their rows in another order: images are flattened channels last."""
    wanted = [weight for layer in layers for weight in layer.weights]
    found = list(_weights(model).values())
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.size == theirs.size
        apart = np.abs(np.sort(ours, axis=None) - np.sort(theirs, axis=None)).max()
        assert apart <= tolerance * np.abs(theirs).max()


@pytest.mark.parametrize("decay", [0.0, 0.01])
@pytest.mark.parametrize("optimizer", Optimizer)
def test_lenet(optimizer: Optimizer, decay: float, tmp_path: Path) -> None:
    """The losses of 20 steps; the weights after the first step, and after the last."""
    model = tmp_path / "lenet.onnx"
    layers = lenet(model, BATCH)
    settings = TrainSettings(Loss.SPARSE_SOFTMAX, optimizer, RATES[optimizer], weight_decay=decay)
    trained = _built(_converted(model, settings))
    x, labels = _digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, optimizer.value, settings.learning_rate, decay=decay)
    found, expected = _losses(trained, x, labels, 1), [trainer.step(x[:BATCH], labels[:BATCH])]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    _assert_weights(trained, layers, 1e-6)
    found += _losses(trained, x[BATCH:], labels[BATCH:], STEPS - 1)
    expected += [
        trainer.step(x[first : first + BATCH], labels[first : first + BATCH])
        for first in range(BATCH, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    _assert_weights(trained, layers, 1e-3)


@pytest.mark.parametrize("limit", [0.2, 50.0])
def test_clipped_gradients(limit: float, tmp_path: Path) -> None:
    """By the norm of all of them together; a limit that no step reaches changes nothing."""
    model = tmp_path / "lenet.onnx"
    layers = lenet(model, BATCH)
    trained = _built(_converted(model, TrainSettings(learning_rate=0.2, clip_norm=limit)))
    x, labels = _digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.2, clip=limit)
    expected = [
        trainer.step(x[first : first + BATCH], labels[first : first + BATCH])
        for first in range(0, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(_losses(trained, x, labels), expected, rtol=1e-5)


def test_clipped_sums_of_gradients(tmp_path: Path) -> None:
    """In virtual batches the norm of the sum is bounded, not that of its parts; gradients are given as they are before."""
    model, limit = tmp_path / "lenet.onnx", 0.2
    layers = lenet(model, BATCH)
    trained = _built(_converted(model, TrainSettings(learning_rate=0.2, clip_norm=limit)))
    trained.setup_virtual_batch(2, learning_rate=0.2)
    before = _weights(trained)
    x, labels = _digits()
    x = x.astype(np.float32).astype(np.float64)
    _losses(trained, x, labels, 2)
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.2)
    sums: list[Array] = []
    for start in (0, BATCH):
        trainer.gradients(x[start : start + BATCH], labels[start : start + BATCH])
        parts = [gradient for layer in layers for gradient in layer.gradients]
        sums = [a + b for a, b in zip(sums, parts, strict=True)] if sums else [part.copy() for part in parts]
    assert np.sqrt(sum((one**2).sum() for one in sums)) > limit
    after = _weights(trained)
    norm = np.sqrt(sum(((before[name] - after[name]) ** 2).sum() for name in before))
    assert norm == pytest.approx(0.2 * limit, rel=1e-4)


@pytest.mark.parametrize("optimizer", [Optimizer.ADAM, Optimizer.ADAMW, Optimizer.ADAGRAD, Optimizer.RMSPROP])
def test_virtual_batches(optimizer: Optimizer, tmp_path: Path) -> None:
    """One update by the sum of two steps' gradients, whatever the optimiser makes of that."""
    model = tmp_path / "lenet.onnx"
    layers = lenet(model, BATCH)
    trained = _built(_converted(model, TrainSettings(optimizer=optimizer, learning_rate=0.003)))
    trained.setup_virtual_batch(2, learning_rate=0.003)
    x, labels = _digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, optimizer.value, 0.003)
    for first in range(0, 8 * BATCH, 2 * BATCH):
        _losses(trained, x[first:], labels[first:], 2)
        sums: list[list[Array]] = []
        for start in (first, first + BATCH):
            trainer.gradients(x[start : start + BATCH], labels[start : start + BATCH])
            sums.append([gradient for layer in layers for gradient in layer.gradients])
        trainer.count += 1
        weights = [weight for layer in layers for weight in layer.weights]
        for weight, *gradients in zip(weights, *sums, strict=True):
            weight -= trainer.change(weight, sum(gradients))
    _assert_weights(trained, layers, 1e-4)


def test_it_learns(tmp_path: Path) -> None:
    """Six times over a thousand images; then it reads most of those that it has not seen."""
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    trained = _built(_converted(model, TrainSettings(optimizer=Optimizer.ADAM, learning_rate=0.003)))
    images, labels = load_digits(return_X_y=True)
    x = np.asarray(images.reshape(-1, 8, 8, 1) / 16, np.float64)
    steps = 62
    losses = [np.mean(_losses(trained, x, labels, steps)) for _ in range(6)]
    assert losses[-1] < 0.2 * losses[0]
    trained.set_train_mode(False)
    unseen = range(steps * BATCH, len(x) - BATCH, BATCH)
    nothing = np.zeros(BATCH, np.int32)  # labels are inputs in evaluation, too
    found = [
        trained.predict([x[first : first + BATCH].astype(np.float32), nothing])[0].get_data_to_numpy().argmax(axis=1)
        for first in unseen
    ]
    assert np.mean(np.concatenate(found) == labels[unseen.start : unseen.start + BATCH * len(unseen)]) > 0.85


def test_training_after_an_evaluation(tmp_path: Path) -> None:
    """A step needs more memory than inference, with which it shares a workspace."""
    model = tmp_path / "lenet.onnx"
    lenet(model, 4 * BATCH)
    trained = _built(_converted(model, TrainSettings()))
    zeros = [np.zeros((4 * BATCH, 8, 8, 1), np.float32), np.zeros(4 * BATCH, np.int32)]
    for _ in range(2):
        trained.set_train_mode(False)
        assert trained.predict(zeros)[0].shape == [4 * BATCH, 10]
        trained.set_train_mode(True)
        (loss,) = trained.run_step(zeros)
        assert np.isfinite(loss.get_data_to_numpy()).all()


def test_an_autoencoder(tmp_path: Path) -> None:
    model = tmp_path / "autoencoder.onnx"
    layers = autoencoder(model, BATCH)
    trained = _built(_converted(model, TrainSettings(Loss.SQUARED, Optimizer.MOMENTUM, 0.1)))
    x = _digits()[0].reshape(-1, 64).astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, squared_error, "Momentum", 0.1)
    expected = [
        trainer.step(x[first : first + BATCH], x[first : first + BATCH]) for first in range(0, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(_losses(trained, x, x), expected, rtol=1e-5)


def test_the_form_of_the_file(tmp_path: Path) -> None:
    """MindSpore's: optimisers and assignments change constants, names tell the loss, gradients and optimisers."""
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    module = load(_converted(model, TrainSettings(optimizer=Optimizer.ADAM)))
    nodes = {node.name: node for node in module.main.nodes}
    kinds = Counter(node.op.name for node in nodes.values())
    assert kinds["Adam"] == 8
    assert kinds["Assign"] == 2
    assert not kinds["ReadVariable"] + kinds["AssignVariable"]
    assert [value.producer.name for value in module.main.outputs if value.producer] == [
        "Default/_loss_fn-SparseSoftmaxCrossEntropy"
    ]
    for node in nodes.values():
        if node.op.name == "Adam":
            weight, first, second = node.inputs[:3]
            assert weight.is_constant
            assert (first.name, second.name) == (f"moment1.{weight.name}", f"moment2.{weight.name}")
            assert node.name.startswith("Default/optimizer-Adam/")
            assert node.inputs[9].producer is not None
            assert node.inputs[9].producer.name.startswith("Gradients/")


def test_a_training_file_infers(tmp_path: Path) -> None:
    """Built without a TrainCfg it is what it was made of, with the Softmax of which the loss knows nothing."""
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    files = [_converted(model, TrainSettings()), convert(Options(model, tmp_path / "infers")).files[0]]
    x = np.asarray(_digits()[0][:BATCH], np.float32)
    results = []
    for file in files:
        infers = mslite.Model()
        infers.build_from_file(file, mslite.ModelType.MINDIR)
        (found,) = infers.predict([x])
        results.append(found.get_data_to_numpy())
    np.testing.assert_allclose(results[0], results[1], atol=1e-6)
    trained = _built(files[0])
    _losses(trained, *_digits(), 1)
    trained.set_train_mode(False)
    (evaluated,) = trained.predict([x, np.zeros(BATCH, np.int32)])
    trained.export_model(tmp_path / "trained.ms")
    infers = mslite.Model()
    infers.build_from_file(tmp_path / "trained.ms", mslite.ModelType.MINDIR)
    (exported,) = infers.predict([x])
    for found in (evaluated, exported):
        np.testing.assert_allclose(found.get_data_to_numpy().sum(axis=1), 1, atol=1e-6)
        assert np.abs(found.get_data_to_numpy() - results[1]).max() > 1e-4


@pytest.mark.parametrize("names", [["conv1", "conv2"], ["c1", "b1", "c2", "b2"], ["conv*"]])
def test_frozen_layers(names: list[str], tmp_path: Path) -> None:
    """They stay, have no optimiser, and nothing of their backward pass is computed; the others learn as with all of them."""
    model = tmp_path / "lenet.onnx"
    layers = lenet(model, BATCH)
    settings = TrainSettings(learning_rate=0.2, frozen=frozenset(names))
    file = _converted(model, settings)
    kinds = Counter(node.op.name for node in load(file).main.nodes)
    assert kinds["SGD"] == 4
    assert not kinds["Conv2DBackpropFilterFusion"] + kinds["Conv2DBackpropInputFusion"] + kinds["MaxPoolGrad"]
    trained = _built(file)
    x, labels = _digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.2)
    kept = [weight.copy() for layer in layers[:6] for weight in layer.weights]
    expected = []
    for first in range(0, BATCH * STEPS, BATCH):
        expected.append(trainer.step(x[first : first + BATCH], labels[first : first + BATCH]))
        for weight, before in zip((w for layer in layers[:6] for w in layer.weights), kept, strict=True):
            weight[...] = before
    np.testing.assert_allclose(_losses(trained, x, labels), expected, rtol=1e-4)


def test_a_frozen_name_that_nothing_has(tmp_path: Path) -> None:
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    with pytest.raises(ConversionError, match=r"frozen names 'dence1', which is no constant and no layer .*`dense1`"):
        _converted(model, TrainSettings(frozen=frozenset({"dence1"})))
    with pytest.raises(ConversionError, match="nothing to train beside what is frozen"):
        _converted(model, TrainSettings(frozen=frozenset({"conv*", "dense*"})))


class _BatchNorm(Layer):
    """By the statistics of the batch; `running` are those of inference."""

    def __init__(self, channels: int, momentum: float) -> None:
        super().__init__(np.ones(channels), np.zeros(channels))
        self.momentum, self.running = momentum, [np.zeros(channels), np.ones(channels)]

    def forward(self, x: Array) -> Array:
        axes = tuple(range(x.ndim - 1))
        mean, variance = x.mean(axis=axes), x.var(axis=axes)
        count = x.size // x.shape[-1]
        self.factor = 1 / np.sqrt(variance + float(np.float32(1e-5)))
        self.normal = (x - mean) * self.factor
        new = (mean, variance * count / (count - 1))
        self.running = [
            (1 - self.momentum) * old + self.momentum * one for old, one in zip(self.running, new, strict=True)
        ]
        return self.normal * self.weights[0] + self.weights[1]

    def backward(self, dy: Array) -> Array:
        axes = tuple(range(dy.ndim - 1))
        self.gradients = [(dy * self.normal).sum(axis=axes), dy.sum(axis=axes)]
        rest = dy - dy.mean(axis=axes) - self.normal * (dy * self.normal).mean(axis=axes)
        return rest * self.factor * self.weights[0]


def _normalised_network(path: Path, seed: int = 5) -> list[Layer]:
    """Two convolutions with batch normalisation, which begin alike and share their constants, as PyTorch exports them."""
    chance = np.random.default_rng(seed)
    c1, c2 = (np.asarray(chance.standard_normal(shape) / 5, np.float32) for shape in ((4, 3, 3, 1), (4, 3, 3, 4)))
    dense = np.asarray(chance.standard_normal((10, 4 * 64)) / 16, np.float32)
    biases = np.asarray(chance.standard_normal(10), np.float32)
    kept = {"ones": np.ones(4, np.float32), "zeros": np.zeros(4, np.float32), "dense": dense, "biases": biases}
    kept |= {"c1": c1.transpose(0, 3, 1, 2), "c2": c2.transpose(0, 3, 1, 2)}
    nodes, x = [], "x"
    for number in ("1", "2"):
        nodes.append(helper.make_node("Conv", [x, f"c{number}"], [f"y{number}"], name=f"conv{number}", pads=[1] * 4))
        inputs = [f"y{number}", "ones", "zeros", "zeros", "ones"]
        nodes.append(
            helper.make_node("BatchNormalization", inputs, [f"n{number}"], name=f"norm{number}", momentum=0.75)
        )
        nodes.append(helper.make_node("Relu", [f"n{number}"], [f"r{number}"], name=f"relu{number}"))
        x = f"r{number}"
    nodes.append(helper.make_node("Flatten", [x], ["flat"], name="flatten"))
    nodes.append(helper.make_node("Gemm", ["flat", "dense", "biases"], ["logits"], name="last", transB=1))
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, 1, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [BATCH, 10])],
        [numpy_helper.from_array(np.ascontiguousarray(data), name) for name, data in kept.items()],
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    no_bias = np.zeros(4)
    layers: list[Layer] = [_Unbiased(np.asarray(c1, np.float64), no_bias, 1), _BatchNorm(4, 0.25), relu()]
    layers += [_Unbiased(np.asarray(c2, np.float64), no_bias, 1), _BatchNorm(4, 0.25), relu(), Flatten()]
    return [*layers, Dense(np.asarray(dense, np.float64), np.asarray(biases, np.float64))]


class _Unbiased(Convolution):
    """Its bias is none of its weights."""

    def __init__(self, weight: Array, bias: Array, pad: int) -> None:
        super().__init__(weight, bias, pad)
        self.weights = [weight]

    def forward(self, x: Array) -> Array:
        self.weights.append(np.zeros(len(self.weights[0])))
        y = super().forward(x)
        self.weights.pop()
        return y

    def backward(self, dy: Array) -> Array:
        dx = super().backward(dy)
        self.gradients = self.gradients[:1]
        return dx


def test_batch_normalisation_learns(tmp_path: Path) -> None:
    """Steps by the statistics of the batch; evaluation, and what is exported, by the running ones."""
    model = tmp_path / "normalised.onnx"
    layers = _normalised_network(model)
    settings = TrainSettings(optimizer=Optimizer.MOMENTUM, learning_rate=0.05, batch_norm=BatchNorm.TRAIN)
    file = _converted(model, settings)
    kinds = Counter(node.op.name for node in load(file).main.nodes)
    assert (kinds["FusedBatchNorm"], kinds["BatchNormGrad"], kinds["ApplyMomentum"]) == (2, 2, 8)
    trained = _built(file)
    x, labels = _digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, "Momentum", 0.05)
    expected = [
        trainer.step(x[first : first + BATCH], labels[first : first + BATCH])
        for first in range(0, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(_losses(trained, x, labels), expected, rtol=1e-4)
    trained.export_model(tmp_path / "infers.ms")
    infers = mslite.Model()
    infers.build_from_file(tmp_path / "infers.ms", mslite.ModelType.MINDIR)
    trained.set_train_mode(False)
    rows = x[:BATCH]
    for layer in layers:
        if isinstance(layer, _BatchNorm):
            mean, variance = layer.running
            scale, offset = layer.weights
            rows = (rows - mean) / np.sqrt(variance + 1e-5) * scale + offset
        else:
            rows = layer.forward(rows)
    first = np.asarray(x[:BATCH], np.float32)
    for found in (trained.predict([first, np.zeros(BATCH, np.int32)]), infers.predict([first])):
        np.testing.assert_allclose(found[0].get_data_to_numpy(), rows, rtol=1e-3, atol=1e-3)


def test_frozen_batch_normalisation_is_part_of_the_convolution(tmp_path: Path) -> None:
    model = tmp_path / "normalised.onnx"
    _normalised_network(model)
    file = _converted(model, TrainSettings(batch_norm=BatchNorm.FROZEN))
    assert not Counter(node.op.name for node in load(file).main.nodes)["FusedBatchNorm"]
    file.unlink()
    # By name, one of two: it computes what it computes in inference.
    file = _converted(model, TrainSettings(batch_norm=BatchNorm.TRAIN, frozen=frozenset({"norm1"})))
    assert Counter(node.op.name for node in load(file).main.nodes)["FusedBatchNorm"] == 1
    trained = _built(file)
    assert np.isfinite(_losses(trained, *_digits())).all()
    steps = Counter(node.op.name for node in load(file).main.nodes)
    file.unlink()
    # With the convolution before it: it is part of that, and trains the rest as before.
    file = _converted(model, TrainSettings(batch_norm=BatchNorm.TRAIN, frozen=frozenset({"norm1", "conv1"})))
    folded = Counter(node.op.name for node in load(file).main.nodes)
    assert folded["FusedBatchNorm"] == 1
    assert (folded["MulFusion"], folded["AddFusion"]) < (steps["MulFusion"], steps["AddFusion"])
    assert np.isfinite(_losses(_built(file), *_digits())).all()


def test_checkpoints_keep_running_statistics(tmp_path: Path) -> None:
    model = tmp_path / "normalised.onnx"
    _normalised_network(model)
    trained = _built(_converted(model, TrainSettings(learning_rate=0.05, batch_norm=BatchNorm.TRAIN)))
    x, labels = _digits()
    _losses(trained, x, labels, 5)
    trained.export_model(tmp_path / "checkpoint.ms", export_inference_only=False)
    again = _built(tmp_path / "checkpoint.ms")
    assert _losses(again, x, labels, 5) == _losses(trained, x, labels, 5)
    for one in (again, trained):
        one.set_train_mode(False)
    inputs = [np.asarray(x[:BATCH], np.float32), np.zeros(BATCH, np.int32)]
    np.testing.assert_array_equal(*(one.predict(inputs)[0].get_data_to_numpy() for one in (again, trained)))


def test_virtual_batches_move_running_statistics(tmp_path: Path) -> None:
    """In every step by half as much, though the weights change in every second one."""
    model = tmp_path / "normalised.onnx"
    layers = _normalised_network(model)
    normalisations = [layer for layer in layers if isinstance(layer, _BatchNorm)]
    for layer in normalisations:
        layer.momentum /= 2
    settings = TrainSettings(learning_rate=0.05, batch_norm=BatchNorm.TRAIN)
    trained = _built(_converted(model, settings))
    trained.setup_virtual_batch(2)
    x, labels = _digits()
    _losses(trained, x, labels, 1)
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.05)
    trainer.gradients(x[:BATCH].astype(np.float32).astype(np.float64), labels[:BATCH])
    trained.set_train_mode(False)
    maps = {one.name: one.get_data_to_numpy() for one in trained.get_feature_maps()}
    for number, layer in enumerate(normalisations, 1):
        np.testing.assert_allclose(maps[f"norm{number}/mean"], layer.running[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(maps[f"norm{number}/variance"], layer.running[1], rtol=1e-5)
    trained.set_train_mode(True)
    losses = _losses(trained, x, labels)
    assert np.isfinite(losses).all()


class _Dropout(Layer):
    """By the mask of a seed, which counts the steps."""

    def __init__(self, keep: float) -> None:
        super().__init__()
        self.op, self.step = Dropout(keep_prob=keep), 0

    def forward(self, x: Array) -> Array:
        _y, self.mask, _ = REFERENCES["Dropout"](
            self.op, [np.asarray(x, np.float32), np.asarray([0, self.step], np.int32)]
        )
        self.step += 1
        assert 0 < np.mean(self.mask) < 1
        return x * self.mask / self.op.keep_prob

    def backward(self, dy: Array) -> Array:
        return np.asarray(dy * self.mask / self.op.keep_prob)


def _dropping_network(path: Path) -> list[Layer]:
    """A hidden layer of which three quarters stay."""
    chance = np.random.default_rng(6)
    shapes = {"w1": (20, 64), "b1": (20,), "w2": (10, 20), "b2": (10,)}
    kept = {name: np.asarray(chance.standard_normal(shape) / 8, np.float32) for name, shape in shapes.items()}
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["y"], name="first", transB=1),
        helper.make_node("Relu", ["y"], ["r"], name="relu"),
        helper.make_node("Dropout", ["r", "ratio"], ["d"], name="drop"),
        helper.make_node("Gemm", ["d", "w2", "b2"], ["logits"], name="last", transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, 64])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [BATCH, 10])],
        [numpy_helper.from_array(data, name) for name, data in {**kept, "ratio": np.float32(0.25)}.items()],
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    w1, b1, w2, b2 = (np.asarray(data, np.float64) for data in kept.values())
    return [Dense(w1, b1), relu(), _Dropout(0.75), Dense(w2, b2)]


def test_dropout(tmp_path: Path) -> None:
    """It drops in training, another part in each step, and nothing in evaluation; checkpoints go on with the next seed."""
    model = tmp_path / "dropping.onnx"
    layers = _dropping_network(model)
    settings = TrainSettings(learning_rate=0.05, dropout=True)
    trained = _built(_converted(model, settings))
    x = _digits()[0].reshape(-1, 64).astype(np.float32).astype(np.float64)
    labels = _digits()[1]
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.05)
    expected = [
        trainer.step(x[first : first + BATCH], labels[first : first + BATCH])
        for first in range(0, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(_losses(trained, x, labels), expected, rtol=1e-5)
    trained.export_model(tmp_path / "checkpoint.ms", export_inference_only=False)
    again = _built(tmp_path / "checkpoint.ms")
    assert _losses(again, x, labels, 3) == _losses(trained, x, labels, 3)
    trained.set_train_mode(False)
    weights = list(_weights(trained).values())
    whole = np.maximum(x[:BATCH] @ weights[0].T + weights[1], 0) @ weights[2].T + weights[3]
    inputs = [np.asarray(x[:BATCH], np.float32), np.zeros(BATCH, np.int32)]
    np.testing.assert_allclose(trained.predict(inputs)[0].get_data_to_numpy(), whole, rtol=1e-4, atol=1e-5)


def test_dropout_that_is_left_out(tmp_path: Path) -> None:
    model = tmp_path / "dropping.onnx"
    _dropping_network(model)
    file = _converted(model, TrainSettings(dropout=False))
    assert not Counter(node.op.name for node in load(file).main.nodes)["Dropout"]


def _product_and(path: Path, *operators: str) -> None:
    """A product, then functions of its result whose sum is the output."""
    weight = numpy_helper.from_array(np.ones((4, 4), np.float32), "weight")
    nodes = [helper.make_node("MatMul", ["x", "weight"], ["y"], name="product")]
    nodes += [helper.make_node(name, ["y"], [f"y_{name}"], name=f"no_{name}") for name in operators]
    nodes.append(helper.make_node("Sum", [f"y_{name}" for name in operators], ["z"], name="sum"))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in ("x", "z")]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], [weight])
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def _run(
    capsys: pytest.CaptureFixture[str], model: Path, *flags: str, section: str | None = None
) -> tuple[int, str, str]:
    arguments = [f"--modelFile={model}", "--trainModel=true", *flags]
    if not any(flag.startswith("--outputFile=") for flag in flags):
        arguments.append(f"--outputFile={model.with_suffix('')}")
    if section is not None:
        config = model.with_suffix(".cfg")
        config.write_text(f"[train_param]\n{section}")
        arguments.append(f"--configFile={config}")
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_biases_in_another_shape_and_what_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bias of heads follows a product in another shape, and one of channels begins with dimensions of 1: they learn. What could
    be anything, as a table of positions, stays and is named."""
    chance = np.random.default_rng(5)
    shapes = {"weight": (4, 6), "heads": (3, 2), "square": (6, 6), "bias": (1, 1, 6), "positions": (1, 2, 6)}
    constants = {name: chance.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    sizes = {"to_heads": np.asarray([1, 2, 3, 2], np.int64), "to_rows": np.asarray([1, 2, 6], np.int64)}
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["a"]),
        helper.make_node("Reshape", ["a", "to_heads"], ["b"]),
        helper.make_node("Add", ["b", "heads"], ["c"]),
        helper.make_node("Reshape", ["c", "to_rows"], ["d"]),
        helper.make_node("Tanh", ["d"], ["e"]),
        helper.make_node("Add", ["e", "positions"], ["f"]),
        helper.make_node("MatMul", ["f", "square"], ["g"]),
        helper.make_node("Add", ["g", "bias"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2, size]) for name, size in (("x", 4), ("y", 6))]
    initial = [numpy_helper.from_array(data, name) for name, data in (constants | sizes).items()]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], initial)
    model = tmp_path / "model.onnx"
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
    status, out, _ = _run(capsys, model, section="loss=MeanSquaredError\nlearning_rate=0.1\n")
    assert status == 0
    assert "constants behind trained layers stay as they are, unless trained= names them: 'positions'" in out
    trained = _built(model.with_suffix(".ms"))
    x, wanted = (chance.standard_normal((1, 2, size)).astype(np.float32) for size in (4, 6))
    trained.run_step([x, wanted])
    weight, heads, square, bias, positions = (np.asarray(data, np.float64) for data in constants.values())
    hidden = np.tanh(((x @ weight).reshape(1, 2, 3, 2) + heads).reshape(1, 2, 6))
    dy = 2 * ((hidden + positions) @ square + bias - wanted) / wanted.size
    dc = (dy @ square.T) * (1 - hidden**2)
    gradients = {
        "weight": x[0].T @ dc[0],
        "heads": dc.sum(axis=(0, 1)).reshape(3, 2),
        "square": (hidden + positions)[0].T @ dy[0],
        "bias": dy.sum(axis=(0, 1)).reshape(1, 1, 6),
    }
    found = _weights(trained)
    assert list(found) == ["weight", "heads", "square", "g_bias"]  # the last one is part of the product
    for ours, (name, gradient) in zip(found.values(), gradients.items(), strict=True):
        expected = constants[name] - 0.1 * gradient
        np.testing.assert_allclose(ours, expected.reshape(ours.shape), rtol=1e-5, atol=1e-6)


def test_operators_without_gradients_are_named_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.onnx"
    _product_and(model, "Hardmax", "Relu", "LpNormalization")
    status, out, err = _run(capsys, model, section="loss=MeanSquaredError\n")
    assert status == 3
    assert "2 node(s) have no gradient" in err
    assert "no_Hardmax" in err
    assert "no_LpNormalization" in err
    assert "no_Relu" not in err
    assert out.startswith("Convert failed. Ret: ")
    assert not model.with_suffix(".ms").exists()


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """[train_param] says all that the API's settings do; the number of rows comes from it, or from --inputShape."""
    model = tmp_path / "lenet.onnx"
    lenet(model, 1)
    section = "loss=SparseSoftmaxCrossEntropy\noptimizer=Momentum\nlearning_rate=0.05\nmomentum=0.8\nfrozen=conv1,c2\n"
    status, out, _ = _run(capsys, model, section=f"{section}batch_size={BATCH}\n")
    assert status == 0
    assert "trains 5 constants by Momentum; the labels are 'label', int32 [16]" in out
    trained = _built(model.with_suffix(".ms"))
    assert trained.get_learning_rate() == np.float32(0.05)
    numbers = {one.name: float(one.get_data_to_numpy().item()) for one in trained.get_optimizer_params()}
    assert numbers == {"learning_rate": pytest.approx(0.05), "momentum": pytest.approx(0.8)}
    assert list(_weights(trained)) == ["b2", "d1", "e1", "d2", "e2"]
    assert [tensor.shape for tensor in trained.get_inputs()] == [[BATCH, 8, 8, 1], [BATCH]]
    model.with_suffix(".ms").unlink()
    assert _run(capsys, model, "--inputShape=x:4,1,8,8")[0] == 0
    assert [tensor.shape for tensor in _built(model.with_suffix(".ms")).get_inputs()] == [[4, 8, 8, 1], [4]]


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        ("--fp16=on", "weights are trained in float32"),
        ("--inputDataType=INT8", "a model trains in float32"),
        ("--outputDataType=FLOAT16", "a model trains in float32"),
        ("--saveType=MINDIR", "the result is a .ms file"),
        ("--targetVersion=2.7", "leave it out"),
        ("--check", "it examines inference"),
        ("--verify", "convert with --trainModel=false for it"),
    ],
)
def test_what_does_not_go_with_it(flag: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    status, _, err = _run(capsys, model, flag)
    assert status == 2
    assert "INPUT ILLEGAL: trainModel=true does not go with" in err
    assert reason in err


def test_wrong_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    for line, message in (
        ("optimizer=Adamm", "optimizer must be SGD|Momentum|"),
        ("learning_rat=0.1", "`learning_rat` is not supported in [train_param]; did you mean `learning_rate`?"),
        ("learning_rate=-1", "learning_rate must be a number above 0 that float32 has, not '-1'"),
        ("learning_rate=1e99", "learning_rate must be a number above 0 that float32 has"),
        ("learning_rate=1e-60", "learning_rate must be a number above 0 that float32 has"),
        ("learning_rate=nan", "learning_rate must be a number above 0 that float32 has"),
        ("beta1=1\noptimizer=Adam", "beta1 must be a number from 0 and below 1, not '1'"),
        ("batch_size=1.5", "batch_size must be a whole number from 1 to 1048576, not '1.5'"),
        ("warmup_steps=-1", "warmup_steps must be a whole number from 0 to 16777216"),
    ):
        status, _, err = _run(capsys, model, section=f"{line}\n")
        assert status == 2
        assert message in err
    for line, message in (
        ("momentum=0.9", "momentum goes with optimizer=Momentum|Nesterov, not with SGD"),
        ("alpha=0.9\noptimizer=Adam", "alpha goes with optimizer=RMSProp, not with Adam"),
    ):
        status, _, err = _run(capsys, model, section=f"{line}\n")
        assert status == 1
        assert message in err


def test_a_training_file_is_no_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    file = _converted(model, TrainSettings())
    status, _, err = _run(capsys, file, f"--outputFile={tmp_path / 'again'}")
    assert status == 3
    assert "it has gradients and an optimiser already" in err


_MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"


@pytest.mark.skipif(not _MODELS.is_dir(), reason="the shared models are not here")
@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("torch_audio/ds_cnn_kws_op13/model.onnx", ""),
        ("small_apps/keypoint_classifier/model.tflite", ""),
        ("keras_pb/ds_cnn_kws/model.pb", ""),
        ("caffe/lenet_seeded/model.prototxt", ""),
        ("dtln/dtln_1_float/model.tflite", "Identity"),
        ("keras_pb/lstm_2layer_while/model.pb", ""),
        ("arm_kws_pb/gru_s/model.pb", ""),
        ("tf1_pb/conv_mix/model.pb", ""),
    ],
    ids=[
        "ONNX",
        "TensorFlow Lite",
        "TensorFlow",
        "Caffe",
        "several outputs",
        "loops of LSTM",
        "GRU",
        "blocks of pixels",
    ],
)
def test_front_ends(name: str, output: str, tmp_path: Path) -> None:
    """Models of others learn what they are given: four steps on the same numbers, each with a smaller loss."""
    model = _MODELS / name
    settings = TrainSettings(Loss.SQUARED, Optimizer.ADAM, 1e-4, output=output, batch=1)
    weights = model.with_name("model.caffemodel") if "caffe" in name else None
    options = Options(model, tmp_path / "trains", weight_file=weights, training=settings)
    trained = _built(convert(options).files[0])
    chance = np.random.default_rng(3)
    inputs = [chance.standard_normal(tensor.shape).astype(np.float32) for tensor in trained.get_inputs()]
    losses = [trained.run_step(inputs)[0].get_data_to_numpy().item() for _ in range(4)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


@pytest.mark.skipif(not _MODELS.is_dir(), reason="the shared models are not here")
def test_outputs_of_any_size_are_refused(tmp_path: Path) -> None:
    model = _MODELS / "torch_detection/yolo_head_nms_op13/model.onnx"
    with pytest.raises(ConversionError, match="the sizes of output 'boxes' depend on what is computed"):
        convert(Options(model, tmp_path / "trains", training=TrainSettings(Loss.SQUARED, output="boxes")))

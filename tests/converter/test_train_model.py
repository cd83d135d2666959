"""`converter_lite --trainModel=true` of inference models: files that the runtime trains, step by step as NumPy does in float64."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import load
from mslite.converter.options import Options
from mslite.converter.training import Loss, Optimizer, TrainSettings
from tests.codegen.training_reference import (
    Array,
    Trainer,
    autoencoder,
    lenet,
    sparse_cross_entropy,
    squared_error,
)
from tests.converter.trained import BATCH, RATES, STEPS, assert_weights, built, converted, digits, losses_of, weights_of


@pytest.mark.parametrize("decay", [0.0, 0.01])
@pytest.mark.parametrize("optimizer", Optimizer)
def test_lenet(optimizer: Optimizer, decay: float, tmp_path: Path) -> None:
    """The losses of 20 steps; the weights after the first step, and after the last."""
    model = tmp_path / "lenet.onnx"
    layers = lenet(model, BATCH)
    settings = TrainSettings(Loss.SPARSE_SOFTMAX, optimizer, RATES[optimizer], weight_decay=decay)
    trained = built(converted(model, settings))
    x, labels = digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, optimizer.value, settings.learning_rate, decay=decay)
    found, expected = losses_of(trained, x, labels, 1), [trainer.step(x[:BATCH], labels[:BATCH])]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert_weights(trained, layers, 1e-6)
    found += losses_of(trained, x[BATCH:], labels[BATCH:], STEPS - 1)
    expected += [
        trainer.step(x[first : first + BATCH], labels[first : first + BATCH])
        for first in range(BATCH, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert_weights(trained, layers, 1e-3)


@pytest.mark.parametrize("limit", [0.2, 50.0])
def test_clipped_gradients(limit: float, tmp_path: Path) -> None:
    """By the norm of all of them together; a limit that no step reaches changes nothing."""
    model = tmp_path / "lenet.onnx"
    layers = lenet(model, BATCH)
    trained = built(converted(model, TrainSettings(learning_rate=0.2, clip_norm=limit)))
    x, labels = digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.2, clip=limit)
    expected = [
        trainer.step(x[first : first + BATCH], labels[first : first + BATCH])
        for first in range(0, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(losses_of(trained, x, labels), expected, rtol=1e-5)


def test_clipped_sums_of_gradients(tmp_path: Path) -> None:
    """In virtual batches the norm of the sum is bounded, not that of its parts; gradients are given as they are before."""
    model, limit = tmp_path / "lenet.onnx", 0.2
    layers = lenet(model, BATCH)
    trained = built(converted(model, TrainSettings(learning_rate=0.2, clip_norm=limit)))
    trained.setup_virtual_batch(2, learning_rate=0.2)
    before = weights_of(trained)
    x, labels = digits()
    x = x.astype(np.float32).astype(np.float64)
    losses_of(trained, x, labels, 2)
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.2)
    sums: list[Array] = []
    for start in (0, BATCH):
        trainer.gradients(x[start : start + BATCH], labels[start : start + BATCH])
        parts = [gradient for layer in layers for gradient in layer.gradients]
        sums = [a + b for a, b in zip(sums, parts, strict=True)] if sums else [part.copy() for part in parts]
    assert np.sqrt(sum((one**2).sum() for one in sums)) > limit
    after = weights_of(trained)
    norm = np.sqrt(sum(((before[name] - after[name]) ** 2).sum() for name in before))
    assert norm == pytest.approx(0.2 * limit, rel=1e-4)


@pytest.mark.parametrize("optimizer", [Optimizer.ADAM, Optimizer.ADAMW, Optimizer.ADAGRAD, Optimizer.RMSPROP])
def test_virtual_batches(optimizer: Optimizer, tmp_path: Path) -> None:
    """One update by the sum of two steps' gradients, whatever the optimizer makes of that."""
    model = tmp_path / "lenet.onnx"
    layers = lenet(model, BATCH)
    trained = built(converted(model, TrainSettings(optimizer=optimizer, learning_rate=0.003)))
    trained.setup_virtual_batch(2, learning_rate=0.003)
    x, labels = digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, optimizer.value, 0.003)
    for first in range(0, 8 * BATCH, 2 * BATCH):
        losses_of(trained, x[first:], labels[first:], 2)
        sums: list[list[Array]] = []
        for start in (first, first + BATCH):
            trainer.gradients(x[start : start + BATCH], labels[start : start + BATCH])
            sums.append([gradient for layer in layers for gradient in layer.gradients])
        trainer.count += 1
        weights = [weight for layer in layers for weight in layer.weights]
        for weight, *gradients in zip(weights, *sums, strict=True):
            weight -= trainer.change(weight, sum(gradients))
    assert_weights(trained, layers, 1e-4)


def test_it_learns(tmp_path: Path) -> None:
    """Six times over a thousand images; then it reads most of those that it has not seen."""
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    trained = built(converted(model, TrainSettings(optimizer=Optimizer.ADAM, learning_rate=0.003)))
    images, labels = load_digits(return_X_y=True)
    x = np.asarray(images.reshape(-1, 8, 8, 1) / 16, np.float64)
    steps = 62
    losses = [np.mean(losses_of(trained, x, labels, steps)) for _ in range(6)]
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
    trained = built(converted(model, TrainSettings()))
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
    trained = built(converted(model, TrainSettings(Loss.SQUARED, Optimizer.MOMENTUM, 0.1)))
    x = digits()[0].reshape(-1, 64).astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, squared_error, "Momentum", 0.1)
    expected = [
        trainer.step(x[first : first + BATCH], x[first : first + BATCH]) for first in range(0, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(losses_of(trained, x, x), expected, rtol=1e-5)


def test_the_form_of_the_file(tmp_path: Path) -> None:
    """MindSpore's: optimizers and assignments change constants, names tell the loss, gradients and optimizers."""
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    module = load(converted(model, TrainSettings(optimizer=Optimizer.ADAM)))
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
    files = [converted(model, TrainSettings()), convert(Options(model, tmp_path / "infers")).files[0]]
    x = np.asarray(digits()[0][:BATCH], np.float32)
    results = []
    for file in files:
        infers = mslite.Model()
        infers.build_from_file(file, mslite.ModelType.MINDIR)
        (found,) = infers.predict([x])
        results.append(found.get_data_to_numpy())
    np.testing.assert_allclose(results[0], results[1], atol=1e-6)
    trained = built(files[0])
    losses_of(trained, *digits(), 1)
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
    """They stay, have no optimizer, and nothing of their backward pass is computed; the others learn as with all of them."""
    model = tmp_path / "lenet.onnx"
    layers = lenet(model, BATCH)
    settings = TrainSettings(learning_rate=0.2, frozen=frozenset(names))
    file = converted(model, settings)
    kinds = Counter(node.op.name for node in load(file).main.nodes)
    assert kinds["SGD"] == 4
    assert not kinds["Conv2DBackpropFilterFusion"] + kinds["Conv2DBackpropInputFusion"] + kinds["MaxPoolGrad"]
    trained = built(file)
    x, labels = digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.2)
    kept = [weight.copy() for layer in layers[:6] for weight in layer.weights]
    expected = []
    for first in range(0, BATCH * STEPS, BATCH):
        expected.append(trainer.step(x[first : first + BATCH], labels[first : first + BATCH]))
        for weight, before in zip((w for layer in layers[:6] for w in layer.weights), kept, strict=True):
            weight[...] = before
    np.testing.assert_allclose(losses_of(trained, x, labels), expected, rtol=1e-4)


def test_a_frozen_name_that_nothing_has(tmp_path: Path) -> None:
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    with pytest.raises(ConversionError, match=r"frozen names 'dence1', which is not a constant or layer .*`dense1`"):
        converted(model, TrainSettings(frozen=frozenset({"dence1"})))
    with pytest.raises(ConversionError, match="no parameters that are not frozen"):
        converted(model, TrainSettings(frozen=frozenset({"conv*", "dense*"})))

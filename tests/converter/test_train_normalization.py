"""`converter_lite --trainModel=true` of what is another in training: batch normalization and Dropout, step by step as NumPy has them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model

import mslite
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.training import Dropout
from mslite.converter.mindir.reference import REFERENCES
from mslite.converter.training import BatchNorm, Optimizer, TrainSettings
from tests.codegen.training_reference import (
    Array,
    Convolution,
    Dense,
    Flatten,
    Layer,
    Trainer,
    relu,
    sparse_cross_entropy,
)
from tests.converter.trained import BATCH, STEPS, built, converted, digits, losses_of, weights_of


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


def _normalized_network(path: Path, seed: int = 5) -> list[Layer]:
    """Two convolutions with batch normalization, which begin alike and share their constants, as PyTorch exports them."""
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


def test_batch_normalization_learns(tmp_path: Path) -> None:
    """Steps by the statistics of the batch; evaluation, and what is exported, by the running ones."""
    model = tmp_path / "normalized.onnx"
    layers = _normalized_network(model)
    settings = TrainSettings(optimizer=Optimizer.MOMENTUM, learning_rate=0.05, batch_norm=BatchNorm.TRAIN)
    file = converted(model, settings)
    kinds = Counter(node.op.name for node in load(file).main.nodes)
    assert (kinds["FusedBatchNorm"], kinds["BatchNormGrad"], kinds["ApplyMomentum"]) == (2, 2, 8)
    trained = built(file)
    x, labels = digits()
    x = x.astype(np.float32).astype(np.float64)
    trainer = Trainer(layers, sparse_cross_entropy, "Momentum", 0.05)
    expected = [
        trainer.step(x[first : first + BATCH], labels[first : first + BATCH])
        for first in range(0, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(losses_of(trained, x, labels), expected, rtol=1e-4)
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


def test_frozen_batch_normalization_is_part_of_the_convolution(tmp_path: Path) -> None:
    model = tmp_path / "normalized.onnx"
    _normalized_network(model)
    file = converted(model, TrainSettings(batch_norm=BatchNorm.FROZEN))
    assert not Counter(node.op.name for node in load(file).main.nodes)["FusedBatchNorm"]
    file.unlink()
    # By name, one of two: it computes what it computes in inference.
    file = converted(model, TrainSettings(batch_norm=BatchNorm.TRAIN, frozen=frozenset({"norm1"})))
    assert Counter(node.op.name for node in load(file).main.nodes)["FusedBatchNorm"] == 1
    trained = built(file)
    assert np.isfinite(losses_of(trained, *digits())).all()
    steps = Counter(node.op.name for node in load(file).main.nodes)
    file.unlink()
    # With the convolution before it: it is part of that, and trains the rest as before.
    file = converted(model, TrainSettings(batch_norm=BatchNorm.TRAIN, frozen=frozenset({"norm1", "conv1"})))
    folded = Counter(node.op.name for node in load(file).main.nodes)
    assert folded["FusedBatchNorm"] == 1
    assert (folded["MulFusion"], folded["AddFusion"]) < (steps["MulFusion"], steps["AddFusion"])
    assert np.isfinite(losses_of(built(file), *digits())).all()


def test_checkpoints_keep_running_statistics(tmp_path: Path) -> None:
    model = tmp_path / "normalized.onnx"
    _normalized_network(model)
    trained = built(converted(model, TrainSettings(learning_rate=0.05, batch_norm=BatchNorm.TRAIN)))
    x, labels = digits()
    losses_of(trained, x, labels, 5)
    trained.export_model(tmp_path / "checkpoint.ms", export_inference_only=False)
    again = built(tmp_path / "checkpoint.ms")
    assert losses_of(again, x, labels, 5) == losses_of(trained, x, labels, 5)
    for one in (again, trained):
        one.set_train_mode(False)
    inputs = [np.asarray(x[:BATCH], np.float32), np.zeros(BATCH, np.int32)]
    np.testing.assert_array_equal(*(one.predict(inputs)[0].get_data_to_numpy() for one in (again, trained)))


def test_virtual_batches_move_running_statistics(tmp_path: Path) -> None:
    """In every step by half as much, though the weights change in every second one."""
    model = tmp_path / "normalized.onnx"
    layers = _normalized_network(model)
    normalizations = [layer for layer in layers if isinstance(layer, _BatchNorm)]
    for layer in normalizations:
        layer.momentum /= 2
    settings = TrainSettings(learning_rate=0.05, batch_norm=BatchNorm.TRAIN)
    trained = built(converted(model, settings))
    trained.setup_virtual_batch(2)
    x, labels = digits()
    losses_of(trained, x, labels, 1)
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.05)
    trainer.gradients(x[:BATCH].astype(np.float32).astype(np.float64), labels[:BATCH])
    trained.set_train_mode(False)
    maps = {one.name: one.get_data_to_numpy() for one in trained.get_feature_maps()}
    for number, layer in enumerate(normalizations, 1):
        np.testing.assert_allclose(maps[f"norm{number}/mean"], layer.running[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(maps[f"norm{number}/variance"], layer.running[1], rtol=1e-5)
    trained.set_train_mode(True)
    losses = losses_of(trained, x, labels)
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
    trained = built(converted(model, settings))
    x = digits()[0].reshape(-1, 64).astype(np.float32).astype(np.float64)
    labels = digits()[1]
    trainer = Trainer(layers, sparse_cross_entropy, "SGD", 0.05)
    expected = [
        trainer.step(x[first : first + BATCH], labels[first : first + BATCH])
        for first in range(0, BATCH * STEPS, BATCH)
    ]
    np.testing.assert_allclose(losses_of(trained, x, labels), expected, rtol=1e-5)
    trained.export_model(tmp_path / "checkpoint.ms", export_inference_only=False)
    again = built(tmp_path / "checkpoint.ms")
    assert losses_of(again, x, labels, 3) == losses_of(trained, x, labels, 3)
    trained.set_train_mode(False)
    weights = list(weights_of(trained).values())
    whole = np.maximum(x[:BATCH] @ weights[0].T + weights[1], 0) @ weights[2].T + weights[3]
    inputs = [np.asarray(x[:BATCH], np.float32), np.zeros(BATCH, np.int32)]
    np.testing.assert_allclose(trained.predict(inputs)[0].get_data_to_numpy(), whole, rtol=1e-4, atol=1e-5)


def test_dropout_that_is_left_out(tmp_path: Path) -> None:
    model = tmp_path / "dropping.onnx"
    _dropping_network(model)
    file = converted(model, TrainSettings(dropout=False))
    assert not Counter(node.op.name for node in load(file).main.nodes)["Dropout"]

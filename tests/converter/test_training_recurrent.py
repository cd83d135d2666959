"""Recurrent layers, which training graphs have step by step: every gradient against central differences in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.recurrent import LSTM, GRUSequence, LSTMSequence, RNNSequence
from mslite.converter.mindir.reference.recurrent import sequence, unpacked
from mslite.converter.training import Loss, TrainSettings, training_graph
from tests.converter.gradient_check import Net, differences, gradients, numbers, own_numbers

__all__ = ["own_numbers"]

TIME, BATCH, WIDTH, UNITS, PROJECTED = 4, 3, 5, 3, 2
_GATES = {"rnn": 1, "gru": 3, "lstm": 4}
_DEFAULTS = {"rnn": ["Tanh"], "gru": ["Sigmoid", "Tanh"], "lstm": ["Sigmoid", "Tanh", "Tanh"]}
_TRAINED = ("weight_input", "weight_hidden", "bias", "peepholes", "projection", "projection_bias")
General = RNNSequence | GRUSequence | LSTMSequence


def _operands(kind: str, op: General) -> dict[str, Array]:
    """All that the layer has besides x, in the order in which it has them."""
    directions = 2 if op.direction == "bidirectional" else 1
    rows = _GATES[kind] * UNITS
    state = PROJECTED if getattr(op, "has_projection", False) else UNITS
    found = {"weight_input": numbers(directions, rows, WIDTH), "weight_hidden": numbers(directions, rows, state)}

    def state_of(size: int) -> Array:
        return numbers(BATCH, directions, size) if op.layout else numbers(directions, BATCH, size)

    made = {
        "bias": lambda: numbers(directions, 2 * rows),
        "sequence_lengths": lambda: np.asarray([4, 2, 3], np.int32),
        "initial_hidden": lambda: state_of(state),
        "initial_cell": lambda: state_of(UNITS),
        "peepholes": lambda: numbers(directions, 3 * UNITS),
        "projection": lambda: numbers(directions, PROJECTED, UNITS),
        "projection_bias": lambda: numbers(directions, PROJECTED),
    }
    for name, make in made.items():
        if getattr(op, f"has_{name}", False):
            found[name] = make()
    return found


def _layer(net: Net, op: Any, operands: dict[str, Array], results: int) -> Net:
    net.add(op, *operands.values())
    node = net.graph.nodes[-1]
    more = [Value(f"{node.name}/state{i}", DataType.FLOAT32, None, format=Format.NHWC) for i in range(1, results)]
    node.outputs = (*node.outputs, *more)
    for value in more:
        value.producer = node
    return net


def _reference(kind: str, op: General, x: Array, operands: dict[str, Array]) -> list[Array]:
    options: dict[str, object] = {}
    extra: list[bool] = []
    if isinstance(op, GRUSequence):
        options = {"linear_before_reset": op.linear_before_reset}
    if isinstance(op, LSTMSequence):
        options = {"input_forget": op.input_forget, "cell_clip": op.cell_clip, "projection_clip": op.projection_clip}
        extra = [op.has_initial_cell, op.has_peepholes, op.has_projection, op.has_projection_bias, False]
    return sequence(kind, op, [x, *operands.values()], options, _DEFAULTS[kind], extra)


_LAYERS: dict[str, tuple[str, General]] = {
    "rnn": ("rnn", RNNSequence(has_bias=True)),
    "rnn-relu-reverse": ("rnn", RNNSequence(direction="reverse", activations="Relu")),
    "gru": ("gru", GRUSequence(has_bias=True)),
    "gru-torch": ("gru", GRUSequence(has_bias=True, linear_before_reset=True, has_initial_hidden=True)),
    "gru-torch-zeros": ("gru", GRUSequence(has_bias=True, linear_before_reset=True)),
    "gru-both": ("gru", GRUSequence(direction="bidirectional", has_bias=True, has_initial_hidden=True)),
    "gru-lengths": ("gru", GRUSequence(has_bias=True, has_sequence_lengths=True, layout=1, has_initial_hidden=True)),
    "lstm-bare": ("lstm", LSTMSequence()),
    "lstm": ("lstm", LSTMSequence(has_bias=True, has_initial_hidden=True, has_initial_cell=True)),
    "lstm-both": ("lstm", LSTMSequence(direction="bidirectional", has_bias=True)),
    "lstm-batch-first": ("lstm", LSTMSequence(direction="reverse", layout=1, has_bias=True, has_initial_cell=True)),
    "lstm-lengths": ("lstm", LSTMSequence(direction="bidirectional", has_bias=True, has_sequence_lengths=True)),
    "lstm-clipped": ("lstm", LSTMSequence(clip=0.6, cell_clip=0.4, input_forget=True)),
    "lstm-projected": (
        "lstm",
        LSTMSequence(has_bias=True, has_initial_hidden=True, has_initial_cell=True, has_peepholes=True,
                     has_projection=True, has_projection_bias=True, projection_clip=0.9),
    ),
    "lstm-functions": ("lstm", LSTMSequence(activations="HardSigmoid Softsign Elu", activation_alpha=(0.3, 0.8))),
}  # fmt: skip


@pytest.mark.parametrize("result", [0, 1])
@pytest.mark.parametrize("name", _LAYERS)
def test_layer(name: str, result: int, tmp_path: Path) -> None:
    """Behind a product, so that the gradient goes through the layer, too; of the sequence, and of the last hidden state."""
    kind, op = _LAYERS[name]
    x, first = numbers(BATCH if op.layout else TIME, TIME if op.layout else BATCH, 4), numbers(4, WIDTH)
    operands = _operands(kind, op)
    net = _layer(Net(x.shape).add(MatMulFusion(), first), op, operands, 3 if kind == "lstm" else 2)
    net.latest = net.graph.nodes[-1].outputs[result]
    places = {role: f"{op.name}_1/c{place}" for place, role in enumerate(operands)}

    def forward(product: Array, changed: dict[str, Array]) -> Array:
        wide = {
            role: value if value.dtype == np.int32 else value.astype(np.float64) for role, value in operands.items()
        }
        return _reference(kind, op, x.astype(np.float64) @ product, wide | changed)[result]

    target = numbers(*forward(first.astype(np.float64), {}).shape)
    found = gradients(net, x, target, tmp_path / "train.ms")
    weights = {role: value for role, value in operands.items() if role in _TRAINED}
    assert set(found) == {"MatMulFusion_0/c0", *(places[role] for role in weights)}
    expected = {"MatMulFusion_0/c0": differences(lambda w: forward(w, {}), first, target)}
    for role, value in weights.items():
        expected[places[role]] = differences(
            lambda w, role=role: forward(first.astype(np.float64), {role: w}), value, target
        )  # type: ignore[misc]
    for name_of, wanted in expected.items():
        assert found[name_of].shape == wanted.shape
        assert np.abs(found[name_of] - wanted).max() <= 3e-5 * max(1.0, np.abs(wanted).max()), name_of


@pytest.mark.parametrize("biases", [0, 1, 2])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("projected", [0, PROJECTED])
def test_flat_weights(projected: int, both: bool, biases: int, tmp_path: Path) -> None:
    """MINDIR's LSTM, whose weights are one constant: it and both first states' makers get gradients of the same layer as ONNX has."""
    directions, state, rows = 1 + both, projected or UNITS, 4 * UNITS
    count = directions * (rows * (WIDTH + state + biases) + projected * UNITS)
    op = LSTM(bidirectional=both, has_bias=biases > 0, input_size=WIDTH, hidden_size=UNITS, proj_size=projected)
    x, hidden, cell = numbers(TIME, BATCH, WIDTH), numbers(directions, BATCH, state), numbers(directions, BATCH, UNITS)
    flat = numbers(count)
    net = _layer(Net(x.shape), op, {"hidden": hidden, "cell": cell, "flat": flat}, 3)

    def forward(weights: Array) -> Array:
        operands = unpacked(op, [x, hidden, cell, weights])
        general = LSTMSequence(
            direction="bidirectional" if both else "forward",
            has_bias=True,
            has_initial_hidden=True,
            has_initial_cell=True,
            has_projection=projected > 0,
        )
        extra = [True, False, projected > 0, False, False]
        y = sequence("lstm", general, operands, {}, _DEFAULTS["lstm"], extra)[0]
        return y.transpose(0, 2, 1, 3).reshape(TIME, BATCH, -1)

    target = numbers(*forward(flat).shape)
    (found,) = gradients(net, x, target, tmp_path / "train.ms").values()
    expected = differences(forward, flat, target)
    assert np.abs(found - expected).max() <= 3e-5 * max(1.0, np.abs(expected).max())


def test_frozen_layers_that_come_first_stay() -> None:
    """No gradient goes through them."""
    op = GRUSequence(has_bias=True)
    operands = _operands("gru", op)
    net = _layer(Net((TIME, BATCH, WIDTH)), op, operands, 2).add(MatMulFusion(), numbers(UNITS, 2))
    frozen = frozenset({"GRUSequence_0"})
    made = training_graph(net.module(), TrainSettings(Loss.SQUARED, frozen=frozen))
    assert made.parameters == ("MatMulFusion_1/c0",)
    assert [node.op.name for node in made.module.main.nodes].count("GRUSequence") == 1


def test_zeros_beside_a_bias_stay(tmp_path: Path) -> None:
    """Formats with one bias leave the other empty: trained, it would double the steps of the first."""
    op = LSTMSequence(has_bias=True)
    operands = _operands("lstm", op)
    operands["bias"][:, 4 * UNITS :] = 0
    x = numbers(TIME, BATCH, WIDTH)
    found = gradients(_layer(Net(x.shape), op, operands, 3), x, numbers(TIME, 1, BATCH, UNITS), tmp_path / "train.ms")
    bias = found["LSTMSequence_0/c2"][0]
    assert np.all(bias[: 4 * UNITS] != 0)
    assert not np.any(bias[4 * UNITS :])


@pytest.mark.parametrize(("batch", "products"), [(1, 1), (10, 2), (100, 39)])
def test_the_steps_of_a_weight_share_a_product(batch: int, products: int) -> None:
    """The first of 40 steps has no state. Where one has many rows, it keeps a product of its own."""
    op = RNNSequence()
    weights = {"weight_input": numbers(1, UNITS, WIDTH), "weight_hidden": numbers(1, UNITS, UNITS)}
    net = _layer(Net((40, batch, WIDTH)), op, weights, 2)
    nodes = training_graph(net.module(), TrainSettings(Loss.SQUARED)).module.main.nodes
    found = [node for node in nodes if isinstance(node.op, MatMulFusion) and node.op.transpose_a]
    assert [node.outputs[0].shape for node in found].count((UNITS, UNITS)) == products

"""Recurrent layers of cuDNN, whose parameters are one flat constant, against onnxruntime's and Keras' layers for CPUs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mslite.converter.errors import ConversionError
from tests.foreign.graph import run
from tests.parsers.tf.graphs import Builder, results

Array = npt.NDArray[Any]
Gates = list[dict[str, Array]]
"""Per direction the matrices `w` [gates, units, size] and `r` [gates, units, units], and the biases `bw` and `br`."""

_KINDS = {"lstm": "ifco", "gru": "rzh", "rnn_tanh": "h", "rnn_relu": "h"}
"""cuDNN's gates in their order."""
_FOREIGN = {"lstm": ("LSTM", "iofc"), "gru": ("GRU", "zrh"), "rnn_tanh": ("RNN", "h"), "rnn_relu": ("RNN", "h")}
_CHANCE = np.random.default_rng(5)


def drawn(*shape: int) -> Array:
    return _CHANCE.uniform(-0.5, 0.5, shape).astype(np.float32)


def layer(mode: str, size: int, units: int, directions: int) -> Gates:
    count = len(_KINDS[mode])
    shapes = {"w": (count, units, size), "r": (count, units, units), "bw": (count, units), "br": (count, units)}
    return [{key: drawn(*shape) for key, shape in shapes.items()} for _ in range(directions)]


def flat(layers: list[Gates]) -> Array:
    """All matrices of all layers and directions, then all biases."""
    parts = [direction[key] for keys in ("wr", ("bw", "br")) for gates in layers for direction in gates for key in keys]
    return np.concatenate([part.ravel() for part in parts])


def graph(
    mode: str, layers: list[Gates], x: Array, states: list[Array], lengths: Array | None = None, **attributes: Any
) -> bytes:
    builder = Builder()
    builder.input("x", *x.shape)
    for name, array in (("h", states[0]), ("c", states[1]), ("p", flat(layers))):
        builder.constant(name, array)
    names = ["x", "h", "c", "p"]
    if lengths is not None:
        builder.constant("lengths", lengths)
        names.append("lengths")
    direction = b"bidirectional" if len(layers[0]) == 2 else b"unidirectional"
    operator = "CudnnRNN" if lengths is None else "CudnnRNNV3"
    kinds = {"rnn_mode": mode.encode(), "input_mode": b"linear_input", "direction": direction, "is_training": False}
    builder.node("rnn", operator, *names, **kinds, **attributes)
    for index, name in enumerate(("y", "last_h", "last_c")[: 3 if mode == "lstm" else 2]):
        builder.node(name, "Identity", f"rnn:{index}", T=(1,))
    return builder.content()


def wanted(mode: str, layers: list[Gates], x: Array, states: list[Array], lengths: Array | None) -> list[Array]:
    """onnxruntime's layers, one after the other."""
    name, order = _FOREIGN[mode]
    ends: list[list[Array]] = []
    for index, gates in enumerate(layers):
        turn = [_KINDS[mode].index(gate) for gate in order]
        joined = [{key: part[turn].reshape(-1, *part.shape[2:]) for key, part in each.items()} for each in gates]
        operands = [np.stack([each[key] for each in joined]) for key in "wr"]
        operands.append(np.stack([np.concatenate([each["bw"], each["br"]]) for each in joined]))
        count = len(gates)
        own = [state[index * count : (index + 1) * count] for state in states[: 2 if mode == "lstm" else 1]]
        attributes: dict[str, Any] = {"hidden_size": own[0].shape[2]}
        attributes["direction"] = "bidirectional" if count == 2 else "forward"
        if mode == "gru":
            attributes["linear_before_reset"] = 1
        if name == "RNN":
            attributes["activations"] = [mode.removeprefix("rnn_").capitalize()] * count
        y, *last = run(name, x, *operands, lengths, *own, outputs=3 if mode == "lstm" else 2, **attributes)
        ends.append(last)
        x = y.transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1)
    return [x, *(np.concatenate(each) for each in zip(*ends, strict=True))]


@pytest.mark.parametrize("mode", _KINDS)
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("with_lengths", [False, True])
def test_as_onnxruntime(mode: str, directions: int, count: int, with_lengths: bool, tmp_path: Path) -> None:
    time, batch, size, units = 5, 3, 4, 6
    layers = [layer(mode, size if index == 0 else directions * units, units, directions) for index in range(count)]
    x = drawn(time, batch, size)
    states = [drawn(count * directions, batch, units) for _ in range(2)]
    lengths = np.array([5, 2, 3], np.int32) if with_lengths else None
    got = results(graph(mode, layers, x, states, lengths), tmp_path, {"x": x})
    for name, want in zip(("y", "last_h", "last_c"), wanted(mode, layers, x, states, lengths), strict=False):
        np.testing.assert_allclose(got[name], want, rtol=1e-5, atol=1e-5, err_msg=name)


def test_batches_first(tmp_path: Path) -> None:
    layers, x = [layer("lstm", 4, 6, 1)], drawn(3, 5, 4)
    states = [drawn(3, 1, 6) for _ in range(2)]
    lengths = np.full(3, 5, np.int32)
    got = results(graph("lstm", layers, x, states, lengths, time_major=False), tmp_path, {"x": x})
    turned = [array.transpose(1, 0, 2) for array in (x, *states)]
    want = wanted("lstm", layers, turned[0], turned[1:], lengths)
    for name, array in zip(("y", "last_h", "last_c"), want, strict=True):
        np.testing.assert_allclose(got[name], array.transpose(1, 0, 2), rtol=1e-5, atol=1e-5)


def test_refusals(tmp_path: Path) -> None:
    layers, x, states = [layer("gru", 4, 6, 1)], drawn(5, 3, 4), [drawn(1, 3, 6) for _ in range(2)]
    with pytest.raises(ConversionError, match="a projection is unsupported"):
        results(graph("gru", layers, x, states, num_proj=2), tmp_path, {"x": x})
    layers[0][0]["br"] = layers[0][0]["br"][:1]
    with pytest.raises(ConversionError, match=r"1 layers of 6 units and 4 inputs have 216 parameters, not 204"):
        results(graph("gru", layers, x, states), tmp_path, {"x": x})


@pytest.mark.frameworks
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["lstm", "gru"])
def test_as_keras(mode: str, tmp_path: Path) -> None:
    """Keras computes the same on a CPU; its kernels are cuDNN's turned, and its GRU's gates stand in the order z r h."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed (the extra tf)")
    kind = tf.keras.layers.LSTM if mode == "lstm" else tf.keras.layers.GRU
    keras = kind(6, return_sequences=True, bias_initializer="random_normal")
    x = drawn(3, 5, 4)
    want = keras(x).numpy()
    kernel, recurrent, bias = (weight.numpy() for weight in keras.weights)
    order = (0, 1, 2, 3) if mode == "lstm" else (1, 0, 2)
    cut = {key: np.split(array.T, len(order)) for key, array in (("w", kernel), ("r", recurrent))}
    rows = bias if mode == "gru" else np.stack([0 * bias, bias])
    cut |= {key: np.split(row, len(order)) for key, row in (("bw", rows[0]), ("br", rows[1]))}
    gates = {key: np.stack([parts[gate] for gate in order]) for key, parts in cut.items()}
    zeros = [np.zeros((1, 3, 6), np.float32)] * 2
    turned = x.transpose(1, 0, 2)
    got = results(graph(mode, [[gates]], turned, zeros), tmp_path, {"x": turned})
    np.testing.assert_allclose(got["y"].transpose(1, 0, 2), want, rtol=1e-5, atol=1e-5)

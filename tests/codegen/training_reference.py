"""Small networks and optimizers in NumPy (float64), the reference for training in generated C.

Images are [batch, h, w, c], weights of convolutions [out, kh, kw, in].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, np.dtype[np.float64]]

_BETA1, _BETA2, _ALPHA = (float(np.float32(number)) for number in (0.9, 0.999, 0.99))
"""Rounds to float32."""


class Layer(ABC):
    """A layer. `weights`: its parameters; `backward` sets their gradients in `gradients`."""

    def __init__(self, *weights: Array) -> None:
        self.weights = list(weights)
        self.gradients: list[Array] = []

    @abstractmethod
    def forward(self, x: Array) -> Array:
        """Returns the output [batch, ...] and keeps the values that `backward` needs."""

    @abstractmethod
    def backward(self, dy: Array) -> Array:
        """Returns the gradient of the input for the gradient of the output."""


class Convolution(Layer):
    def __init__(self, weight: Array, bias: Array, pad: int) -> None:
        super().__init__(weight, bias)
        self.pad = pad

    def forward(self, x: Array) -> Array:
        edge = (self.pad, self.pad)
        self.x = np.pad(x, [(0, 0), edge, edge, (0, 0)])
        size = self.weights[0].shape[1:3]
        self.windows = np.lib.stride_tricks.sliding_window_view(self.x, size, axis=(1, 2))
        return np.einsum("bijchw,ohwc->bijo", self.windows, self.weights[0], optimize=True) + self.weights[1]

    def backward(self, dy: Array) -> Array:
        weight = self.weights[0]
        self.gradients = [np.einsum("bijchw,bijo->ohwc", self.windows, dy, optimize=True), dy.sum(axis=(0, 1, 2))]
        dx = np.zeros_like(self.x)
        for h in range(weight.shape[1]):
            for w in range(weight.shape[2]):
                dx[:, h : h + dy.shape[1], w : w + dy.shape[2]] += dy @ weight[:, h, w]
        end = -self.pad or None
        return dx[:, self.pad : end, self.pad : end]


class Dense(Layer):
    def forward(self, x: Array) -> Array:
        self.x = x
        return x @ self.weights[0].T + self.weights[1]

    def backward(self, dy: Array) -> Array:
        self.gradients = [dy.T @ self.x, dy.sum(axis=0)]
        return dy @ self.weights[0]


class Function(Layer):
    """An element-wise function and its derivative as functions of (x, y)."""

    def __init__(self, function: Callable[[Array], Array], slope: Callable[[Array, Array], Array]) -> None:
        super().__init__()
        self.function, self.slope = function, slope

    def forward(self, x: Array) -> Array:
        self.x, self.y = x, self.function(x)
        return self.y

    def backward(self, dy: Array) -> Array:
        return dy * self.slope(self.x, self.y)


def relu() -> Function:
    return Function(lambda x: np.maximum(x, 0), lambda x, y: (x > 0) * 1.0)


def tanh() -> Function:
    return Function(np.tanh, lambda x, y: 1 - y**2)


def sigmoid() -> Function:
    return Function(lambda x: 1 / (1 + np.exp(-x)), lambda x, y: y * (1 - y))


class Pool(Layer):
    """Max pooling with 2 x 2 windows and stride 2."""

    def __init__(self, maximum: bool) -> None:
        super().__init__()
        self.maximum = maximum

    def forward(self, x: Array) -> Array:
        b, h, w, c = x.shape
        self.shape = x.shape
        x = x[:, : h // 2 * 2, : w // 2 * 2]
        taps = x.reshape(b, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 5, 2, 4).reshape(b, h // 2, w // 2, c, 4)
        self.chosen = taps.argmax(axis=-1)
        return taps.max(axis=-1) if self.maximum else taps.mean(axis=-1)

    def backward(self, dy: Array) -> Array:
        b, h, w, c = self.shape
        share = (self.chosen[..., None] == np.arange(4)) * 1.0 if self.maximum else np.full((*dy.shape, 4), 0.25)
        taps = (share * dy[..., None]).reshape(b, h // 2, w // 2, c, 2, 2).transpose(0, 1, 4, 2, 5, 3)
        dx = np.zeros(self.shape)
        dx[:, : h // 2 * 2, : w // 2 * 2] = taps.reshape(b, h // 2 * 2, w // 2 * 2, c)
        return dx


class Flatten(Layer):
    """Flattens in the order [c, h, w], like ONNX."""

    def forward(self, x: Array) -> Array:
        self.shape = x.shape
        return x.transpose(0, 3, 1, 2).reshape(len(x), -1)

    def backward(self, dy: Array) -> Array:
        b, h, w, c = self.shape
        return dy.reshape(b, c, h, w).transpose(0, 2, 3, 1)


def sparse_cross_entropy(logits: Array, labels: Array) -> tuple[float, Array]:
    """Returns the mean loss and its gradient."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    gradient = np.exp(logarithms)
    gradient[rows, labels.astype(int)] -= 1
    return float(-logarithms[rows, labels.astype(int)].mean()), gradient / len(labels)


def squared_error(result: Array, target: Array) -> tuple[float, Array]:
    difference = result - target
    return float((difference**2).mean()), 2 * difference / difference.size


@dataclass
class Trainer:
    """A network, its loss and an optimizer. `step` returns the loss before the update."""

    layers: list[Layer]
    loss: Callable[[Array, Array], tuple[float, Array]]
    optimizer: str
    rate: float
    momentum: float = 0.9
    decay: float = 0.0
    clip: float | None = None
    """Maximum norm of all gradients together."""
    count: int = 0
    state: dict[int, list[Array]] = field(default_factory=dict)

    def results(self, x: Array) -> Array:
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def gradients(self, x: Array, labels: Array) -> float:
        loss, dy = self.loss(self.results(x), labels)
        for layer in reversed(self.layers):
            dy = layer.backward(dy)
        return loss

    def step(self, x: Array, labels: Array) -> float:
        loss = self.gradients(x, labels)
        self.count += 1
        norm = np.sqrt(sum((gradient**2).sum() for layer in self.layers for gradient in layer.gradients))
        factor = 1.0 if self.clip is None else min(1.0, self.clip / norm)
        for layer in self.layers:
            for weight, gradient in zip(layer.weights, layer.gradients, strict=True):
                decay = 0 if self.optimizer.startswith("Adam") else self.decay
                weight -= self.change(weight, factor * gradient + decay * weight)
        return loss

    def change(self, weight: Array, gradient: Array) -> Array:
        zeros = [np.zeros_like(weight), np.zeros_like(weight)]
        m, v = self.state.setdefault(id(weight), zeros)
        if self.optimizer == "SGD":
            return self.rate * gradient
        if self.optimizer in ("Momentum", "Nesterov"):
            m[:] = self.momentum * m + gradient
            return self.rate * (m if self.optimizer == "Momentum" else gradient + self.momentum * m)
        if self.optimizer in ("Adagrad", "RMSProp"):
            v[:] = v + gradient**2 if self.optimizer == "Adagrad" else _ALPHA * v + (1 - _ALPHA) * gradient**2
            return self.rate * gradient / (np.sqrt(v) + 1e-8)
        m[:] = _BETA1 * m + (1 - _BETA1) * gradient
        v[:] = _BETA2 * v + (1 - _BETA2) * gradient**2
        if self.optimizer == "AdamW":
            root = np.sqrt(v / (1 - _BETA2**self.count)) + 1e-8
            return self.rate * (m / (1 - _BETA1**self.count) / root + self.decay * weight)
        if self.decay or self.optimizer == "AdamWeightDecay":
            return self.rate * (m / (np.sqrt(v) + 1e-8) + self.decay * weight)
        correction = np.sqrt(1 - _BETA2**self.count) / (1 - _BETA1**self.count)
        return self.rate * correction * m / (np.sqrt(v) + 1e-8)


# ---- networks for ONNX and NumPy ----


class _Onnx:
    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def weight(self, name: str, *shape: int, fan: int | None = None) -> Array:
        """Returns float32 values as float64."""
        scale = 1 / np.sqrt(fan) if fan else 0.05
        return np.asarray((self.chance.standard_normal(shape) * scale).astype(np.float32), np.float64)

    def keep(self, name: str, data: Array) -> str:
        self.constants.append(numpy_helper.from_array(data.astype(np.float32), name))
        return name

    def add(self, op: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def save(self, path: Path, shape: list[int], output: str, result: list[int]) -> None:
        graph = helper.make_graph(
            self.nodes,
            path.stem,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, result)],
            self.constants,
        )
        opsets = [helper.make_opsetid("", 13)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def lenet(path: Path, batch: int, size: int = 8, seed: int = 3) -> list[Layer]:
    """Writes a LeNet-like network for images [batch, 1, size, size] with ten classes and a final Softmax.

    Returns its layers up to the logits.
    """
    net = _Onnx(seed)
    side = (size // 2 - 2) // 1
    c1, b1 = net.weight("c1", 6, 3, 3, 1, fan=9), net.weight("b1", 6)
    c2, b2 = net.weight("c2", 8, 3, 3, 6, fan=54), net.weight("b2", 8)
    d1, e1 = net.weight("d1", 20, 8 * side * side, fan=8 * side * side), net.weight("e1", 20)
    d2, e2 = net.weight("d2", 10, 20, fan=20), net.weight("e2", 10)

    def kchw(weight: Array) -> Array:
        return weight.transpose(0, 3, 1, 2)

    x = net.add("Conv", ["x", net.keep("c1", kchw(c1)), net.keep("b1", b1)], "conv1", pads=[1, 1, 1, 1])
    x = net.add("MaxPool", [net.add("Relu", [x], "relu1")], "pool1", kernel_shape=[2, 2], strides=[2, 2])
    x = net.add("Tanh", [net.add("Conv", [x, net.keep("c2", kchw(c2)), net.keep("b2", b2)], "conv2")], "tanh2")
    x = net.add("Flatten", [x], "flat")
    x = net.add("Gemm", [x, net.keep("d1", d1), net.keep("e1", e1)], "dense1", transB=1)
    x = net.add("Gemm", [net.add("Relu", [x], "relu3"), net.keep("d2", d2), net.keep("e2", e2)], "dense2", transB=1)
    net.save(path, [batch, 1, size, size], net.add("Softmax", [x], "probabilities", axis=1), [batch, 10])
    layers: list[Layer] = [Convolution(c1, b1, 1), relu(), Pool(True), Convolution(c2, b2, 0), tanh(), Flatten()]
    return [*layers, Dense(d1, e1), relu(), Dense(d2, e2)]


def autoencoder(path: Path, batch: int, width: int = 64, seed: int = 4) -> list[Layer]:
    """An autoencoder like MLPerf Tiny's anomaly detection: fully connected layers with ReLU and a narrow middle."""
    net = _Onnx(seed)
    layers: list[Layer] = []
    sizes = [width, 32, 32, 8, 32, 32, width]
    x = "x"
    for number, (depth, out) in enumerate(pairwise(sizes)):
        weight, bias = net.weight(f"w{number}", out, depth, fan=depth), net.weight(f"b{number}", out)
        x = net.add(
            "Gemm", [x, net.keep(f"w{number}", weight), net.keep(f"b{number}", bias)], f"dense{number}", transB=1
        )
        layers.append(Dense(weight, bias))
        if number < len(sizes) - 2:
            x = net.add("Relu", [x], f"relu{number}")
            layers.append(relu())
    net.save(path, [batch, width], x, [batch, width])
    return layers

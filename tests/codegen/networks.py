"""Quantized networks with random weights in the shapes of MLPerf Tiny, for checkouts without the original ones."""

from __future__ import annotations

import sys
from math import prod, sqrt
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "parsers" / "tflite"))
from tflite_build import Graph, Operator, Tensor, build

_SAME, _VALID = 0, 1


class Network:
    """Builds an int8 network layer by layer. Each method takes and returns tensor indices; -1 is the latest tensor.

    `largest`: maximum magnitude of weights; `density`: share of nonzero weights; `packed`: weights are stored as INT4.
    """

    def __init__(self, *shape: int, largest: int = 127, density: float = 1.0, packed: bool = False) -> None:
        self._chance = np.random.default_rng(7)
        self._largest = largest
        self._density = density
        self._packed = packed
        self._tensors = [Tensor("input", shape, "int8", quant=(0.05, -3))]
        self._operators: list[Operator] = []
        self.latest = 0

    def _add(
        self, name: str, inputs: list[int], shape: tuple[int, ...], scale: float, zero: int, **options: object
    ) -> int:
        self._tensors.append(Tensor(f"{name.lower()}_{len(self._tensors)}", shape, "int8", quant=(scale, zero)))
        self.latest = len(self._tensors) - 1
        self._operators.append(Operator(name, inputs, [self.latest], **options))  # type: ignore[arg-type]
        return self.latest

    def _layer(
        self,
        name: str,
        x: int,
        weights: tuple[int, ...],
        axis: int,
        shape: tuple[int, ...],
        relu: bool,
        **options: object,
    ) -> int:
        scale_in = self._tensors[x].quant[0]  # type: ignore[index]
        channels = weights[axis]
        scales = [float(value) for value in self._chance.uniform(0.004, 0.012, channels)]
        if name == "FULLY_CONNECTED":
            scales = [0.008]
        values = self._chance.integers(-self._largest, self._largest + 1, weights).astype(np.int8)
        if self._density < 1:
            values *= self._chance.random(weights) < self._density
        bias = self._chance.integers(-4000, 4000, channels).astype(np.int32)
        quant = (scales, [0] * len(scales)) if len(scales) > 1 else (scales[0], 0)
        bias_scales = [scale * scale_in for scale in scales]  # type: ignore[operator]
        bias_quant = (bias_scales, [0] * len(scales)) if len(scales) > 1 else (bias_scales[0], 0)
        label = f"weights_{len(self._tensors)}"
        self._tensors.append(Tensor(label, weights, "int8", values, quant, axis=axis, packed=self._packed))
        self._tensors.append(Tensor(f"bias_{len(self._tensors)}", (channels,), "int32", bias, bias_quant))
        inputs = [x, len(self._tensors) - 2, len(self._tensors) - 1]
        scale = float(scale_in * 0.008 * sqrt(values.size / channels) * 80 * self._largest / 127)  # type: ignore[operator]
        return self._add(name, inputs, shape, scale, -128 if relu else 4, **options)

    def _shape(self, x: int) -> tuple[int, ...]:
        return tuple(self._tensors[x].shape)

    def convolution(
        self, channels: int, kernel: tuple[int, int], stride: int = 1, relu: bool = True, x: int = -1
    ) -> int:
        """Adds a convolution with SAME padding."""
        x = self.latest if x < 0 else x
        n, h, w, c = self._shape(x)
        options = {
            0: ("byte", _SAME),
            1: ("int", stride),
            2: ("int", stride),
            3: ("byte", int(relu)),
            4: ("int", 1),
            5: ("int", 1),
        }
        shape = (n, -(-h // stride), -(-w // stride), channels)
        return self._layer(
            "CONV_2D", x, (channels, *kernel, c), 0, shape, relu, options=options, options_type="Conv2DOptions"
        )

    def depthwise(self, kernel: tuple[int, int], stride: int = 1) -> int:
        n, h, w, c = self._shape(self.latest)
        options = {
            0: ("byte", _SAME),
            1: ("int", stride),
            2: ("int", stride),
            3: ("int", 1),
            4: ("byte", 1),
            5: ("int", 1),
            6: ("int", 1),
        }
        shape = (n, -(-h // stride), -(-w // stride), c)
        return self._layer(
            "DEPTHWISE_CONV_2D",
            self.latest,
            (1, *kernel, c),
            3,
            shape,
            True,
            options=options,
            options_type="DepthwiseConv2DOptions",
        )

    def dense(self, units: int, relu: bool = True) -> int:
        n, *rest = self._shape(self.latest)
        options = {0: ("byte", int(relu))}
        return self._layer(
            "FULLY_CONNECTED",
            self.latest,
            (units, prod(rest)),
            0,
            (n, units),
            relu,
            options=options,
            options_type="FullyConnectedOptions",
        )

    def add(self, a: int, b: int) -> int:
        scale = 1.3 * max(self._tensors[a].quant[0], self._tensors[b].quant[0])  # type: ignore[index,type-var]
        return self._add(
            "ADD", [a, b], self._shape(a), float(scale), -128, options={0: ("byte", 1)}, options_type="AddOptions"
        )

    def average(self) -> int:
        """Adds the mean of each channel over the image."""
        n, h, w, c = self._shape(self.latest)
        scale, zero = self._tensors[self.latest].quant  # type: ignore[misc]
        options = {0: ("byte", _VALID), 1: ("int", w), 2: ("int", h), 3: ("int", w), 4: ("int", h), 5: ("byte", 0)}
        return self._add(
            "AVERAGE_POOL_2D", [self.latest], (n, 1, 1, c), scale, zero, options=options, options_type="Pool2DOptions"
        )  # type: ignore[arg-type]

    def softmax(self) -> int:
        return self._add(
            "SOFTMAX",
            [self.latest],
            self._shape(self.latest),
            1 / 256,
            -128,
            options={0: ("float", 1.0)},
            options_type="SoftmaxOptions",
        )

    def bytes(self) -> bytes:
        """Returns the file; inputs and outputs are int8."""
        return build(Graph(self._tensors, [0], [self.latest], self._operators))


def resnet8(**weights: float) -> bytes:
    """ResNet-8 for images of 32 × 32. `weights`: see Network."""
    net = Network(1, 32, 32, 3, **weights)  # type: ignore[arg-type]
    x = net.convolution(16, (3, 3))
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        net.convolution(channels, (3, 3), stride, x=x)
        y = net.convolution(channels, (3, 3), relu=False)
        if stride > 1:
            x = net.convolution(channels, (1, 1), stride, relu=False, x=x)
        x = net.add(x, y)
    net.average()
    net.dense(10, relu=False)
    net.softmax()
    return net.bytes()


def autoencoder(**weights: float) -> bytes:
    """The fully connected autoencoder for anomaly detection in sound."""
    net = Network(1, 640, **weights)  # type: ignore[arg-type]
    for units in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        net.dense(units)
    net.dense(640, relu=False)
    return net.bytes()


def keywords(channels: int = 16) -> bytes:
    """A small network for keyword spotting: depthwise and pointwise convolutions."""
    net = Network(1, 49, 10, 1)
    net.convolution(channels, (10, 4), 2)
    for _ in range(2):
        net.depthwise((3, 3))
        net.convolution(channels, (1, 1))
    net.average()
    net.dense(12, relu=False)
    net.softmax()
    return net.bytes()

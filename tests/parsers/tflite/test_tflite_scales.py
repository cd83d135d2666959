"""Negative scales of TensorFlow Lite files: those of weights as LiteRT computes them, others by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from integer_models import Case, Operand, assert_same_bits
from test_tflite_integer_products import Weight
from tflite_build import Graph, Operator, Tensor, build

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.tflite import parse

CHANNELS = [0.01, -0.02, 0.03, -0.04]


def convolution(scales: list[float], least: int) -> Case:
    random = np.random.default_rng(5)
    data = np.maximum(random.integers(-128, 128, (4, 2, 2, 3)), least).astype(np.int8)
    data.flat[0] = least
    x = Operand(random.integers(-128, 128, (1, 4, 4, 3)).astype(np.int8), 0.05, 3)
    bias = random.integers(-300, 300, 4).astype(np.int32)
    factors = [float(np.float32(0.05) * np.float32(scale)) for scale in scales]
    weight = Weight(data, constant=True, scales=scales)
    result = Operand(np.zeros((1, 3, 3, 4), np.int8), 0.3, -4)
    options = ("Conv2DOptions", {0: ("byte", 1), 1: ("int", 1), 2: ("int", 1)})
    return Case("CONV_2D", [x, weight, Weight(bias, constant=True, scales=factors)], result, options)


@pytest.mark.parametrize("scales", [CHANNELS, [-0.02]])
def test_weights(scales: list[float], tmp_path: Path) -> None:
    assert_same_bits([convolution(scales, -127)], tmp_path)


def dequantized(scale: float, is_constant: bool) -> bytes:
    """ADD of an input and of int8 numbers with this scale."""
    data = np.arange(-128, -116, dtype=np.int8).reshape(3, 4)
    tensors = [
        Tensor("q", (3, 4), "int8", data if is_constant else None, (scale, 0)),
        Tensor("f", (3, 4)),
        Tensor("x", (3, 4)),
        Tensor("y", (3, 4)),
    ]
    operators = [Operator("DEQUANTIZE", [0], [1]), Operator("ADD", [2, 1], [3], {}, "AddOptions")]
    return build(Graph(tensors, [2] if is_constant else [2, 0], [3], operators))


@pytest.mark.parametrize(("scale", "is_constant"), [(-0.5, False), (float("nan"), True), (float("inf"), False)])
def test_what_is_refused_is_named(scale: float, is_constant: bool, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(dequantized(scale, is_constant))
    with pytest.raises(ConversionError, match="'q' has the scale"):
        parse(path)


def test_constants_mean_what_they_did(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(dequantized(-0.5, True))
    module = parse(path)
    (numbers,) = [value for node in module.main.nodes for value in node.inputs if value.name != "x"]
    np.testing.assert_array_equal(numbers.array(), -0.5 * np.arange(-128, -116).reshape(3, 4))

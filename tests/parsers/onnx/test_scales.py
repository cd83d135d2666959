"""Scales that are negative, zero, infinite or no numbers: onnxruntime computes with them as with any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto

from .helper import Array, check, compute, make_model, node, random, reference
from .microsoft import DOMAIN, foreign
from .test_quantized import lowered

CHANNELS: dict[str, Array] = {
    "negative": np.float32([0.01, -0.02, 0.03, -0.04]),
    "all_negative": np.float32([-0.01, -0.02, -0.03, -0.04]),
    "zero": np.float32([0.01, 0, 0.03, -0.0]),
    "not_a_number": np.float32([0.01, np.nan, 0.03, -0.04]),
    "subnormal": np.float32([0.01, 1e-42, -1e-42, 0.04]),
    "one": np.array(-0.02, np.float32),
    "one_zero": np.array(0, np.float32),
}
TYPES = [np.int8, np.uint8, np.int16]
READERS: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, dict[str, Any]]] = {
    "MatMul": ((2, 6), (6, 4), 1, {}),
    "Gemm": ((2, 6), (4, 6), 0, {"transB": 1}),
    "Conv": ((1, 3, 5, 5), (4, 3, 3, 3), 0, {}),
    "ConvTranspose": ((1, 3, 5, 5), (3, 4, 3, 3), 1, {}),
    "Add": ((4, 3), (4, 3), 0, {}),
}
"""Shapes of the activation and the weight, the dimension that has scales, attributes."""


def whole_range(dtype: Any, *shape: int) -> Array:
    """Integers of all magnitudes, the least one among them, whose negative its type does not have."""
    limits = np.iinfo(dtype)
    numbers = np.random.default_rng(3).integers(limits.min, limits.max + 1, shape).astype(dtype)
    numbers.flat[:2] = limits.min, limits.max
    return numbers


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("scales", CHANNELS)
@pytest.mark.parametrize("reader", READERS)
def test_weights(reader: str, scales: str, dtype: Any, tmp_path: Path) -> None:
    x_shape, shape, axis, attributes = READERS[reader]
    scale = CHANNELS[scales]
    zero = whole_range(dtype, 4) if scale.ndim else np.array(5, dtype)
    nodes = [
        node("DequantizeLinear", ["w", "s", "z"], ["f"], axis=axis),
        node(reader, ["x", "f"], ["y"], **attributes),
    ]
    inputs = {"x": random(*x_shape)}
    model = make_model(nodes, inputs, ["y"], {"w": whole_range(dtype, *shape), "s": scale, "z": zero}, opset=21)
    check(model, inputs, tmp_path)


@pytest.mark.parametrize("scale", [-0.02, 0.0, np.inf])
def test_rows_of_a_table(scale: float, tmp_path: Path) -> None:
    nodes = [node("DequantizeLinear", ["w", "s", "z"], ["f"]), node("Gather", ["f", "x"], ["y"])]
    constants = {"w": whole_range(np.int8, 4, 3), "s": np.array(scale, np.float32), "z": np.array(7, np.int8)}
    inputs = {"x": np.array([3, 0, 1])}
    check(make_model(nodes, inputs, ["y"], constants, opset=21), inputs, tmp_path)


def cast_twice(x: str, y: str, scale: str, zero: str) -> list[NodeProto]:
    return [
        node("QuantizeLinear", [x, scale, zero], [f"{y}_stored"]),
        node("DequantizeLinear", [f"{y}_stored", scale, zero], [y]),
    ]


@pytest.mark.parametrize("least", [-127, -128])
@pytest.mark.parametrize("scales", ["negative", "all_negative", "zero", "one"])
@pytest.mark.parametrize("bias", ["stored", "real"])
def test_convolutions_on_integers(bias: str, scales: str, least: int, tmp_path: Path) -> None:
    weight = np.maximum(whole_range(np.int8, 4, 3, 3, 3), least).astype(np.int8)
    constants = {
        "w": weight, "s": CHANNELS[scales], "b": np.array([300, -200, 100, 77], np.int32),
        "bs": np.asarray(np.float32(0.05) * CHANNELS[scales], np.float32), "real_bias": random(4),
        "xs": np.array(0.05, np.float32), "xz": np.array(3, np.int8),
        "ys": np.array(0.11, np.float32), "yz": np.array(-4, np.int8),
    }  # fmt: skip
    nodes = [
        *cast_twice("x", "xr", "xs", "xz"),
        node("DequantizeLinear", ["w", "s"], ["wr"], axis=0),
        node("DequantizeLinear", ["b", "bs"], ["br"], axis=0),
        node("Conv", ["xr", "wr", "br" if bias == "stored" else "real_bias"], ["c"]),
        *cast_twice("c", "y", "ys", "yz"),
    ]
    inputs = {"x": random(1, 3, 5, 5)}
    model = make_model(nodes, inputs, ["y"], constants, opset=21)
    (actual,), (expected,) = compute(model, inputs, tmp_path), reference(model, inputs)
    off = np.abs(actual - expected)
    assert off.max() <= 0.11 * 1.001
    assert (off > 0.001).mean() <= 0.03, "only what lies half-way between two steps may differ"


@pytest.mark.parametrize("scale", [-0.05, 0.0, np.inf])
@pytest.mark.parametrize("dtype", TYPES)
def test_activations(dtype: Any, scale: float, tmp_path: Path) -> None:
    nodes = [
        *cast_twice("x", "xr", "s", "z"),
        node("Relu", ["xr"], ["r"]),
        *cast_twice("r", "y", "s", "z"),
    ]
    inputs = {"x": random(2, 6)}
    model = make_model(nodes, inputs, ["y"], {"s": np.array(scale, np.float32), "z": np.array(3, dtype)}, opset=21)
    check(model, inputs, tmp_path)


def test_inputs(tmp_path: Path) -> None:
    inputs = {"x": whole_range(np.int8, 2, 6)}
    constants = {"s": np.array(-0.5, np.float32), "z": np.array(3, np.int8)}
    model = make_model([node("DequantizeLinear", ["x", "s", "z"], ["y"])], inputs, ["y"], constants, opset=21)
    check(model, inputs, tmp_path)


def test_blocks(tmp_path: Path) -> None:
    nodes = [node("DequantizeLinear", ["w", "s"], ["f"], axis=0, block_size=3), node("MatMul", ["x", "f"], ["y"])]
    inputs = {"x": random(2, 6)}
    check(make_model(nodes, inputs, ["y"], {"w": whole_range(np.int8, 6, 4), "s": random(2, 4)}, 21), inputs, tmp_path)


@pytest.mark.parametrize("operator", ["MatMulNBits", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"])
def test_products_of_onnxruntime(operator: str, tmp_path: Path) -> None:
    scales = -np.abs(random(8)) - np.float32(0.01)
    attributes: dict[str, Any] = {}
    inputs: dict[str, Array] = {"x": random(2, 32)}
    # Of 7 bits: without VNNI, onnxruntime saturates the sum of two products at 16 bits.
    constants: dict[str, Array] = {"w": whole_range(np.int8, 32, 8) >> 1, "s": scales}
    if operator == "MatMulNBits":
        attributes = {"N": 4, "K": 32, "bits": 4, "block_size": 16}
        constants["w"] = whole_range(np.uint8, 4, 2, 8)
    elif operator == "MatMulIntegerToFloat":
        inputs = {"x": whole_range(np.uint8, 2, 32)}
        constants = {"w": constants["w"], "xs": np.array(-0.1, np.float32), "s": scales}
    model = foreign(operator, inputs, constants, opset=21, **attributes)
    assert model.graph.node[0].domain == DOMAIN
    check(model, inputs, tmp_path, tolerance=1e-4)


def test_negated_weights_stay_stored() -> None:
    """Nothing becomes larger, and weights without a zero point get none where negating them is possible."""
    weight = np.maximum(whole_range(np.int8, 4, 3, 3, 3), -127).astype(np.int8)
    nodes = [node("DequantizeLinear", ["w", "s"], ["f"], axis=0), node("Conv", ["x", "f"], ["y"])]
    constants = {"w": weight, "s": CHANNELS["negative"]}
    module = lowered(make_model(nodes, {"x": random(1, 3, 5, 5)}, ["y"], constants, opset=21))
    (stored,) = [value for made in module.main.nodes for value in made.inputs if value.quant]
    assert stored.array().dtype == np.int8
    assert all(record.scale > 0 and record.zeroPoint == 0 for record in stored.quant)

"""Small ONNX models for the tests of the converter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def weight(name: str, *shape: int) -> onnx.TensorProto:
    draw = np.random.default_rng([len(name), *shape])
    return numpy_helper.from_array(draw.uniform(-1, 1, shape).astype(np.float32), name)


def save(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, Sequence[int | str]],
    outputs: dict[str, Sequence[int | str]],
    initializers: Sequence[onnx.TensorProto] = (),
    kind: int = FLOAT,
) -> Path:
    graph = helper.make_graph(
        list(nodes),
        "test",
        [helper.make_tensor_value_info(name, kind, list(shape)) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, kind, list(shape)) for name, shape in outputs.items()],
        list(initializers),
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def small_network(path: Path, batch: int | str = 1) -> Path:
    """Convolution, batch normalization, ReLU, global pooling, flatten, Gemm."""
    nodes = [
        helper.make_node("Conv", ["image", "w", "b"], ["conv"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["conv", "g", "o", "m", "v"], ["norm"]),
        helper.make_node("Relu", ["norm"], ["relu"]),
        helper.make_node("GlobalAveragePool", ["relu"], ["pool"]),
        helper.make_node("Flatten", ["pool"], ["flat"]),
        helper.make_node("Gemm", ["flat", "fw", "fb"], ["scores"], transB=1),
    ]
    variance = numpy_helper.from_array(np.array([1, 2, 0.5, 1.5], np.float32), "v")
    constants = [weight("w", 4, 2, 3, 3), weight("b", 4), weight("g", 4), weight("o", 4), weight("m", 4), variance]
    constants += [weight("fw", 3, 4), weight("fb", 3)]
    return save(path, nodes, {"image": [batch, 2, 6, 5]}, {"scores": [batch, 3]}, constants)


def quantized_network(path: Path) -> Path:
    """Two convolutions between QuantizeLinear and DequantizeLinear: int8 weights per channel, uint8 activations."""
    constants = []

    def number(name: str, value: float | Sequence[float], dtype: type[np.generic]) -> str:
        constants.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def rounded(source: str, scale: float, zero: int) -> tuple[list[onnx.NodeProto], str]:
        operands = [number(f"{source}_s", scale, np.float32), number(f"{source}_z", zero, np.uint8)]
        return [
            helper.make_node("QuantizeLinear", [source, *operands], [f"{source}_q"]),
            helper.make_node("DequantizeLinear", [f"{source}_q", *operands], [f"{source}_r"]),
        ], f"{source}_r"

    def convolution(source: str, name: str, channels: int, scale: float) -> list[onnx.NodeProto]:
        q = np.random.default_rng(len(name) + channels).integers(-127, 128, (4, channels, 3, 3)).astype(np.int8)
        constants.append(numpy_helper.from_array(q, f"{name}_q"))
        scales = [scale * (1 + channel) for channel in range(4)]
        operands = [f"{name}_q", number(f"{name}_s", scales, np.float32), number(f"{name}_z", [0] * 4, np.int8)]
        return [
            helper.make_node("DequantizeLinear", operands, [name], axis=0),
            helper.make_node("Conv", [source, name], [f"{name}_y"], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", [f"{name}_y"], [f"{name}_relu"]),
        ]

    first, a = rounded("image", 1 / 127, 128)
    second, b = rounded("w1_relu", 0.071, 0)
    third, c = rounded("w2_relu", 0.113, 0)
    nodes = [*first, *convolution(a, "w1", 2, 0.003), *second, *convolution(b, "w2", 4, 0.0007), *third]
    nodes.append(helper.make_node("Flatten", [c], ["scores"]))
    return save(path, nodes, {"image": [1, 2, 6, 5]}, {"scores": [1, 120]}, constants)

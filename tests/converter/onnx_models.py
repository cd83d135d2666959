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
    """Convolution, batch normalisation, ReLU, global pooling, flatten, Gemm."""
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

"""Writes a small transformer as an ONNX file in the form of exporters, with named weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model

from .files import Array

ROWS, HEADS, CLASSES = 8, 4, 5
PRODUCTS = ("q", "k", "v", "o", "up", "down")
"""The matmuls of a block."""


@dataclass(frozen=True)
class Sizes:
    blocks: int = 2
    width: int = 32
    length: int = 12
    """Tokens per sentence."""
    words: int = 40
    """Size of the vocabulary."""


SMALL = Sizes()


class _Writer:
    def __init__(self, seed: int, sizes: Sizes) -> None:
        self.sizes = sizes
        self.random = np.random.default_rng(seed)
        self.weights: dict[str, Array] = {}
        self.numbers: list[TensorProto] = []
        self.nodes: list[object] = []

    def node(self, op: str, inputs: list[str], name: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def weight(self, name: str, *shape: int) -> str:
        scale = shape[0] ** -0.5 if len(shape) > 1 else 0.1
        self.weights[name] = (scale * self.random.standard_normal(shape)).astype(np.float32)
        return name

    def integers(self, name: str, *numbers: int) -> str:
        self.numbers.append(numpy_helper.from_array(np.asarray(numbers, np.int64), name))
        return name

    def linear(self, x: str, name: str, rows: int, columns: int) -> str:
        product = self.node("MatMul", [x, self.weight(f"{name}.weight", rows, columns)], f"{name}/MatMul")
        return self.node("Add", [product, self.weight(f"{name}.bias", columns)], f"{name}/Add")

    def norm(self, x: str, name: str) -> str:
        width = self.sizes.width
        scale, offset = self.weight(f"{name}.weight", width), self.weight(f"{name}.bias", width)
        self.weights[scale] += 1
        return self.node("LayerNormalization", [x, scale, offset], f"{name}/Norm", axis=-1, epsilon=1e-5)

    def heads(self, x: str, name: str, places: list[int]) -> str:
        split = self.node("Reshape", [x, "split"], f"{name}/split")
        return self.node("Transpose", [split], f"{name}/heads", perm=places)

    def block(self, x: str, name: str) -> str:
        width = self.sizes.width
        y = self.norm(x, f"{name}.norm1")
        q, k, v = (self.linear(y, f"{name}.{one}", width, width) for one in "qkv")
        q, v = (self.heads(one, one, [0, 2, 1, 3]) for one in (q, v))
        scores = self.node("MatMul", [q, self.heads(k, k, [0, 2, 3, 1])], f"{name}/scores")
        shares = self.node("Softmax", [scores], f"{name}/Softmax", axis=-1)
        mixed = self.node(
            "Transpose", [self.node("MatMul", [shares, v], f"{name}/mixed")], f"{name}/turned", perm=[0, 2, 1, 3]
        )
        joined = self.node("Reshape", [mixed, "join"], f"{name}/joined")
        x = self.node("Add", [x, self.linear(joined, f"{name}.o", width, width)], f"{name}/first")
        up = self.linear(self.norm(x, f"{name}.norm2"), f"{name}.up", width, 2 * width)
        down = self.linear(self.node("Relu", [up], f"{name}/Relu"), f"{name}.down", 2 * width, width)
        return self.node("Add", [x, down], f"{name}/second")


def transformer(path: Path, sizes: Sizes = SMALL, seed: int = 1) -> dict[str, Array]:
    """Writes the model: `ids` [8, length] to `head/Add` [8, 5]. Returns the weights by name; those of matmuls are [in, out]."""
    net = _Writer(seed, sizes)
    width = sizes.width
    net.integers("split", ROWS, sizes.length, HEADS, width // HEADS)
    net.integers("join", ROWS, sizes.length, width)
    net.integers("middle", 1)
    x = net.node("Gather", [net.weight("words", sizes.words, width), "ids"], "embedded", axis=0)
    for number in range(sizes.blocks):
        x = net.block(x, f"block{number}")
    mean = net.node("ReduceMean", [net.norm(x, "norm"), "middle"], "mean", keepdims=0)
    scores = net.linear(mean, "head", width, CLASSES)
    constants = [*net.numbers, *(numpy_helper.from_array(data, name) for name, data in net.weights.items())]
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [ROWS, sizes.length])
    result = helper.make_tensor_value_info(scores, TensorProto.FLOAT, [ROWS, CLASSES])
    graph = helper.make_graph(net.nodes, "transformer", [ids], [result], constants)
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return net.weights


def sentences(seed: int = 0, sizes: Sizes = SMALL) -> tuple[Array, Array]:
    """Returns one batch of token ids and labels."""
    random = np.random.default_rng(seed)
    return random.integers(0, sizes.words, (ROWS, sizes.length)), random.integers(0, CLASSES, ROWS).astype(np.int32)

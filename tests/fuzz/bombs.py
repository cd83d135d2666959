"""Small ONNX models that need excessive memory, time or text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper


def model(
    nodes: Sequence[NodeProto], constants: dict[str, Any], shape: Sequence[int] = (1,), output: str = "y"
) -> ModelProto:
    """Nodes on an input of that shape, and constants: lists of int become int64."""
    graph = helper.make_graph(
        list(nodes),
        "bomb",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


_node = helper.make_node
_ONE = np.ones(1, np.float32)


def expanded(size: int) -> ModelProto:
    """A vector of `size` elements, added to the input."""
    return model([_node("Expand", ["a", "s"], ["z"]), _node("Add", ["z", "x"], ["y"])], {"a": _ONE, "s": [size]})


def _many_folds() -> ModelProto:
    """Each folded constant is small, but together they have 38 MiB."""
    nodes = []
    for index in range(600):
        nodes += [_node("Expand", ["a", "s"], [f"e{index}"]), _node("Mul", [f"e{index}", "x"], [f"z{index}"])]
    nodes.append(_node("Sum", [f"z{index}" for index in range(600)], ["y"]))
    return model(nodes, {"a": _ONE, "s": [1, 1 << 14]}, (1, 1))


def _chain_of_folds() -> ModelProto:
    """Each fold frees its inputs, but together they need 800 MiB."""
    names = ["c", *(f"v{index}" for index in range(1999)), "y"]
    nodes = [_node("Add", [name, name], [following]) for name, following in pairwise(names)]
    return model(nodes, {"c": np.ones((1, 100_000), np.float32)})


def _by_range() -> ModelProto:
    limits = {"a": np.int64(0), "b": np.int64(1 << 30), "c": np.int64(1)}
    return model([_node("Range", ["a", "b", "c"], ["z"]), _node("Gather", ["x", "z"], ["y"])], limits, (4,))


def _by_shapes() -> ModelProto:
    """A vector with a length that is known from data only, in a chain of matmuls."""
    nodes = [
        _node("Shape", ["x"], ["s0"]),
        *(_node("Mul", [f"s{index}", "k"], [f"s{index + 1}"]) for index in range(3)),
        _node("Expand", ["a", "s3"], ["z"]),
        _node("Add", ["z", "z"], ["y"]),
    ]
    return model(nodes, {"a": _ONE, "k": [1 << 10]})


BOMBS: dict[str, Callable[[], ModelProto]] = {
    "expand_2_32": lambda: expanded(1 << 32),
    "expand_2_31": lambda: expanded((1 << 31) - 1),
    "expand_2_30": lambda: expanded(1 << 30),
    "window_2_33": lambda: model([_node("HannWindow", ["s"], ["y"])], {"s": np.int64(1 << 33)}),
    "range": _by_range,
    "shapes": _by_shapes,
    "many_folds": _many_folds,
    "chain_of_folds": _chain_of_folds,
    "long_node_name": lambda: model([_node("Foo", ["x"], ["y"], name="n" * 1_000_000)], {}),
    "long_operator": lambda: model([_node("Foo" * 100_000, ["x"], ["y"])], {}),
    "long_value_name": lambda: model([_node("Relu", ["x" * 500_000], ["y"])], {}),
}

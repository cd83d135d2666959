"""`mslite.onnx_backend` as its users call it; what it computes is the suite's business."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from mslite import onnx_backend
from mslite.converter.errors import ConversionError

X = np.array([[1.0, -2.0, 3.0]], np.float32)
Y = np.array([[5.0, 7.0, 9.0]], np.float32)


def model(operator: str = "Sub") -> ModelProto:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in ("x", "y")]
    node = helper.make_node(operator, ["x", "y"], ["z"])
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("optimize", [True, False])
def test_a_prepared_model_runs_with_other_sizes(optimize: bool) -> None:
    prepared = onnx_backend.prepare(model(), optimize=optimize)
    for rows in (1, 4, 2):
        x, y = np.repeat(X, rows, 0), np.repeat(Y, rows, 0)
        np.testing.assert_array_equal(prepared.run([x, y])[0], x - y)
    np.testing.assert_array_equal(prepared.run({"y": Y, "x": X})[0], X - Y)


def test_one_node() -> None:
    node = helper.make_node("Sub", ["a", "b"], ["c"])
    np.testing.assert_array_equal(onnx_backend.run_node(node, [X, Y])[0], X - Y)
    twice = helper.make_node("Add", ["a", "a"], ["c"])
    np.testing.assert_array_equal(onnx_backend.run_node(twice, [X, X], opset_version=13)[0], X + X)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([X], "input 'y' is missing"),
        ([X, Y, X], "the model has 2 inputs, 3 were given"),
        ({"x": X, "y": Y, "w": X}, "no input 'w'"),
    ],
)
def test_wrong_inputs(inputs: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        onnx_backend.prepare(model()).run(inputs)


def test_what_it_takes() -> None:
    assert onnx_backend.supports_device("CPU")
    assert onnx_backend.supports_device("CPU:0")
    assert not onnx_backend.supports_device("CUDA")
    with pytest.raises(ValueError, match="device 'CUDA' is not supported"):
        onnx_backend.prepare(model(), "CUDA")
    assert onnx_backend.is_compatible(model())
    assert not onnx_backend.is_compatible(model("NoSuchOperator"))
    with pytest.raises(ConversionError, match="NoSuchOperator"):
        onnx_backend.run_model(model("NoSuchOperator"), [X, Y])

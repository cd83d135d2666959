"""Nodes in types that no kernel takes: casts around them, the numbers, and what is left alone."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mslite import onnx_backend
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.activation import Celu
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Abs
from mslite.converter.passes.context import Context
from mslite.converter.passes.element_type_casts import cast_unsupported_types

HIGH = 1 << 63


def chain(dtype: DataType, *operators: type) -> tuple[Module, Context]:
    values = [Value(str(index), dtype, (2, 3)) for index in range(len(operators) + 1)]
    nodes = [Node(op(), f"n{i}", (values[i],), (values[i + 1],)) for i, op in enumerate(operators)]
    return Module([Graph("main", [values[0]], [values[-1]], nodes)]), Context()


def operators(module: Module) -> list[str]:
    return [node.op.name for node in module.main.nodes]


def test_neighbors_share_their_casts() -> None:
    module, context = chain(DataType.FLOAT64, Celu, Celu)
    cast_unsupported_types(module, context)
    assert operators(module) == ["Cast", "Celu", "Celu", "Cast"]
    assert module.main.outputs[0].dtype is DataType.FLOAT64
    assert context.notes == ["2 nodes without a kernel for float64: they compute in float32"]


def test_what_a_kernel_takes_stays() -> None:
    module, context = chain(DataType.FLOAT64, Abs)
    cast_unsupported_types(module, context)
    assert operators(module) == ["Abs"]
    assert not context.notes


def model(node: onnx.NodeProto, inputs: dict[str, np.ndarray], output: tuple[int, list[int]]) -> onnx.ModelProto:
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in inputs.items()
    ]
    graph = helper.make_graph([node], "net", infos, [helper.make_tensor_value_info(node.output[0], *output)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.mark.parametrize(("operator", "wanted"), [("ReduceMax", HIGH + 5), ("ReduceMin", 3)])
def test_the_order_of_large_unsigned_integers(operator: str, wanted: int) -> None:
    x = np.array([[7, HIGH + 5, 3, HIGH]], np.uint64)
    node = helper.make_node(operator, ["x"], ["y"], keepdims=0)
    (got,) = onnx_backend.run_model(model(node, {"x": x}, (TensorProto.UINT64, [])), [x])
    assert got.dtype == np.uint64
    assert int(got.item()) == wanted


def test_sums_wrap_as_they_do_in_their_own_type() -> None:
    x = np.array([1 << 31, 1 << 31, 7], np.uint32)
    node = helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)
    (got,) = onnx_backend.run_model(model(node, {"x": x}, (TensorProto.UINT32, [])), [x])
    assert int(got.item()) == 7


def test_axes_of_the_same_type_stay_integers() -> None:
    x = np.arange(6, dtype=np.int64).reshape(2, 3)
    node = helper.make_node("ReduceL2", ["x", "axes"], ["y"], keepdims=0)
    net = model(node, {"x": x}, (TensorProto.INT64, [2]))
    net.graph.initializer.append(numpy_helper.from_array(np.array([1], np.int64), "axes"))
    (got,) = onnx_backend.run_model(net, [x])
    np.testing.assert_array_equal(got, [2, 7])

"""Small models for the tests of the interfaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser

import mslite
from mslite.converter.convert import convert
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.options import Options

Array = np.ndarray[Any, np.dtype[Any]]
WEIGHT: Array = np.random.default_rng(5).standard_normal((3, 4)).astype(np.float32)
X: Array = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]], np.float32)
FOR_EVER = np.asarray(10**15)


def wanted(x: Array) -> Array:
    """Computes the model of `dense_file`."""
    result: Array = np.maximum(x @ WEIGHT, 0)
    return result


def dense_file(path: Path) -> Path:
    """Returns y = relu(x @ WEIGHT) for x [rows, 3] with any number of rows."""
    rows = SYMBOL_LIMIT - 1
    x, y = Value("x", DataType.FLOAT32, (rows, 3)), Value("y", DataType.FLOAT32, (rows, 4))
    product = Value("product", DataType.FLOAT32, (rows, 4))
    nodes = [
        Node(MatMulFusion(), "matmul", (x, constant("weight", WEIGHT)), (product,)),
        Node(Activation(activation_type=ActivationType.RELU), "relu", (product,), (y,)),
    ]
    module_io.save(Module([Graph("main", [x], [y], nodes)]), path)
    return path


def counting_file(path: Path) -> Path:
    """Returns y = x + n, computed in n steps, so that n sets the duration of a run."""
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
        counting (int64 n, float[m] x) => (float[m] y) {
            y = Loop <body = step (int64 i, bool go, float[m] a) => (bool on, float[m] b) {
                on = Identity(go)  one = Constant <value = float {1.0}> ()  b = Add(a, one)
            }> (n, , x)
        }"""
    )
    source = path.with_suffix(".onnx")
    onnx.save(model, source)
    convert(Options(model_file=source, output_file=path))
    return path


def image_onnx(path: Path) -> Path:
    """Returns a network with one convolution for images of three channels, with any batch."""
    from onnx import TensorProto, helper, numpy_helper

    weight = np.random.default_rng(2).standard_normal((2, 3, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["image", "weight"], ["y"], pads=[1, 1, 1, 1])],
        "images",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2, 6, 6])],
        [numpy_helper.from_array(weight, "weight")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def built(path: Path, context: mslite.Context | None = None) -> mslite.Model:
    """Builds a model from a `.ms` file."""
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, context)
    return model

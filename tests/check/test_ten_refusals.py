"""Ten models of four front ends that cannot be converted: what an ordinary `converter_lite` prints names everything."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mslite.converter import cli
from tests.parsers.caffe import helper as caffe
from tests.parsers.tf.graphs import Builder
from tests.parsers.tflite.tflite_build import Graph, Operator, Tensor, build

Model = Callable[[Path], list[str]]
NOT_KNOWN = "share of the FLOPs not known"


def write_onnx(folder: Path, nodes: list[onnx.NodeProto], shapes: dict[str, list[int]] | None = None) -> list[str]:
    """The input `x` is [1, 3, 16, 16]; the output is `y`; weights `w` are [8, 3, 3, 3] and `v` [16, 8, 3, 3]."""
    random = np.random.default_rng(0)
    sizes = {"w": (8, 3, 3, 3), "v": (16, 8, 3, 3), "odd": (1, 3, 5, 7)}
    constants = [numpy_helper.from_array(random.random(size, np.float32), name) for name, size in sizes.items()]
    known = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (shapes or {}).items()]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "net", [x], [y], constants, value_info=known)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)]
    onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=8), folder / "net.onnx")
    return [f"--modelFile={folder / 'net.onnx'}"]


def onnx_unknown_operators(folder: Path) -> list[str]:
    stem = helper.make_node("Conv", ["x", "w"], ["a"], name="stem")
    mine = helper.make_node("MyConv", ["a", "v"], ["b"], name="mine", domain="acme")
    foo = helper.make_node("Foo", ["b"], ["y"], name="foo")
    return write_onnx(folder, [stem, mine, foo], {"b": [1, 16, 12, 12]})


def onnx_attributes(folder: Path) -> list[str]:
    stem = helper.make_node("Conv", ["x", "w"], ["a"], name="stem", strange=1)
    relu = helper.make_node("LeakyRelu", ["a"], ["y"], name="leaky", odd=1.0)
    return write_onnx(folder, [stem, relu])


def onnx_shapes(folder: Path) -> list[str]:
    stem = helper.make_node("Conv", ["x", "w"], ["a"], name="stem")
    add = helper.make_node("Add", ["x", "odd"], ["b"], name="mismatch")
    wrong = helper.make_node("Conv", ["a", "w"], ["c"], name="channels")
    return write_onnx(folder, [stem, add, wrong, helper.make_node("Concat", ["b", "c"], ["y"], name="both", axis=1)])


def onnx_stages(folder: Path) -> list[str]:
    """One node that the front end refuses, one that only inference does."""
    foo = helper.make_node("Foo", ["x"], ["a"], name="foo")
    add = helper.make_node("Add", ["x", "odd"], ["b"], name="mismatch")
    return write_onnx(folder, [foo, add, helper.make_node("Mul", ["a", "b"], ["y"], name="behind")])


def write_tflite(folder: Path, tensors: list[Tensor], operators: list[Operator]) -> list[str]:
    graph = Graph(tensors, [0], [len(tensors) - 1], operators)
    (folder / "net.tflite").write_bytes(build(graph))
    return [f"--modelFile={folder / 'net.tflite'}"]


def tflite_custom(folder: Path) -> list[str]:
    tensors = [Tensor("x", (2, 3)), Tensor("a", (2, 3)), Tensor("b", (2, 3)), Tensor("y", (2, 3))]
    return write_tflite(
        folder,
        tensors,
        [Operator("CUSTOM:foo", [0], [1]), Operator("RELU", [1], [2]), Operator("CUSTOM:bar", [2], [3])],
    )


def tflite_types(folder: Path) -> list[str]:
    tensors = [Tensor("x", (2, 3)), Tensor("a", (2, 3), kind="FLOAT8_E5M2"), Tensor("y", (2, 3))]
    return write_tflite(folder, tensors, [Operator("CAST", [0], [1]), Operator("CAST", [1], [2])])


def write_tensorflow(folder: Path, graph: Builder) -> list[str]:
    (folder / "net.pb").write_bytes(graph.content())
    return ["--fmk=TF", f"--modelFile={folder / 'net.pb'}"]


def tensorflow_operators(folder: Path) -> list[str]:
    graph = Builder()
    graph.input("x", 2, 3)
    graph.node("stem", "Relu", "x")
    graph.node("foo", "NoSuchOperator", "stem")
    graph.node("bar", "NorThisOne", "stem")
    graph.node("y", "Add", "foo", "bar")
    return write_tensorflow(folder, graph)


def tensorflow_strings(folder: Path) -> list[str]:
    graph = Builder()
    graph.input("x", 2, 3)
    graph.node("text", "AsString", "x")
    graph.node("y", "StringLength", "text")
    return write_tensorflow(folder, graph)


def write_caffe(folder: Path, layers: str) -> list[str]:
    text, weights = caffe.write(folder, caffe.network(layers, {"x": caffe.random(1, 3, 4, 4)}))
    return ["--fmk=CAFFE", f"--modelFile={text}", f"--weightFile={weights}"]


def caffe_layers(folder: Path) -> list[str]:
    return write_caffe(
        folder,
        """
layer { name: "stem" type: "ReLU" bottom: "x" top: "a" }
layer { name: "foo" type: "NoSuchLayer" bottom: "a" top: "b" }
layer { name: "script" type: "Python" bottom: "a" top: "c" python_param { module: "m" layer: "L" } }
""",
    )


def caffe_weights(folder: Path) -> list[str]:
    return write_caffe(
        folder,
        """
layer { name: "conv" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "b" inner_product_param { num_output: 4 } }
""",
    )


MODELS: dict[Model, dict[str, tuple[str, str, str]]] = {
    onnx_unknown_operators: {
        "mine": ("acme.MyConv", "known in the domain 'acme'", "about 79.7 % of the known FLOPs"),
        "foo": ("Foo", "known in the ONNX standard", NOT_KNOWN),
    },
    onnx_attributes: {
        "stem": ("Conv", "attribute is not supported", "about 100.0 % of the known FLOPs"),
        "leaky": ("LeakyRelu", "attribute is not supported", NOT_KNOWN),
    },
    onnx_shapes: {
        "mismatch": ("Add", "16 and 5 do not broadcast", "0.0 % of the known FLOPs"),
        "channels": ("Conv", "channels", NOT_KNOWN),
    },
    onnx_stages: {
        "foo": ("Foo", "known in the ONNX standard", NOT_KNOWN),
        "mismatch": ("Add", "16 and 5 do not broadcast", "0.0 % of the known FLOPs"),
    },
    tflite_custom: {
        "a": ("CUSTOM:foo", "'foo' is unknown", NOT_KNOWN),
        "y": ("CUSTOM:bar", "'bar' is unknown", NOT_KNOWN),
    },
    tflite_types: {"a": ("CAST", "FLOAT8_E5M2", NOT_KNOWN)},
    tensorflow_operators: {
        "foo": ("NoSuchOperator", "unsupported", NOT_KNOWN),
        "bar": ("NorThisOne", "unsupported", NOT_KNOWN),
    },
    tensorflow_strings: {
        "text": ("AsString", "unsupported", NOT_KNOWN),
        "y": ("StringLength", "unsupported", NOT_KNOWN),
    },
    caffe_layers: {
        "foo": ("NoSuchLayer", "unknown", NOT_KNOWN),
        "script": ("Python", "the class L of the module m", NOT_KNOWN),
    },
    caffe_weights: {"conv": ("Convolution", "weight", NOT_KNOWN), "ip": ("InnerProduct", "weight", NOT_KNOWN)},
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_blocking_node_is_named(model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = model(tmp_path)
    assert cli.main([*flags, f"--outputFile={tmp_path / 'result'}"]) == 3
    headline, *lines = capsys.readouterr().err.splitlines()
    expected = MODELS[model]
    assert headline.startswith(str(tmp_path / "net"))
    assert len(lines) == len(expected), lines
    for line, (node, (operator, reason, share)) in zip(lines, expected.items(), strict=True):
        assert line.startswith(f"  {operator} '{node}'"), line
        assert reason in line
        assert re.search(r"\. [A-Z].* \(", line), "a remedy"
        assert line.endswith(f"({share})"), line
    assert not (tmp_path / "result.ms").exists()

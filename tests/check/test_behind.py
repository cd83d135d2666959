"""What stands behind a blocking node is listed where it blocks itself, and not for what the blocking node leaves open."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

from mslite.check import CheckResult, check_model
from mslite.check.results import State
from mslite.converter.options import Options
from tests.parsers.tf.graphs import Builder
from tests.parsers.tflite.tflite_build import Graph, Operator, Tensor, build

FLOAT = TensorProto.FLOAT


def info(name: str, shape: list[int] | None = None, kind: int = FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def check_onnx(
    folder: Path, nodes: list[onnx.NodeProto], outputs: list[ValueInfoProto], opset: int = 17
) -> CheckResult:
    """The input `x` is [1, 4, 8, 8]; `s` has 4 ones, `one` is [1]."""
    constants = [
        numpy_helper.from_array(np.ones(4, np.float32), "s"),
        numpy_helper.from_array(np.array([1]), "one"),
    ]
    graph = helper.make_graph(nodes, "net", [info("x", [1, 4, 8, 8])], outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.save(model, folder / "net.onnx")
    return check_model(Options(folder / "net.onnx", folder / "net"))


def names(found: CheckResult) -> list[str]:
    return [one.node for one in found.blockers]


NEED_FACTS = [
    ("BatchNormalization", ["a", "s", "s", "s", "s"], {}),
    ("GlobalAveragePool", ["a"], {}),
    ("Transpose", ["a"], {}),
    ("LRN", ["a"], {"size": 3}),
    ("Expand", ["a", "one"], {}),
    ("MaxUnpool", ["a", "a"], {"kernel_shape": [2, 2]}),
    ("Slice", ["a", "a", "one"], {}),
    ("SplitToSequence", ["a"], {}),
    ("NegativeLogLikelihoodLoss", ["a", "a"], {}),
    ("CenterCropPad", ["a", "one"], {}),
    ("Pad", ["a", "a"], {}),
]


@pytest.mark.parametrize(("operator", "inputs", "attributes"), NEED_FACTS)
def test_what_is_not_known_behind_a_blocking_node(
    operator: str, inputs: list[str], attributes: dict[str, object], tmp_path: Path
) -> None:
    foo = helper.make_node("Foo", ["x"], ["a"], name="foo")
    behind = helper.make_node(operator, inputs, ["y"], name="behind", **attributes)
    found = check_onnx(tmp_path, [foo, behind], [info("y")] if operator != "SplitToSequence" else [info("a")], 20)
    assert names(found) == ["foo"]
    assert not [node for node in found.nodes if node.state is State.BLOCKED and node.name != "foo"]


def test_what_blocks_behind_a_blocking_node(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Foo", ["x"], ["a"], name="foo"),
        helper.make_node("GlobalAveragePool", ["a"], ["b"], name="pool"),
        helper.make_node("Bar", ["b"], ["c"], name="bar"),
        helper.make_node("GlobalAveragePool", ["x"], ["y"], name="beside"),
    ]
    found = check_onnx(tmp_path, nodes, [info("c"), info("y")])
    assert names(found) == ["foo", "bar"]
    states = {node.name: node.state for node in found.nodes}
    assert states["beside"] is State.FINE
    assert states["pool"] is State.UNKNOWN


def test_a_loop_is_not_to_blame_for_its_body(tmp_path: Path) -> None:
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["more"], ["go"], name="go"),
            helper.make_node("Foo", ["state"], ["next"], name="foo"),
            helper.make_node("GlobalAveragePool", ["next"], ["row"], name="pool"),
        ],
        "body",
        [info("round", [], TensorProto.INT64), info("more", [], TensorProto.BOOL), info("state")],
        [info("go", [], TensorProto.BOOL), info("next"), info("row")],
    )
    loop = helper.make_node("Loop", ["one", "", "x"], ["last", "rows"], name="loop", body=body)
    behind = helper.make_node("GlobalAveragePool", ["last"], ["y"], name="behind")
    found = check_onnx(tmp_path, [loop, behind], [info("y"), info("rows")])
    assert names(found) == ["foo"]
    homes = {node.name: node.graph for node in found.nodes}
    assert homes["foo"] == homes["pool"] == "loop_body_graph"
    assert homes["behind"] == ""


def test_operators_of_later_operator_sets(tmp_path: Path) -> None:
    node = helper.make_node("GroupNormalization", ["x", "s", "s"], ["y"], name="norm", num_groups=2)
    (blocker,) = check_onnx(tmp_path, [node], [info("y")], 17).blockers
    assert blocker.reason == "operator set 17 does not define it"
    assert blocker.remedy == "Export for opset 18 or later"


def test_outputs_that_are_sequences(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Foo", ["x"], ["a"], name="foo"),
        helper.make_node("SequenceConstruct", ["a"], ["b"], name="made"),
        helper.make_node("Bar", ["b"], ["y"], name="bar"),
    ]
    outputs = [helper.make_tensor_sequence_value_info("y", FLOAT, None)]
    assert names(check_onnx(tmp_path, nodes, outputs)) == ["foo", "bar", "y"]


def test_every_input_of_an_unknown_type(tmp_path: Path) -> None:
    tensors = [
        Tensor("x", (2,), kind="FLOAT8_E5M2"),
        Tensor("r", (2,), "resource"),
        Tensor("y", (2,), kind="FLOAT8_E5M2"),
    ]
    graph = Graph(tensors, [0, 1], [2], [Operator("ABS", [0], [2])])
    (tmp_path / "net.tflite").write_bytes(build(graph))
    found = check_model(Options(tmp_path / "net.tflite", tmp_path / "net"))
    assert [(one.node, one.operator) for one in found.blockers] == [("x", "graph"), ("r", "graph"), ("y", "ABS")]


def test_tensorflow_operators_in_a_row(tmp_path: Path) -> None:
    graph = Builder()
    graph.input("x", 2, 3)
    graph.node("foo", "NoSuchOperator", "x")
    graph.node("relu", "Relu", "foo")
    graph.node("bar", "NorThisOne", "relu")
    graph.node("y", "StringLength", "bar")
    (tmp_path / "net.pb").write_bytes(graph.content())
    assert names(check_model(Options(tmp_path / "net.pb", tmp_path / "net"))) == ["foo", "bar", "y"]

"""`converter_lite --check`: every blocking node of every format, what each target makes of a model, and no other file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mslite.check import CheckResult, check_model
from mslite.check.page import graph_drawing
from mslite.check.results import State
from mslite.codegen.targets import TARGETS
from mslite.converter import cli
from mslite.converter.compatibility import Version
from mslite.converter.options import FmkType, Options
from tests.parsers.caffe import helper as caffe
from tests.parsers.tf.graphs import Builder
from tests.parsers.tflite.tflite_build import Graph, Operator, Tensor, build


def onnx_model(*nodes: onnx.NodeProto, output: str = "y") -> onnx.ModelProto:
    weights = np.random.default_rng(0).standard_normal((8, 3, 3, 3)).astype(np.float32)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])
    y = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    graph = helper.make_graph(list(nodes), "net", [x], [y], [onnx.numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


ORIGINAL = [version.title for version in Version]

STEM = helper.make_node("Conv", ["x", "w"], ["a"], name="stem")
FOO = helper.make_node("Foo", ["a"], ["b"], name="foo")
HEAD = helper.make_node("Relu", ["b"], ["c"], name="head")
BAR = helper.make_node("LeakyRelu", ["c"], ["y"], name="bar", strange=1.0)
RELU = helper.make_node("Relu", ["a"], ["y"], name="relu")


def write_onnx(folder: Path) -> Options:
    onnx.save(onnx_model(STEM, FOO, HEAD, BAR), folder / "net.onnx")
    return Options(folder / "net.onnx", folder / "net")


def write_tflite(folder: Path) -> Options:
    tensors = [Tensor("x", (2, 3)), Tensor("a", (2, 3)), Tensor("b", (2, 3)), Tensor("c", (2, 3)), Tensor("y", (2, 3))]
    nodes = [Operator("RELU", [0], [1]), Operator("CUSTOM:foo", [1], [2]), Operator("RELU", [2], [3])]
    graph = Graph(tensors, [0], [4], [*nodes, Operator("CUSTOM:bar", [3], [4])])
    (folder / "net.tflite").write_bytes(build(graph))
    return Options(folder / "net.tflite", folder / "net")


def write_tensorflow(folder: Path) -> Options:
    graph = Builder()
    graph.input("x", 2, 3)
    graph.node("stem", "Relu", "x")
    graph.node("foo", "NoSuchOperator", "stem")
    graph.node("bar", "NorThisOne", "stem")
    graph.node("y", "Add", "foo", "bar")
    (folder / "net.pb").write_bytes(graph.content())
    return Options(folder / "net.pb", folder / "net", FmkType.TF)


def write_caffe(folder: Path) -> Options:
    layers = """
layer { name: "stem" type: "ReLU" bottom: "x" top: "a" }
layer { name: "foo" type: "NoSuchLayer" bottom: "a" top: "b" }
layer { name: "bar" type: "NorThisOne" bottom: "a" top: "c" }
layer { name: "head" type: "ReLU" bottom: "b" top: "d" }
"""
    text, weights = caffe.write(folder, caffe.network(layers, {"x": caffe.random(1, 3, 4, 4)}))
    return Options(text, folder / "net", FmkType.CAFFE, weight_file=weights)


@pytest.mark.parametrize("write", [write_onnx, write_tflite, write_tensorflow, write_caffe])
def test_every_blocking_node_is_drawn_where_it_stands(write: Callable[[Path], Options], tmp_path: Path) -> None:
    found = check_model(write(tmp_path))
    assert not found.converts
    blocked = [node for node in found.nodes if node.state is State.BLOCKED]
    assert len(blocked) == 2
    assert [one for node in blocked for one in node.blockers] == list(found.blockers)
    for node in blocked:
        assert node.inputs, "the node that it reads is drawn, too"
        assert node.operator in node.origin
    readers = {index for node in found.nodes for index in node.inputs}
    assert found.nodes.index(blocked[0]) in readers
    assert not list(tmp_path.glob("*.ms"))


def test_what_blocks_is_behind_nothing(tmp_path: Path) -> None:
    found = check_model(write_caffe(tmp_path))
    assert [(node.name, node.state) for node in found.nodes] == [
        ("stem", State.FINE),
        ("foo", State.BLOCKED),
        ("bar", State.BLOCKED),
        ("head", State.UNKNOWN),
    ]


def test_equal_reasons_stand_once_and_names_stay_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [
        f"/encoder/layers.{index}/self_attention/query/MatMul/of/a/long/path/with/{'x' * 90}" for index in range(20)
    ]
    nodes = [STEM]
    for index, name in enumerate(names):
        nodes.append(helper.make_node("Foo", [nodes[-1].output[0]], [f"foo{index}"], name=name))
        nodes.append(helper.make_node("Relu", [f"foo{index}"], [f"relu{index}"]))
    nodes.append(helper.make_node("LeakyRelu", [nodes[-1].output[0]], ["y"], name="bar", strange=1.0))
    onnx.save(onnx_model(*nodes), tmp_path / "net.onnx")
    assert cli.main([f"--modelFile={tmp_path / 'net.onnx'}", "--check"]) == 3
    text = capsys.readouterr().out
    assert text.count("the operator is unknown in") == text.count("what to do: Replace it") == 1
    assert "(20 nodes, " in text
    lines = text.splitlines()
    assert [line.strip() for line in lines if line.strip() in names] == names[:12]
    assert "    and 8 more; --checkReport lists all" in lines
    assert [line for line in lines if line.strip() == "bar"] == ["    bar"]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.onnx"
    onnx.save(onnx_model(STEM, RELU), path)
    return path


def whole(path: Path) -> CheckResult:
    return check_model(Options(path, path.with_suffix("")))


def test_targets_of_a_model_that_converts(good: Path) -> None:
    found = whole(good)
    assert found.converts
    assert [target.name for target in found.targets] == ["CPU", *TARGETS, *ORIGINAL]
    assert all(target.runs for target in found.targets)
    assert found.macs == 14 * 14 * 8 * 27
    for target in found.targets[1 : 1 + len(TARGETS)]:
        assert target.ram is not None
        assert target.ram >= 4 * 14 * 14 * 8
        assert target.flash is not None
        assert target.flash >= 4 * 8 * 27
    (convolution,) = (node for node in found.nodes if node.operator == "Conv2DFusion")
    assert convolution.share.fraction == 1
    assert convolution.origin == "Conv 'stem'"
    assert {name for name, _ in convolution.kernels} == {
        "CPU",
        *TARGETS,
        *(one.name.split(" (")[0] for one in found.engines),
    }


def test_inputs_and_outputs_are_drawn(good: Path) -> None:
    found = whole(good)
    assert [(one.name, one.shape) for one in found.inputs] == [("x", "float32[1x16x16x3]")]
    assert [one.name for one in found.outputs] == ["y"]
    drawn = graph_drawing(found)["nodes"]
    assert isinstance(drawn, list)
    states = [node["state"] for node in drawn]
    assert states == ["input", *["fine"] * len(found.nodes), "output"]
    assert [0] in [node["in"] for node in drawn[1:-1]]
    assert drawn[-1]["in"] == [found.outputs[0].nodes[0] + 1]


def test_an_output_that_is_an_input(tmp_path: Path) -> None:
    model = onnx_model(STEM, RELU)
    model.graph.output.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16]))
    onnx.save(model, tmp_path / "net.onnx")
    drawn = graph_drawing(whole(tmp_path / "net.onnx"))["nodes"]
    assert isinstance(drawn, list)
    assert [node["state"] for node in drawn].count("output") == 2
    assert all(node["in"] for node in drawn if node["state"] == "output")


def test_the_page_is_the_same_at_the_same_time(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = good.with_suffix(".html")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    texts = []
    for _ in range(2):
        assert cli.main([f"--modelFile={good}", "--check", f"--checkReport={page}"]) == 0
        texts.append(page.read_text())
    assert texts[0] == texts[1]
    assert "1970-01-02 00:00:00 UTC" in texts[0]
    assert hashlib.sha256(good.read_bytes()).hexdigest() in texts[0]
    assert f"<code>converter_lite --modelFile={good} --check --checkReport={page}</code>" in texts[0]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    before = datetime.now(UTC).replace(microsecond=0)
    assert cli.main([f"--modelFile={good}", "--check", f"--checkReport={page}"]) == 0
    made = re.search(r'datetime="([^"]+)"', page.read_text())
    assert made
    assert before <= datetime.fromisoformat(made[1]) <= datetime.now(UTC)


def test_shapes_that_depend_on_data_run_on_the_cpu_alone(tmp_path: Path) -> None:
    nonzero = helper.make_node("NonZero", ["x"], ["n"], name="where")
    cast = helper.make_node("Cast", ["n"], ["y"], to=TensorProto.FLOAT)
    onnx.save(onnx_model(nonzero, cast), tmp_path / "net.onnx")
    found = whole(tmp_path / "net.onnx")
    cpu, *others = found.targets[: 1 + len(TARGETS)]
    assert cpu.runs
    assert "some kernels are chosen at run time" in cpu.problem
    assert not any(target.runs for target in others)
    assert all("run time" in target.blockers[0].reason for target in others)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], good: Path) -> None:
    write_onnx(tmp_path)
    bad, page = tmp_path / "net.onnx", tmp_path / "net.html"
    before = sorted(tmp_path.iterdir())
    assert cli.main([f"--modelFile={bad}", "--check", f"--checkReport={page}"]) == 3
    printed = capsys.readouterr().out
    for word in ("foo", "Foo", "bar", "strange", "2 unsupported nodes"):
        assert word in printed
    assert sorted(tmp_path.iterdir()) == sorted([*before, page])
    text = page.read_text()
    assert "http" not in text.replace("http-equiv", "")
    assert cli.main([f"--modelFile={bad}", "--check", "--json"]) == 3
    facts = json.loads(capsys.readouterr().out)
    assert [one["node"] for one in facts["blockers"]] == ["foo", "bar"]
    assert cli.main([f"--modelFile={good}", "--check"]) == 0
    assert "cortex-m4" in capsys.readouterr().out


@pytest.mark.parametrize("flags", [["--json"], ["--checkReport=x.html"], ["--check=maybe"], ["--check", "--json=so"]])
def test_wrong_usage(flags: list[str], good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([f"--modelFile={good}", "--outputFile=x", *flags]) == 2
    assert "INPUT ILLEGAL" in capsys.readouterr().err


def test_a_file_that_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"no model")
    assert cli.main([f"--modelFile={path}", "--check"]) == 1
    assert str(path) in capsys.readouterr().err


def test_names_cannot_break_the_page(tmp_path: Path) -> None:
    from mslite.check import write_check_page

    name = "</script><b>'\"&"
    onnx.save(onnx_model(STEM, helper.make_node("Foo", ["a"], ["y"], name=name)), tmp_path / "net.onnx")
    write_check_page(tmp_path / "net.html", whole(tmp_path / "net.onnx"))
    text = (tmp_path / "net.html").read_text()
    assert text.count("</script>") == 2
    assert "<b>'" not in text

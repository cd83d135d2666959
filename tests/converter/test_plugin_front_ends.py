"""Node parsers of plug-ins in TensorFlow Lite, TensorFlow and Caffe models; model parsers; the example; --check."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers

import mslite
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.registry import custom
from tests.converter.onnx_models import small_network
from tests.converter.plugin_files import HALVES, PARSER, convert, customs, network, result, write_plugin
from tests.parsers.caffe import helper as caffe
from tests.parsers.tf.graphs import FLOAT, Builder
from tests.parsers.tflite.tflite_build import Graph, Operator, Tensor, build

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_op" / "converter"


def test_tensorflow_lite(tmp_path: Path) -> None:
    """A custom operator with FlexBuffers options, on quantized tensors too; and a builtin one that is overridden."""
    plugin = (
        HALVES
        + """
@node_parser(FmkType.TFLITE, "Halves")
def parse(node):
    assert node.shape(node.input(0)) == (2, 8) and node.dtype(node.input(0)) in (DataType.FLOAT32, DataType.INT8)
    assert dict(node.attributes) == {"by": 2, "list": [1, 2], "mixed": [1, 0.5], "text": "x", "on": True}
    return custom("Halves", by=node.attribute("by"))

@node_parser(FmkType.TFLITE, "LEAKY_RELU")
def leaky(node):
    return custom("Same", alpha=node.attribute("alpha"))

custom_operator("Same", elementwise=True)(same_as_input)
"""
    )
    record = (0.1, 3)
    tensors = [Tensor("x", (2, 8)), Tensor("a", (2, 8)), Tensor("b", (2, 4)), Tensor("qx", (2, 8), "int8", quant=record),
               Tensor("qy", (2, 4), "int8", quant=record)]  # fmt: skip
    by = bytes(
        flexbuffers.Dumps({"by": 2, "list": [1, 2], "mixed": [1, 0.5], "text": "x", "on": True, "deep": {"a": 1}})
    )
    nodes = [
        Operator("LEAKY_RELU", [0], [1], {0: ("float", 0.25)}, "LeakyReluOptions"),
        Operator("CUSTOM:Halves", [1], [2], custom=by),
        Operator("CUSTOM:Halves", [3], [4], custom=by),
    ]
    model = tmp_path / "net.tflite"
    model.write_bytes(build(Graph(tensors, [0, 3], [2, 4], nodes)))
    assert convert(model, write_plugin(tmp_path, plugin)) == 0
    module = result(model)
    assert [node.op for node in customs(module, "Same")] == [custom("Same", alpha=0.25)]
    assert [node.output.shape for node in customs(module, "Halves")] == [(2, 4), (2, 4)]
    assert {node.output.dtype for node in customs(module, "Halves")} == {DataType.FLOAT32}
    casts = [node for node in module.main.nodes if node.op.name == "QuantDTypeCast"]
    assert len(casts) == 2, "quantized operands arrive as float values"


def test_tensorflow(tmp_path: Path) -> None:
    plugin = (
        HALVES
        + """
@node_parser(FmkType.TF, "Halves")
def parse(node):
    assert node.shape(node.input(0)) == (2, 8)
    assert node.attributes["T"] is DataType.FLOAT32 and node.attribute("text") == "ü" and node.attribute("list") == [1, 2]
    assert node.contents(node.input(1)).tolist() == [2]
    return node.emit(custom("Halves", by=int(node.contents(node.input(1))[0])), node.input(0))

@node_parser(FmkType.TF, "Two")
def two(node):
    return node.emit_many(custom("Two"), node.inputs, node.output_count)

custom_operator("Two")(lambda inputs, attributes: [inputs[0], inputs[0]])
"""
    )
    graph = Builder()
    graph.input("x", 2, 8)
    graph.constant("by", np.array([2], np.int32))
    graph.node("half", "Halves", "x", "by", T=(FLOAT,), text="ü".encode(), list=[1, 2])
    graph.node("two", "Two", "half")
    graph.node("y", "Reshape", "two:1", "shape", T=(FLOAT,))
    graph.constant("shape", np.array([-1], np.int32))
    model = tmp_path / "net.pb"
    model.write_bytes(graph.content())
    assert convert(model, write_plugin(tmp_path, plugin), "--fmk=TF") == 0
    module = result(model)
    assert [node.output.shape for node in customs(module, "Halves")] == [(2, 4)]
    assert [len(node.outputs) for node in customs(module, "Two")] == [2]
    assert module.main.outputs[0].shape == (8,)


def test_caffe(tmp_path: Path) -> None:
    """A layer with parameters that Caffe does not know, with weights; the layer behind it needs its shape."""
    plugin = (
        HALVES
        + """
@node_parser(FmkType.CAFFE, "Halves")
def parse(node):
    assert dict(node.attributes) == {"by": 2, "names": ["a", "b"], "deep": {"rate": 0.5, "on": True}}, node.attributes
    assert [blob.shape for blob in node.weights] == [(4,)]
    scaled = node.emit(ops.arithmetic.MulFusion(), *node.inputs, node.const(2.0))
    assert node.shape(scaled) == (1, 8)
    half = node.emit(custom("Halves", by=node.attribute("by")), scaled)
    return node.emit(ops.arithmetic.AddFusion(), half, node.const(node.weights[0]))
"""
    )
    layers = """
layer { name: "h" type: "Halves" bottom: "x" top: "h"
        halves_param { by: 2 names: "a" names: 'b' deep { rate: 0.5 on: true } } }  # unknown to Caffe
layer { name: "y" type: "InnerProduct" bottom: "h" top: "y" inner_product_param { num_output: 3 bias_term: false } }
"""
    weights = {"h": [caffe.random(4)], "y": [caffe.random(3, 4)]}
    text, blobs = caffe.write(tmp_path, caffe.network(layers, {"x": caffe.random(1, 8)}), weights)
    assert convert(text, write_plugin(tmp_path, plugin), f"--weightFile={blobs}", "--fmk=CAFFE") == 0
    (node,) = customs(result(text), "Halves")
    assert node.output.shape == (1, 4)


def test_a_caffe_layer_whose_shape_nobody_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plugin = (
        'from mslite.converter.registry import *\nnode_parser(FmkType.CAFFE, "H")(lambda node: custom("Unknown"))\n'
    )
    text, blobs = caffe.write(tmp_path, caffe.one("H", {"x": caffe.random(1, 8)}))
    assert convert(text, write_plugin(tmp_path, plugin), f"--weightFile={blobs}") == 3
    assert "the shapes of Custom nodes of type 'Unknown' are not known" in capsys.readouterr().err


# ---- whole files ----

TOY = """
from mslite.converter.registry import *

@model_parser("TOY", ".toy")
def parse(parameters):
    words = parameters.model_file.read_text().split()
    if words[0] != "toy":
        raise ValueError("this is no toy")
    graph = GraphBuilder()
    x = graph.input("x", ["n", int(words[1])])
    y = graph.emit(ops.activation.Activation(activation_type=ops.enums.ActivationType.RELU), x)
    graph.output(graph.emit(ops.arithmetic.AddFusion(), y, graph.const(float(parameters.attrs.get("bias", 1)))), "y")
    assert ConverterContext.get_config_info("mine") in ({}, {"key": "value"})
    return graph.module()
"""


@pytest.mark.parametrize("flags", [[], ["--fmk=TOY"]])
def test_a_format_of_its_own(tmp_path: Path, flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "net.toy"
    model.write_text("toy 4")
    extra = "[converter_parameters]\nbias=3\n[mine]\nkey=value\n"
    assert convert(model, write_plugin(tmp_path, TOY, extra=extra), *flags) == 0
    module = result(model)
    assert [value.name for value in module.main.outputs] == ["y"]
    assert [value.data.item() for value in module.main.values() if value.data is not None] == [3.0]
    assert "warning" not in capsys.readouterr().err


def test_plugins_from_python(tmp_path: Path) -> None:
    write_plugin(tmp_path, TOY)
    (tmp_path / "net.toy").write_text("toy 4")
    converter = mslite.Converter()
    converter.set_config_info("registry", {"plugin_path": str(tmp_path / "plugin.py")})
    converter.convert(mslite.FmkType.THIRDPARTY, str(tmp_path / "net.toy"), str(tmp_path / "net"))
    assert len(result(tmp_path / "net.ms").main.nodes) == 2


def test_model_parsers_may_be_classes(tmp_path: Path) -> None:
    text = (
        TOY.replace('@model_parser("TOY", ".toy")', "")
        + """
class Toy(ModelParser):
    def parse(self, parameters):
        assert parameters.weight_file.name == "weights.bin"
        return parse(parameters)

ModelParserRegistry("TOY", Toy(), [".TOY"])
assert ModelParserRegistry.get_model_parser("TOY") is not None
"""
    )
    model = tmp_path / "net.toy"
    model.write_text("toy 4")
    (tmp_path / "weights.bin").write_bytes(b"")
    assert convert(model, write_plugin(tmp_path, text), f"--weightFile={tmp_path / 'weights.bin'}") == 0


def test_a_parser_of_ours_is_replaced(tmp_path: Path) -> None:
    model = small_network(tmp_path / "net.onnx")
    model.write_text("toy 4")
    plugin = TOY.replace('"TOY", ".toy"', "FmkType.ONNX")
    assert convert(model, write_plugin(tmp_path, plugin)) == 0
    assert len(result(model).main.nodes) == 2


@pytest.mark.parametrize(
    ("content", "plugin", "flag", "status", "said"),
    [
        ("ball 4", TOY, "--fmk=TOY", 1, "net.toy: this is no toy (so says the TOY parser of"),
        ("toy 4", TOY, "--fmk=BALL", 3, "no model parser of that name is registered (registered: TOY)"),
        ("toy x", TOY, "--fmk=TOY", 1, "invalid literal for int()"),
        ("toy", TOY, "--fmk=TOY", 1, "the TOY parser fails with IndexError: list index out of range"),
        ("toy 4", TOY.replace("return", "return 3 #"), "--fmk=TOY", 1, "returns int, not a Module"),
        ("toy 4", TOY.replace("return", "graph.graph.nodes.pop(0); return"), "--fmk=TOY", 1, "makes a graph that is not valid"),
    ],
)  # fmt: skip
def test_what_is_said_of_files_and_parsers_that_are_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, plugin: str, flag: str, status: int, said: str
) -> None:
    model = tmp_path / "net.toy"
    model.write_text(content)
    assert convert(model, write_plugin(tmp_path, plugin), flag) == status
    assert said in capsys.readouterr().err


def test_thirdparty_needs_a_plugin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mslite.converter.cli import main

    assert main([f"--modelFile={tmp_path}/a", f"--outputFile={tmp_path}/a", "--fmk=THIRDPARTY"]) == 2
    assert "fmk=THIRDPARTY needs a plug-in that reads the file" in capsys.readouterr().err


# ---- --check, and the worked example ----


def test_check_knows_plugins_and_says_whose_kernel_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = network(tmp_path / "net.onnx")
    config = write_plugin(tmp_path, PARSER)
    assert convert(model, config, "--check", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["converts"]
    (node,) = [node for node in found["nodes"] if node["operator"] == "Custom Halves"]
    assert node["origin"] == "com.example.Halves 'halves'"
    for target in found["targets"]:
        if not target["name"].startswith("MindSpore Lite"):  # whose kernels are not listed
            assert dict(node["kernels"])[target["name"]] == "your kernel for Halves"
        remedies = [one["remedy"] for one in target["blockers"] if one["node"] == "halves"]
        assert target["runs"] or remedies
        assert "with your kernel for Halves" in target["problem"] or [
            "docs/extending.md" in one for one in remedies
        ] == [True]


def test_check_of_custom_nodes_with_open_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The runtime asks the kernel's rule; generated C has fixed shapes."""
    model = network(tmp_path / "net.onnx", batch="n")
    config = write_plugin(tmp_path, PARSER)
    assert convert(model, config, "--check", "--json") == 0
    cpu, *others = json.loads(capsys.readouterr().out)["targets"]
    generated = [target for target in others if not target["name"].startswith("MindSpore Lite")]
    assert cpu["runs"]
    assert "with your kernel for Halves" in cpu["problem"]
    for target in generated:
        assert not target["runs"]
        (blocker,) = [one for one in target["blockers"] if one["node"] == "halves"]
        assert "leaves the shape of its output" in blocker["reason"]
        assert "--inputShape" in blocker["remedy"]
    assert convert(model, config, "--check") == 0
    printed = capsys.readouterr().out
    assert printed.count("leaves the shape") <= 1, "targets that say the same are listed once"
    assert convert(model, config, "--check", "--json", "--inputShape=x:2,8") == 0
    assert all(target["runs"] for target in json.loads(capsys.readouterr().out)["targets"])


def test_the_example_converts_both_of_its_models(tmp_path: Path) -> None:
    config = EXAMPLE / "plugin.cfg"
    flags = [f"--outputFile={tmp_path / 'maxout'}", f"--configFile={config}"]
    from mslite.converter.cli import main

    assert main([f"--modelFile={EXAMPLE / 'maxout.onnx'}", *flags]) == 0
    (node,) = customs(result(tmp_path / "maxout"), "Maxout")
    assert node.op == custom("Maxout", pieces=2, scale=0.25), "the factor behind it is part of the scale"
    assert len(result(tmp_path / "maxout").main.nodes) == 3
    flags[0] = f"--outputFile={tmp_path / 'layers'}"
    assert main([f"--modelFile={EXAMPLE / 'net.layers'}", *flags]) == 0
    assert customs(result(tmp_path / "layers"), "Maxout")[0].op == node.op


def test_the_files_of_the_example_are_those_of_its_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import make_model  # type: ignore[import-not-found]

    monkeypatch.setattr(make_model, "HERE", tmp_path)
    make_model.main()
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in EXAMPLE.iterdir() if path.suffix not in (".py", ".cfg", ".md", ""))
    for name in made:
        assert (tmp_path / name).read_bytes() == (EXAMPLE / name).read_bytes(), name
    del sys.modules["make_model"]


def test_the_code_in_the_documentation_runs(tmp_path: Path) -> None:
    """All Python of the converter's half of docs/extending.md is one plug-in; with it the example converts as with its own."""
    page = (EXAMPLE.parents[2] / "docs" / "extending.md").read_text().partition("## The runtime")[0]
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 4
    config = write_plugin(tmp_path, "\n".join(["from mslite.converter.registry import *", *blocks]))
    (tmp_path / "net.onnx").write_bytes((EXAMPLE / "maxout.onnx").read_bytes())
    assert convert(tmp_path / "net.onnx", config) == 0
    assert [node.op for node in customs(result(tmp_path / "net.ms"), "Maxout")] == [
        custom("Maxout", pieces=2, scale=0.5)
    ]
    (tmp_path / "any.layers").write_text("")
    assert convert(tmp_path / "any.layers", config) == 0

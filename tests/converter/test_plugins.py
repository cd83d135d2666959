"""Plug-ins in ONNX models: what they may do, and what is said of those that are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import mslite
from mslite.converter import registry
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.onnx import value_types
from mslite.converter.registry import CustomAttributes, custom
from mslite.converter.registry.registrations import active
from tests.converter.onnx_models import save, weight
from tests.converter.plugin_files import HALVES, PARSER, convert, customs, halves, network, result, write_plugin


def test_a_foreign_node_becomes_a_custom_node(tmp_path: Path) -> None:
    """Also what is behind it is understood: Gemm asks how many dimensions it reads."""
    model = network(tmp_path / "net.onnx")
    assert convert(model, write_plugin(tmp_path, PARSER)) == 0
    (node,) = customs(result(model), "Halves")
    assert node.name == "halves"
    assert node.op == custom("Halves", by=2)
    assert [(value.dtype, value.shape) for value in node.outputs] == [(DataType.FLOAT32, (1, 4))]
    assert active().node_parsers == {}, "a plug-in holds for one conversion"


def test_types_behind_many_foreign_nodes_are_inferred_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is behind each is looked at as it becomes known, with the shapes that other nodes compute, not the whole model."""
    whole = []
    monkeypatch.setattr(value_types, "infer_types", lambda model: whole.append(model) or {})
    nodes, name = [], "x"
    for index in range(6):
        one, shape, next_one = f"one{index}", f"shape{index}", f"next{index}"
        nodes.append(helper.make_node("Halves", [name], [one], domain="com.example", name=one))
        nodes.append(helper.make_node("Shape", ["x"], [shape]))
        nodes.append(helper.make_node("Expand", [one, shape] if index < 5 else [one, "sizes"], [next_one]))
        name = next_one
    sizes = onnx.numpy_helper.from_array(np.array([7, 1], np.int64), "sizes")
    nodes.append(helper.make_node("Gemm", [name, "w"], ["y"]))
    model = save(tmp_path / "net.onnx", nodes, {"x": [1, 1]}, {"y": ["n", 3]}, [weight("w", 1, 3), sizes])
    text = PARSER.replace("last // attributes", "last + 0 * attributes")
    assert convert(model, write_plugin(tmp_path, text)) == 0
    assert whole == []
    assert result(model).main.outputs[0].shape == (7, 3)


def test_sizes_that_are_open_stay_open(tmp_path: Path) -> None:
    model = network(tmp_path / "net.onnx", batch="n")
    assert convert(model, write_plugin(tmp_path, PARSER)) == 0
    (node,) = customs(result(model), "Halves")
    assert node.output.shape is not None
    assert node.output.shape[0] < 0
    assert node.output.shape[1] == 4


def test_a_parser_may_emit_several_nodes_and_override_ours(tmp_path: Path) -> None:
    text = """
        from mslite.converter.registry import FmkType, node_parser, ops

        @node_parser(FmkType.ONNX, "com.example.Halves")
        def halves(node):
            assert node.shape(node.input(0)) == (1, 8) and node.dtype(node.input(0)).name == "FLOAT32"
            half = node.emit(ops.rearrange.Reshape(), node.input(0), node.const([1, 4, 2]))
            assert node.shape(half) == (1, 4, 2)
            return node.emit(ops.reduction.ReduceFusion(mode=ops.enums.ReduceMode.ReduceMax), half, node.const([2]))

        @node_parser(FmkType.ONNX, "Relu")
        def relu(node):
            return [node.emit(ops.unary.Abs(), *node.inputs)]
    """
    model = network(tmp_path / "net.onnx", halves())
    assert convert(model, write_plugin(tmp_path, text)) == 0
    x = np.linspace(-2, 1, 8, dtype=np.float32).reshape(1, 8)
    runner = mslite.Model()
    runner.build_from_file(str(model.with_suffix(".ms")), mslite.ModelType.MINDIR_LITE)
    (tensor,) = runner.get_inputs()
    tensor.set_data_from_numpy(x)
    (y,) = runner.predict([tensor])
    w = onnx.numpy_helper.to_array(weight("w", 4, 3))
    np.testing.assert_allclose(y.get_data_to_numpy(), np.abs(x).reshape(1, 4, 2).max(-1) @ w, rtol=1e-5)


def test_a_plugin_goes_before_expansions_and_functions(tmp_path: Path) -> None:
    """Operators that are written out in standard nodes before, and functions that the model provides."""
    body = helper.make_function(
        "com.example", "Halves", ["a"], ["b"], [helper.make_node("Identity", ["a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    path = save(
        tmp_path / "net.onnx",
        [
            helper.make_node("Halves", ["x"], ["a"], name="function", domain="com.example"),
            helper.make_node("QuickGelu", ["a"], ["y"], name="expanded", domain="com.microsoft"),
        ],
        {"x": [2, 8]},
        {"y": [2, 2]},
    )
    proto = onnx.load(path)
    proto.functions.append(body)
    proto.opset_import.extend([helper.make_opsetid("com.example", 1), helper.make_opsetid("com.microsoft", 1)])
    onnx.save(proto, path)
    text = PARSER + 'node_parser(FmkType.ONNX, "com.microsoft.QuickGelu")(lambda node: custom("Halves"))\n'
    assert convert(path, write_plugin(tmp_path, text)) == 0
    assert [node.name for node in customs(result(path), "Halves")] == ["function", "expanded"]


def test_parsers_may_be_classes(tmp_path: Path) -> None:
    text = (
        HALVES
        + """
class Parse(NodeParser):
    def parse(self, node):
        return custom("Halves", **node.attributes)

NodeParserRegistry(FmkType.ONNX, "com.example.Halves", Parse())
assert NodeParserRegistry.get_node_parser(FmkType.ONNX, "com.example.Halves") is not None
assert NodeParserRegistry.get_node_parser(FmkType.TF, "com.example.Halves") is None
assert CustomOperatorRegistry.get("Halves") is not None
"""
    )
    model = network(tmp_path / "net.onnx")
    assert convert(model, write_plugin(tmp_path, text)) == 0
    assert len(customs(result(model), "Halves")) == 1


def test_a_qualified_name_goes_before_a_bare_one(tmp_path: Path) -> None:
    text = PARSER + 'node_parser(FmkType.ONNX, "Halves")(lambda node: custom("Wrong"))\n'
    model = network(tmp_path / "net.onnx")
    assert convert(model, write_plugin(tmp_path, text)) == 0
    assert len(customs(result(model), "Halves")) == 1


def test_what_a_program_registers_holds_for_all_of_its_conversions(tmp_path: Path) -> None:
    model = network(tmp_path / "net.onnx")
    with registry.registrations.scope(active().copy()):  # so that the other tests do not see it
        registry.NodeParserRegistry(
            registry.FmkType.ONNX, "com.example.Halves", lambda node: custom("Same", **node.attributes)
        )
        registry.CustomOperatorRegistry("Same", lambda inputs, attributes: registry.TensorType(inputs[0].dtype, (1, 4)))
        for name in ("one", "two"):
            mslite.Converter().convert(mslite.FmkType.ONNX, str(model), str(tmp_path / name))
            assert customs(result(tmp_path / f"{name}.ms"), "Same")


def test_attributes_come_back_as_they_were_given() -> None:
    op = custom("A", b=True, i=-3, f=0.5, t="ü", l=[1, 2], r=(0.5, 1.5), raw=b"\x01", a=np.array([1, 2], np.int16))
    found = CustomAttributes(op)
    assert (found.boolean("b"), found.integer("i"), found.real("f"), found.text("t")) == (True, -3, 0.5, "ü")
    assert (found.integers("l"), found.reals("r")) == ((1, 2), (0.5, 1.5))
    assert (found.data["raw"], found.data["a"]) == (b"\x01", b"\x01\x00\x02\x00")
    assert (found.integer("absent", 7), found.text("absent", "x")) == (7, "x")
    with pytest.raises(ValueError, match="'absent' is missing"):
        found.integer("absent")
    with pytest.raises(ValueError, match="'l' has 16 bytes, which is not the size of one number"):
        found.integer("l")
    with pytest.raises(TypeError, match="'d' is of the type dict"):
        custom("A", d={})
    with pytest.raises(OverflowError, match="64 bits"):
        custom("A", i=1 << 63)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("x = (", 1, ["plugin.py: the plug-in failed: line 1: '(' was never closed"]),
        ("\nimport no_such_module", 1, ["line 2: ModuleNotFoundError: No module named 'no_such_module'"]),
        ("import sys\nsys.exit(7)", 1, ["line 2: SystemExit: 7"]),
        (PARSER.replace("custom(\"Halves\"", "1 / 0, custom(\"Halves\""), 3,
         ["com.example.Halves 'halves': its parser failed with ZeroDivisionError: division by zero", "plugin.py, line 11",
          "Correct the plug-in"]),
        (PARSER.replace("return custom", "custom"), 3, ["returned NoneType, not a primitive, a value or a list of values"]),
        (PARSER.replace("return custom(", "raise node.block('not today', 'Come back tomorrow') #"), 3,
         ["com.example.Halves 'halves': not today. Come back tomorrow"]),
        (PARSER.replace("node.attribute(\"by\", 2)", "2"), 3, ["attribute 'by': its parser in", "does not read it"]),
        (PARSER.replace("return custom(\"Halves\", by=node.attribute(\"by\", 2))",
                        "node.attributes; return Value('stray', DataType.FLOAT32, (1, 4))"), 1,
         ["with the node parsers of", "the graph is not valid", "reads 'stray', which is not produced before it"]),
        (PARSER.replace("TensorType(inputs[0].dtype, ", "("), 3, ["the shape rule of 'Halves' in", "not a TensorType"]),
        (PARSER.replace("inputs[0].shape", "inputs[5].shape"), 3, ["'Halves' failed with IndexError", "plugin.py, line 6"]),
        (PARSER.replace("(*rest, last //", "(*rest, -last //"), 3, ["returned the shape (1, -4), in which -4 is not a valid dimension"]),
        (PARSER.replace("    *rest", "    raise ValueError('odd')\n    *rest"), 3, ["odd (from the shape rule of 'Halves')"]),
        ("\n".join(PARSER.splitlines()[:2] + PARSER.splitlines()[8:]), 3,
         ["the output shapes of Custom nodes of type 'Halves' are unknown", "docs/extending.md"]),
    ],
)  # fmt: skip
def test_what_is_said_of_a_wrong_plugin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, status: int, said: list[str]
) -> None:
    model = network(tmp_path / "net.onnx")
    assert convert(model, write_plugin(tmp_path, body)) == status
    error = capsys.readouterr().err
    assert [text for text in said if text not in error] == []
    assert "Traceback" not in error
    assert not model.with_suffix(".ms").exists()


def test_plugins_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = network(tmp_path / "net.onnx")
    config = tmp_path / "config.cfg"
    for path, status, said in (
        ("absent.py", 1, "absent.py: the file does not exist, also not in the folder of the configuration file"),
        ("libmine.so", 3, "libmine.so: C++ plug-ins are not supported by this converter"),
        (";".join(["a.py"] * 11), 2, "plugin_path names 11 plug-ins; at most 10 are allowed"),
    ):
        config.write_text(f"[registry]\nplugin_path={path}\n")
        assert convert(model, config) == status
        assert said in capsys.readouterr().err


def test_several_blocking_nodes_are_all_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [halves("one"), helper.make_node("Nobody", ["x"], ["c"], name="two", domain="com.example")]
    model = network(tmp_path / "net.onnx", *nodes)
    assert convert(model, write_plugin(tmp_path, PARSER.replace("return", "raise RuntimeError() #"))) == 3
    error = capsys.readouterr().err
    assert "2 nodes prevent the conversion" in error
    assert "com.example.Halves 'one'" in error
    assert "com.example.Nobody 'two'" in error


@pytest.mark.parametrize(("method", "status"), [("WEIGHT_QUANT", 0), ("FULL_QUANT", 3)])
def test_quantization_beside_plugins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str, status: int
) -> None:
    """Calibration runs the model; what has no kernel in this process is named."""
    model = network(tmp_path / "net.onnx")
    (tmp_path / "samples").mkdir()
    np.ones(8, np.float32).tofile(tmp_path / "samples" / "one.bin")
    extra = f"[common_quant_param]\nquant_type={method}\nbit_num=8\nmin_quant_weight_channel=0\n"
    extra += f"[data_preprocess_param]\ncalibrate_path=x:{tmp_path}/samples\ncalibrate_size=1\ninput_type=BIN\n"
    assert convert(model, write_plugin(tmp_path, PARSER, extra=extra)) == status
    error = capsys.readouterr().err
    assert ("Custom Halves 'halves': no kernel for it is registered in this process" in error) is (status != 0)


def test_names_that_cannot_be_registered() -> None:
    with pytest.raises(ValueError, match="mslite\\."):
        registry.CustomOperatorRegistry("mslite.Det", registry.same_as_input)
    with pytest.raises(ValueError, match="nodes of MSLITE models"):
        registry.NodeParserRegistry(registry.FmkType.MSLITE, "Abs", lambda node: ())
    with pytest.raises(ValueError, match="is not a valid name of a format"):
        registry.ModelParserRegistry("a b", lambda parameters: registry.Module([]))

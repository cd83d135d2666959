"""Passes that plug-ins schedule, and fusions that the configuration leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import helper

from mslite.converter.mindir.module_io import load
from mslite.converter.registry import PassBase, PassPosition, PassRegistry
from mslite.converter.registry.registrations import active, scope
from tests.converter.onnx_models import save, small_network
from tests.converter.plugin_files import convert, result, write_plugin

HEAD = "from mslite.converter.registry import *\n"
SWAP = (
    HEAD
    + """
class ReluToAbs(PassBase):
    def execute(self, module):
        for graph in module.graphs:
            for node in list(graph.nodes):
                if getattr(node.op, "activation_type", None) == 1 and node.op.name == "Activation":
                    after = Value("after", DataType.UNKNOWN)
                    graph.nodes.append(Node(ops.unary.Abs(), "swapped", node.inputs, (after,)))
                    graph.replace_uses(node.output, after)
        return True

PassRegistry("ReluToAbs", ReluToAbs())
"""
)
"""Puts Abs in the place of Relu: appended at the end of the list of nodes, without type and shape."""


def names(path: Path) -> list[str]:
    return [node.op.name for node in result(path).main.nodes]


@pytest.mark.parametrize(
    ("position", "expected"),
    [("BEGIN", ["Abs"]), ("END", [])],  # at the end the activation is a part of the convolution
)
def test_passes_run_where_they_are_scheduled(tmp_path: Path, position: str, expected: list[str]) -> None:
    model = small_network(tmp_path / "net.onnx")
    text = SWAP + f"PassRegistry(PassPosition.{position}, ['ReluToAbs'])\n"
    assert convert(model, write_plugin(tmp_path, text)) == 0
    assert [name for name in names(model) if name == "Abs"] == expected
    for node in result(model).main.nodes:
        assert all(value.shape for value in node.outputs)


def test_outputs_keep_their_names(tmp_path: Path) -> None:
    model = save(tmp_path / "net.onnx", [helper.make_node("Relu", ["x"], ["y"])], {"x": [1, 2]}, {"y": [1, 2]})
    assert convert(model, write_plugin(tmp_path, SWAP + "PassRegistry(PassPosition.END, ['ReluToAbs'])\n")) == 0
    (node,) = result(model).main.nodes
    assert (node.op.name, node.output.name) == ("Abs", "y")


def test_what_is_only_stored_does_not_run(tmp_path: Path) -> None:
    model = small_network(tmp_path / "net.onnx")
    assert convert(model, write_plugin(tmp_path, SWAP)) == 0
    assert "Abs" not in names(model)


def test_types_and_shapes_are_known_and_layouts_are_as_documented(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
@scheduled_pass(PassPosition.BEGIN, "Before")
def before(module):
    (shape,) = [node.output.shape for node in module.main.nodes if node.op.name == "Conv2DFusion"]
    assert shape == (1, 4, 6, 5), shape

@scheduled_pass(PassPosition.END, "After")
def after(module):
    (shape,) = [node.output.shape for node in module.main.nodes if node.op.name == "Conv2DFusion"]
    assert shape == (1, 6, 5, 4), shape
"""
    )
    assert convert(small_network(tmp_path / "net.onnx"), write_plugin(tmp_path, text)) == 0


def test_our_own_passes_may_be_in_the_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = small_network(tmp_path / "net.onnx")
    text = (
        SWAP
        + "PassRegistry(PassPosition.BEGIN, ['ConstFoldPass', 'DumpGraph', 'ReluToAbs', 'DecreaseTransposeAlgo'])\n"
    )
    assert convert(model, write_plugin(tmp_path, text)) == 0
    assert 'graph "main_graph" {' in capsys.readouterr().out
    assert "Abs" in names(model)


def test_a_schedule_is_replaced_and_the_decorator_adds_to_it() -> None:
    with scope(active().copy()):
        PassRegistry("A", lambda module: None)
        PassRegistry("B", PassBase())
        PassRegistry(PassPosition.END, ["A"])
        PassRegistry(PassPosition.END, ["B", "A"])
        assert PassRegistry.get_outer_schedule_task(PassPosition.END) == ("B", "A")
        assert PassRegistry.get_outer_schedule_task(PassPosition.BEGIN) == ()
        assert PassRegistry.get_pass_from_store_room("B") is not None
        assert PassRegistry.get_pass_from_store_room("C") is None
        with pytest.raises(ValueError, match="ConstFoldPass"):
            PassRegistry("ConstFoldPass", lambda module: None)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("module.main.nodes[0].no_such_thing", 1, ["the pass 'P' failed with AttributeError", "plugin.py, line 4"]),
        ("raise ConversionError('the pass says no')", 1, ["the pass says no"]),
        ("module.main.nodes.pop(0)", 1, ["the pass 'P' of", "the graph is not valid. Correct the plug-in:",
                                         "which is not produced before it"]),
        ("module.main.outputs.clear()", 1, ["the main graph has no output"]),
        ("module.main.nodes.append(None)", 1, ["the graph is not valid", "NoneType"]),
        ("a, b = module.main.nodes[:2]; a.set_inputs([b.output])", 1, ["is part of a cycle"]),
        ("module.main.nodes[0].op = ops.matmul.MatMulFusion()", 3, ["after the pass 'P', shapes cannot be inferred"]),
    ],
)  # fmt: skip
def test_what_is_said_of_a_wrong_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, status: int, said: list[str]
) -> None:
    model = small_network(tmp_path / "net.onnx")
    text = HEAD + f"@scheduled_pass(PassPosition.BEGIN, 'P')\ndef p(module):\n    {body}\n"
    assert convert(model, write_plugin(tmp_path, text)) == status
    error = capsys.readouterr().err
    assert [one for one in said if one not in error] == []
    assert not model.with_suffix(".ms").exists()


@pytest.mark.parametrize(
    ("name", "said"), [("Absent", "is not registered"), ("ToNCHWFormat", "kernels compute in NHWC only")]
)
def test_names_that_nothing_is_registered_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    text = HEAD + f"PassRegistry(PassPosition.END, ['{name}'])\n"
    assert convert(small_network(tmp_path / "net.onnx"), write_plugin(tmp_path, text)) == 3
    assert said in capsys.readouterr().err


def test_fusions_are_left_out_beside_plugins(tmp_path: Path) -> None:
    """disable_fusion concerns mslite's fusions; a blacklist may also name a plug-in's pass."""
    model = small_network(tmp_path / "net.onnx")
    text = SWAP + "PassRegistry(PassPosition.BEGIN, ['ReluToAbs'])\n"
    assert convert(model, write_plugin(tmp_path, text, extra="disable_fusion=on\n")) == 0
    assert {"Abs", "FusedBatchNorm"} <= set(names(model))
    assert convert(model, write_plugin(tmp_path, text, extra="fusion_blacklists=ReluToAbs\n")) == 0
    assert "Abs" not in names(model)
    assert load(model.with_suffix(".ms")).main.nodes

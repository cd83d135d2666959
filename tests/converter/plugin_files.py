"""Plug-ins and models for tests of the converter's registries."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from onnx import NodeProto, helper

from mslite.converter.cli import main
from mslite.converter.mindir.graph import Module, Node
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.custom import Custom
from tests.converter.onnx_models import save, weight

HALVES = """
from mslite.converter.registry import *

@custom_operator("Halves")
def halves(inputs, attributes):
    *rest, last = inputs[0].shape
    return TensorType(inputs[0].dtype, (*rest, last // attributes.integer("by", 2)))
"""
"""Registers the Custom type Halves: divides the last dimension by the attribute `by`."""

PARSER = (
    HALVES
    + """
@node_parser(FmkType.ONNX, "com.example.Halves")
def parse(node):
    return custom("Halves", by=node.attribute("by", 2))
"""
)


def halves(name: str = "halves", **attributes: int) -> NodeProto:
    return helper.make_node("Halves", ["a"], ["b"], name=name, domain="com.example", **attributes)


def network(path: Path, *middle: NodeProto, batch: int | str = 1) -> Path:
    """Returns a model with Relu, a custom source node from `a` to `b`, and a Gemm whose parser needs the rank of its input."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="relu"),
        *(middle or [halves(by=2)]),
        helper.make_node("Flatten", ["b"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "w"], ["y"], name="scores"),
    ]
    return save(path, nodes, {"x": [batch, 8]}, {"y": [batch, 3]}, [weight("w", 4, 3)])


def write_plugin(folder: Path, text: str, name: str = "plugin.py", extra: str = "") -> Path:
    """Writes a plug-in and a configuration for it in the same folder. Returns the configuration."""
    (folder / name).write_text(dedent(text))
    config = folder / "config.cfg"
    config.write_text(f"[registry]\nplugin_path={name}\n{extra}")
    return config


def convert(model: Path, config: Path, *flags: str) -> int:
    """Converts a model; the result is in the folder of the model. Returns the exit status."""
    return main([f"--modelFile={model}", f"--outputFile={model.with_suffix('')}", f"--configFile={config}", *flags])


def result(model: Path) -> Module:
    return load(model.with_suffix(".ms"))


def customs(module: Module, kind: str) -> list[Node]:
    nodes = [node for graph in module.graphs for node in graph.nodes]
    return [node for node in nodes if isinstance(node.op, Custom) and node.op.type == kind]

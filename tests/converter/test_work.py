"""Multiply-accumulates: the same number in the converter, before and after its passes, in the runtime and in generated C."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mslite.codegen.lowering import lower_ms
from mslite.codegen.program import all_steps
from mslite.codegen.targets import TARGETS
from mslite.converter.convert import convert
from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.module_io import load
from mslite.converter.options import FmkType, Options

BUILD = Path(os.environ.get("MSLITE_BUILD", "build"))


class Network:
    """Nodes behind each other, with weights of zeros."""

    def __init__(self, *shape: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shape = shape

    def call(self, operator: str, inputs: Sequence[str], *weights: Sequence[int], **attributes: object) -> str:
        name = f"{operator}{len(self.nodes)}"
        for place, dims in enumerate(weights):
            self.constants.append(numpy_helper.from_array(np.zeros(dims, np.float32), f"{name}_{place}"))
        operands = [*inputs, *(f"{name}_{place}" for place in range(len(weights)))]
        results = [name] if operator not in ("LSTM", "GRU", "RNN") else [f"{name}_all", name]
        self.nodes.append(helper.make_node(operator, operands, results, name, **attributes))
        return name

    def convolution(self, x: str, before: int, after: int, size: int, stride: int = 1, group: int = 1) -> str:
        pads = [size // 2] * 4
        shape = (after, before // group, size, size)
        y = self.call("Conv", [x], shape, pads=pads, strides=[stride] * 2, group=group)
        return self.call("BatchNormalization", [y], *[(after,)] * 4)

    def save(self, path: Path, y: str, dims: int) -> Path:
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(self.shape))],
            [helper.make_tensor_value_info(y, TensorProto.FLOAT, [None] * dims)],
            self.constants,
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
        return path


def resnet18(path: Path, width: int, size: int) -> Path:
    """He et al., Deep Residual Learning, table 1."""
    net = Network(1, 3, size, size)
    x = net.call("Relu", [net.convolution("x", 3, width, 7, 2)])
    x = net.call("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    before = width
    for stage in range(4):
        after = width << stage
        for block in range(2):
            stride = 2 if stage and not block else 1
            y = net.call("Relu", [net.convolution(x, before, after, 3, stride)])
            y = net.convolution(y, after, after, 3)
            other = x if before == after else net.convolution(x, before, after, 1, stride)
            x = net.call("Relu", [net.call("Add", [y, other])])
            before = after
    x = net.call("Flatten", [net.call("GlobalAveragePool", [x])])
    return net.save(path, net.call("Gemm", [x], (1000, before), (1000,), transB=1), 2)


def mobilenet_v2(path: Path) -> Path:
    """Sandler et al., MobileNetV2, table 2."""
    net = Network(1, 3, 224, 224)
    x, before = net.call("Clip", [net.convolution("x", 3, 32, 3, 2)]), 32
    for expansion, after, count, stride in (
        *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
        *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
    ):
        for block in range(count):
            inner, y = before * expansion, x
            if expansion > 1:
                y = net.call("Relu", [net.convolution(x, before, inner, 1)])
            y = net.call("Relu", [net.convolution(y, inner, inner, 3, 1 if block else stride, inner)])
            y = net.convolution(y, inner, after, 1)
            x, before = net.call("Add", [x, y]) if block else y, after
    x = net.call("Relu", [net.convolution(x, before, 1280, 1)])
    x = net.call("Flatten", [net.call("GlobalAveragePool", [x])])
    return net.save(path, net.call("Gemm", [x], (1000, 1280), (1000,), transB=1), 2)


def recurrent(path: Path, operator: str, gates: int) -> Path:
    net = Network(20, 2, 24)
    weights = [(1, gates * 16, 24), (1, gates * 16, 16)]
    return net.save(path, net.call(operator, ["x"], *weights, hidden_size=16), 3)


def in_module(module: Module) -> int:
    return sum(macs(node) for graph in module.graphs for node in graph.nodes)


def in_runtime(model: Path) -> int:
    page = model.with_suffix(".json")
    command = [BUILD / "benchmark" / "benchmark", f"--modelFile={model}", f"--jsonFile={page}", "--loopCount=1"]
    subprocess.run([*command, "--warmUpLoopCount=0"], check=True, capture_output=True)
    operators = json.loads(page.read_text())["operators"]
    products = [
        one for one in operators if one["type"].startswith(("Conv", "MatMul", "FullConn", "LSTM", "GRU", "RNN"))
    ]
    return sum(one["flops"] for one in products) // 2


def everywhere(source: Path) -> list[int]:
    """Before any fusion, after the converter's, in the runtime, which fuses more, and in generated C."""
    options = Options(source, source.with_suffix(""), FmkType.ONNX)
    plain = in_module(load(convert(replace(options, fusion=False)).files[0]))
    model = convert(options).files[0]
    program = lower_ms(model, TARGETS["x86"])
    return [plain, in_module(load(model)), in_runtime(model), sum(step.macs for step in all_steps(program))]


@pytest.mark.parametrize(("name", "count"), [("resnet18", 1_814_073_344), ("mobilenet_v2", 300_774_272)])
def test_known_networks(name: str, count: int, tmp_path: Path) -> None:
    """The numbers are those that torchvision states in millions: 1 814 and 301."""
    path = tmp_path / "net.onnx"
    assert everywhere(resnet18(path, 64, 224) if name == "resnet18" else mobilenet_v2(path)) == [count] * 4


@pytest.mark.parametrize(("operator", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_recurrent_layers(operator: str, gates: int, tmp_path: Path) -> None:
    """Each weight meets each step of each sequence."""
    count = 20 * 2 * gates * 16 * (24 + 16)
    assert everywhere(recurrent(tmp_path / "net.onnx", operator, gates)) == [count] * 4

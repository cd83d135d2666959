"""Convolutions with a residual: the file says them as MindSpore Lite does, and the runtime runs them as one call."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from mslite import Model, ModelType
from mslite.converter.convert import Report, convert
from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value, constant
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.convolution import Conv2DAddFusion, Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, PadMode
from mslite.converter.options import FmkType, Options
from tests.converter.onnx_models import save as save_onnx
from tests.converter.onnx_models import weight

IMAGE = np.random.default_rng(2).normal(size=(1, 8, 9, 6)).astype(np.float32)
OTHER = np.random.default_rng(3).normal(size=(1, 8, 9, 5)).astype(np.float32)


def run(path: Path, *inputs: Array) -> list[Array]:
    model = Model()
    model.build_from_file(str(path), ModelType.MINDIR_LITE)
    model.resize(model.get_inputs(), [list(array.shape) for array in inputs])
    return [np.array(output.get_data_to_numpy()) for output in model.predict(list(inputs))]


def blocks(path: Path, height: int | str = 7) -> Path:
    """A residual block with a convolution on both ways, then one with its own input as residual."""
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["x", "w2"], ["c2"]),
        helper.make_node("Add", ["c1", "c2"], ["a1"]),
        helper.make_node("Relu", ["a1"], ["y1"]),
        helper.make_node("Conv", ["y1", "w3", "b3"], ["c3"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["y1", "c3"], ["a2"]),
        helper.make_node("Clip", ["a2", "low", "high"], ["y2"]),
        helper.make_node("MaxPool", ["y2"], ["y"], kernel_shape=[2, 2]),
    ]
    limits = [helper.make_tensor("low", 1, [], [0.0]), helper.make_tensor("high", 1, [], [6.0])]
    constants = [weight("w1", 8, 3, 3, 3), weight("b1", 8), weight("w2", 8, 3, 1, 1), weight("w3", 8, 8, 3, 3)]
    constants += [weight("b3", 8), *limits]
    return save_onnx(path, nodes, {"x": [1, 3, height, 6]}, {"y": [1, 8, "e", 5]}, constants)


@pytest.mark.parametrize("height", [7, "h"])
def test_the_file_is_mindspore_lites(height: int | str, tmp_path: Path) -> None:
    model = blocks(tmp_path / "net.onnx", height)
    report = convert(Options(model, tmp_path / "net", disabled_fusions=frozenset({"ConvAddFusion"})))
    assert not any("fusion_blacklists" in note for note in report.notes)
    nodes = load(report.files[0]).main.nodes
    assert [node.op.name for node in nodes if node.op.declaration.is_custom] == []
    sums = [node.op.activation_type for node in nodes if isinstance(node.op, AddFusion)]
    assert sums == [ActivationType.RELU, ActivationType.RELU6]
    convolutions = [node.op for node in nodes if isinstance(node.op, Conv2DFusion)]
    assert [op.activation_type for op in convolutions] == [ActivationType.NO_ACTIVATION] * 3
    x = np.random.default_rng(1).normal(size=(1, 3, 7, 6)).astype(np.float32)
    (wanted,) = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    (got,) = run(report.files[0], x.transpose(0, 2, 3, 1))
    np.testing.assert_allclose(got, wanted, atol=2e-5)


def old_module(activation: ActivationType = ActivationType.RELU) -> Module:
    """As the converter wrote it once."""
    op = Conv2DAddFusion(
        format=Format.NHWC, kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.PAD,
        pad_list=(1, 1, 1, 1), group=1, activation_type=activation,
    )  # fmt: skip
    draw = np.random.default_rng(4)
    w, b = (draw.normal(size=shape).astype(np.float32) for shape in ((5, 3, 3, 6), (5,)))
    x, r = Value("x", DataType.FLOAT32, (1, 8, 9, 6)), Value("r", DataType.FLOAT32, (1, 8, 9, 5))
    y = Value("y", DataType.FLOAT32, (1, 8, 9, 5))
    return Module([Graph("main", [x, r], [y], [Node(op, "conv", (x, constant("w", w), constant("b", b), r), (y,))])])


def converted(module: Module, folder: Path) -> tuple[Path, Report]:
    old = save(module, folder / "old.ms")[0]
    return old, convert(Options(old, folder / "new", framework=FmkType.MSLITE))


@pytest.mark.nonconforming("images that name no layout")
@pytest.mark.parametrize("activation", [ActivationType.NO_ACTIVATION, ActivationType.RELU, ActivationType.RELU6])
def test_files_of_ours_that_have_the_operator(activation: ActivationType, tmp_path: Path) -> None:
    """They run, and converting them again gives MindSpore's operators, which compute the same bits."""
    old, report = converted(old_module(activation), tmp_path)
    (wanted,) = run(old, IMAGE, OTHER)
    nodes = load(report.files[0]).main.nodes
    assert [(node.op.name, node.name) for node in nodes] == [("Conv2DFusion", "conv"), ("AddFusion", "conv_sum")]
    convolution, total = (node.op for node in nodes)
    assert isinstance(convolution, Conv2DFusion)
    assert (convolution.in_channel, convolution.out_channel, convolution.mode) == (6, 5, 1)
    assert convolution.activation_type is ActivationType.NO_ACTIVATION
    assert isinstance(total, AddFusion)
    assert total.activation_type is activation
    np.testing.assert_array_equal(run(report.files[0], IMAGE, OTHER)[0], wanted)


@pytest.mark.nonconforming("images that name no layout")
def test_memory_is_that_of_one_call(tmp_path: Path) -> None:
    """Image, residual and result at one time, and nothing between the convolution and its sum."""
    _, report = converted(old_module(), tmp_path)
    assert report.peak_bytes == 4 * 8 * 9 * (6 + 5 + 5)

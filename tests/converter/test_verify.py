"""--verify finds a layer that was changed, and agrees with one that was not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.options import Options
from mslite.converter.verify.comparison import TOLERANCE, difference
from mslite.converter.verify.report import verify_conversion
from tests.converter.onnx_models import quantized_network, small_network

pytest.importorskip("onnxruntime")


def damage(file: Path, operator: str, index: int = 0) -> None:
    """Changes one weight of an `operator` in a `.ms` file, of the first; all, where they are integers."""
    module = load(file)
    node = [node for node in module.main.nodes if node.op.name == operator][index]
    changed = node.inputs[1].array().copy()
    if changed.dtype.kind == "f":
        changed.reshape(-1)[0] += 1
    else:
        changed[:] = 127
    node.inputs[1].data = changed
    file.unlink()
    save(module, file)


@pytest.mark.parametrize("operator", ["Conv2DFusion", "MatMulFusion"])
def test_the_first_diverging_layer_is_named(tmp_path: Path, operator: str) -> None:
    options = Options(small_network(tmp_path / "net.onnx"), tmp_path / "net")
    report = convert(options)
    lines: list[str] = []
    assert verify_conversion(options, report, "random", lines.append)
    damage(report.files[0], operator)
    assert not verify_conversion(options, report, "random", lines.append)
    assert "the first layer that differs is " + operator in lines[-1]


def test_quantized_layers_are_compared_by_what_they_stand_for(tmp_path: Path) -> None:
    """The source stores uint8, the result int8; the layers of both are the same to within some steps."""
    options = Options(quantized_network(tmp_path / "net.onnx"), tmp_path / "net")
    report = convert(options)
    assert QuantType.QUANT_ALL in [node.quant_type for node in load(report.files[0]).main.nodes]
    lines: list[str] = []
    assert verify_conversion(options, report, "random", lines.append)
    damage(report.files[0], "Conv2DFusion")
    assert not verify_conversion(options, report, "random", lines.append)
    assert "the first layer that differs is" in lines[-1]
    assert "w1_relu" in lines[-1]


@pytest.mark.parametrize("type_", [np.float32, np.float16])
def test_a_layer_into_which_a_scale_was_folded_is_not_blamed(tmp_path: Path, type_: type[np.floating[Any]]) -> None:
    """The scale of attention scores goes into the projection, whose result is then another than the source's."""
    file = attention_scores(tmp_path / "net.onnx", type_)
    options = Options(file, tmp_path / "net")
    report = convert(options)
    assert report.applied["MatMulMulFusion"] == 1
    lines: list[str] = []
    assert verify_conversion(options, report, "random", lines.append), lines
    damage(report.files[0], "MatMulFusion", index=-1)
    assert not verify_conversion(options, report, "random", lines.append)
    assert "the first layer that differs is MatMulFusion 'last'" in lines[-1]


def attention_scores(file: Path, type_: type[np.floating[Any]]) -> Path:
    draw = np.random.default_rng(3)
    weights = [
        onnx.numpy_helper.from_array(draw.standard_normal((8, 8)).astype(type_), name) for name in ("q", "k", "last")
    ]
    scale = onnx.numpy_helper.from_array(np.array(0.125, type_), "scale")
    nodes = [
        helper.make_node("MatMul", ["x", "q"], ["queries"], name="queries"),
        helper.make_node("MatMul", ["x", "k"], ["keys"], name="keys"),
        helper.make_node("Transpose", ["keys"], ["turned"], perm=[1, 0]),
        helper.make_node("MatMul", ["queries", "turned"], ["scores"], name="scores"),
        helper.make_node("Mul", ["scores", "scale"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["shares"], axis=-1),
        helper.make_node("MatMul", ["shares", "last"], ["y"], name="last"),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(type_))
    ports = [helper.make_tensor_value_info(name, kind, [8, 8]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "net", ports[:1], ports[1:], [*weights, scale])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return file


def test_given_inputs(tmp_path: Path) -> None:
    options = Options(small_network(tmp_path / "net.onnx"), tmp_path / "net")
    report = convert(options)
    np.save(tmp_path / "x.npy", np.ones((1, 2, 6, 5), np.float32))
    np.save(tmp_path / "wrong.npy", np.ones((1, 2, 6, 5), np.float64))
    assert verify_conversion(options, report, str(tmp_path / "x.npy"), lambda line: None)
    with pytest.raises(ConversionError, match="contains float64"):
        verify_conversion(options, report, str(tmp_path / "wrong.npy"))
    with pytest.raises(ConversionError, match="2 files were given"):
        verify_conversion(options, report, "a.npy,b.npy")


def test_differences_are_scaled_and_shapes_count() -> None:
    want = np.array([1000.0, 0.0], np.float32)
    assert not difference("a", want + np.float32(0.1), want, 2e-4).is_too_large
    assert difference("a", want + np.float32(1.0), want, 2e-4).is_too_large
    assert difference("a", want.reshape(2, 1), want, 2e-4).is_too_large
    assert difference("a", np.array([np.nan, 0], np.float32), want, 2e-4).is_too_large
    assert difference("a", np.array([1, 2], np.int32), np.array([1, 3], np.int32), 2e-4).is_too_large


@pytest.mark.parametrize("wrong", [[1.0, np.inf, np.nan], [1.0, np.nan, -np.inf], [1.0, 2.0, np.inf]])
def test_nan_and_infinities_are_told_apart(wrong: list[float]) -> None:
    wanted = np.array([1.0, np.nan, np.inf], np.float32)
    assert not difference("y", wanted.copy(), wanted, TOLERANCE).is_too_large
    found = difference("y", np.array(wrong, np.float32), wanted, TOLERANCE)
    assert found.is_too_large
    assert "NaN or infinities at different positions" in str(found)

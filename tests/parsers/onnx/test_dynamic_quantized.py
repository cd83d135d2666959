"""Models that onnxruntime's quantize_dynamic writes: one node on integers per layer, with onnxruntime's numbers.

Signed weights have 7 bits (reduce_range): onnxruntime's sums saturate on some processors where both sides have 8.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from mslite.converter.mindir.ops.enums import DataType

from .helper import Array, check, compute, make_model, node, operators, random, reference
from .test_quantized import lowered

F32, U8, I8 = np.float32, np.uint8, np.int8
PRODUCT = ["DynamicQuantizeLinear", "MulFusion", "MatMulInteger"]


def dynamic(model: ModelProto, folder: Path, kind: str, per_channel: bool = False) -> ModelProto:
    """The model with weights of 7 bits of the type `kind`."""
    quantization = pytest.importorskip("onnxruntime.quantization")
    onnx.save(onnx.shape_inference.infer_shapes(model), folder / "float.onnx")
    weight_type = quantization.QuantType[kind]
    files = (folder / "float.onnx", folder / "int8.onnx")
    quantization.quantize_dynamic(*files, per_channel=per_channel, reduce_range=True, weight_type=weight_type)
    return onnx.load(folder / "int8.onnx")


def layers() -> tuple[ModelProto, dict[str, Array]]:
    x = {"x": random(2, 7, 33)}
    constants = {"w": random(33, 20, seed=1), "b": random(20, seed=2), "v": random(20, 5, seed=3)}
    nodes = [
        node("MatMul", ["x", "w"], ["m"], name="first"),
        node("Add", ["b", "m"], ["a"]),
        node("Relu", ["a"], ["r"]),
        node("MatMul", ["r", "v"], ["y"], name="second"),
    ]
    return make_model(nodes, x, ["y"], constants), x


@pytest.mark.parametrize("kind", ["QInt8", "QUInt8"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_dense_layers(kind: str, per_channel: bool, tmp_path: Path) -> None:
    model, x = layers()
    model = dynamic(model, tmp_path, kind, per_channel)
    (actual,), (expected,) = compute(model, x, tmp_path), reference(model, x)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    assert operators(lowered(model)) == [*PRODUCT, "Activation", *PRODUCT]


@pytest.mark.parametrize("per_channel", [False, True])
def test_convolutions(per_channel: bool, tmp_path: Path) -> None:
    """The rounding between them has the layout of both, and the scale and the bias are a part of each."""
    x = {"x": random(1, 4, 9, 8)}
    constants = {"w": random(6, 2, 3, 3, seed=1), "b": random(6, seed=2), "v": random(5, 6, 1, 1, seed=3)}
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"], name="first", pads=[1, 1, 1, 1], group=2, strides=[2, 1]),
        node("Relu", ["c"], ["r"]),
        node("Conv", ["r", "v", "bv"], ["m"], name="second"),
        node("GlobalAveragePool", ["m"], ["y"]),
    ]
    model = make_model(nodes, x, ["y"], constants | {"bv": random(5, seed=4)})
    model = dynamic(model, tmp_path, "QUInt8", per_channel)
    check(model, x, tmp_path, tolerance=1e-6)
    module = lowered(model)
    assert operators(module).count("Transpose") == 1, "at the boundary"
    products = [entry for entry in module.main.nodes if entry.op.name == "ConvInteger"]
    assert [len(entry.inputs) for entry in products] == [6, 6]
    assert [value.dtype for value in products[0].inputs[:2]] == [DataType.UINT8, DataType.UINT8]


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_recurrent_layers(direction: str, tmp_path: Path) -> None:
    x, count = {"x": random(6, 1, 9)}, 1 + (direction == "bidirectional")
    constants = {"w": random(count, 28, 9, seed=1) / 3, "r": random(count, 28, 7, seed=2) / 3}
    layer = node("LSTM", ["x", "w", "r"], ["y"], name="lstm", hidden_size=7, direction=direction)
    model = dynamic(make_model([layer], x, ["y"], constants), tmp_path, "QInt8")
    assert any(entry.op_type == "DynamicQuantizeLSTM" for entry in model.graph.node)
    check(model, x, tmp_path, tolerance=1e-5)


def test_sums_beyond_24_bits(tmp_path: Path) -> None:
    """Float32 would lose their last bits."""
    chance = np.random.default_rng(1)
    a, b = (chance.integers(low, 256, shape).astype(U8) for low, shape in ((200, (2, 3001)), (190, (3001, 5))))
    model = make_model([node("MatMulInteger", ["a", "b"], ["y"])], {"a": a}, ["y"], {"b": b})
    wanted = a.astype(np.int64) @ b.astype(np.int64)
    assert wanted.max() > 1 << 26
    check(model, {"a": a}, tmp_path, wanted=[wanted.astype(np.int32)])


def test_wrong_types_are_named(tmp_path: Path) -> None:
    from mslite.converter.errors import ConversionError

    a = {"a": np.zeros((2, 3), np.int16)}
    model = make_model([node("MatMulInteger", ["a", "b"], ["y"])], a, ["y"], {"b": np.zeros((3, 2), I8)})
    with pytest.raises(ConversionError, match="INT16"):
        lowered(model)


@pytest.mark.parametrize("operator", ["Concat", "Add", "Mul"])
def test_real_constants_between_integers(operator: str, tmp_path: Path) -> None:
    """A class token that is joined, what was an 8-bit constant, and a single number: none needs float values."""
    x = {"x": random(2, 5, 4)}
    stored = np.random.default_rng(4).integers(-90, 120, (2, 1, 4)).astype(I8)
    array = {"Concat": random(2, 1, 4, seed=1), "Add": (stored - F32(7)) * F32(0.0173), "Mul": F32(0.125)}[operator]
    attributes: dict[str, Any] = {"axis": 1} if operator == "Concat" else {}
    constants: dict[str, Array] = {
        "s": np.array(0.03, F32), "z": np.array(5, I8), "t": np.array(0.043, F32), "c": np.asarray(array, F32),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["r"]),
        node(operator, ["c", "r"], ["m"], **attributes),
        node("QuantizeLinear", ["m", "t", "z"], ["p"]),
        node("DequantizeLinear", ["p", "t", "z"], ["y"]),
    ]
    model = make_model(nodes, x, ["y"], constants)
    check(model, x, tmp_path, tolerance=1e-6)
    module = lowered(model)
    assert all(value.dtype is not DataType.FLOAT32 for value in module.main.nodes[1].inputs)

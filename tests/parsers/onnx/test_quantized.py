"""Quantized ONNX models against onnxruntime and the cases of the onnx package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType
from mslite.converter.parsers.onnx import parse
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline
from tests.onnx_suite.cases import case_named

from .helper import Array, check, compute, make_model, node, operators, random, reference
from .microsoft import foreign

F32, U8, I8 = np.float32, np.uint8, np.int8


def lowered(model: ModelProto) -> Module:
    module = parse(model)
    run_pipeline(module, Settings(source_layout=Format.NCHW, input_format=Format.NCHW))
    return module


def check_steps(model: ModelProto, inputs: dict[str, Array], folder: Path, step: float = 1.0) -> None:
    """Asserts that results are within one quantization step of onnxruntime's: `step` is its size for real results."""
    for actual, expected in zip(compute(model, inputs, folder), reference(model, inputs), strict=True):
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        off = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        assert off.max() <= step * 1.001
        assert (off > step * 0.01).mean() <= 0.03, "only what lies half-way between two steps may differ"


EXACT = [
    "test_quantizelinear", "test_quantizelinear_axis", "test_quantizelinear_int16", "test_quantizelinear_uint16",
    "test_quantizelinear_blocked_asymmetric", "test_dequantizelinear", "test_dequantizelinear_axis",
    "test_dequantizelinear_int16", "test_dequantizelinear_uint16", "test_dequantizelinear_blocked",
    "test_dynamicquantizelinear", "test_dynamicquantizelinear_max_adjusted",
    "test_dynamicquantizelinear_min_adjusted", "test_qlinearconv", "test_qlinearmatmul_2D_int8_float16",
    "test_qlinearmatmul_2D_int8_float32", "test_qlinearmatmul_2D_uint8_float16",
    "test_qlinearmatmul_2D_uint8_float32", "test_qlinearmatmul_3D_int8_float16",
    "test_qlinearmatmul_3D_int8_float32", "test_qlinearmatmul_3D_uint8_float16",
    "test_qlinearmatmul_3D_uint8_float32", "test_convinteger_with_padding", "test_convinteger_without_padding",
    "test_matmulinteger",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*encountered in")  # the package makes its cases when they are asked for
def test_the_cases_of_the_onnx_package(tmp_path: Path) -> None:
    """Scales and zero points are inputs there, computed with at run time; integers have to be exactly right."""
    for name in EXACT:
        case = case_named(name)
        assert case is not None
        for actual, expected in zip(compute(case.model, case.inputs, tmp_path), case.outputs, strict=True):
            assert actual.dtype == expected.dtype, case.name
            if expected.dtype.kind == "f":
                np.testing.assert_allclose(actual, expected, rtol=1e-6, err_msg=case.name)
            else:
                np.testing.assert_array_equal(actual, expected, err_msg=case.name)


@pytest.mark.parametrize(("dtype", "point"), [(np.int8, 3), (np.uint8, 120), (np.int16, -7), (np.uint16, 30000)])
def test_casts(dtype: type, point: int, tmp_path: Path) -> None:
    x = {"x": np.concatenate([random(200) * 3, [1e9, -1e9, 0.25, 0.75, -0.25]]).astype(F32)}
    constants = {"s": np.array(0.5, F32), "z": np.array(point, dtype)}
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    model = make_model(nodes, x, ["q", "y"], constants, opset=21)
    check(model, x, tmp_path)
    assert set(operators(lowered(model))) == {"QuantDTypeCast"}


def qdq_conv(
    weights: Array, scales: Array, dtype: type, points: tuple[int, int]
) -> tuple[ModelProto, dict[str, Array]]:
    """Quantized x → Conv with a bias → Relu → quantized y, as onnxruntime's quantizer writes it."""
    x = {"x": random(1, 3, 9, 8)}
    constants = {
        "xs": np.array(0.02, F32), "xz": np.array(points[0], dtype), "w": weights, "ws": scales,
        "wz": np.zeros(scales.shape, np.int8), "b": np.arange(-3, 2).astype(np.int32) * 400,
        "bs": (scales * F32(0.02)).astype(F32), "bz": np.zeros(scales.shape, np.int32),
        "ys": np.array(0.05, F32), "yz": np.array(points[1], dtype),
    }  # fmt: skip
    per_channel = {"axis": 0} if scales.ndim else {}
    nodes = [
        node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        node("DequantizeLinear", ["xq", "xs", "xz"], ["xr"]),
        node("DequantizeLinear", ["w", "ws", "wz"], ["wr"], **per_channel),
        node("DequantizeLinear", ["b", "bs", "bz"], ["br"], **per_channel),
        node("Conv", ["xr", "wr", "br"], ["c"], pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"]),
        node("QuantizeLinear", ["r", "ys", "yz"], ["yq"]),
        node("DequantizeLinear", ["yq", "ys", "yz"], ["yr"]),
        node("ReduceMean", ["yr"], ["y"], axes=[2, 3], keepdims=0),
    ]
    return make_model(nodes, x, ["y"], constants), x


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("per_channel", [False, True])
def test_convolution_between_casts(dtype: type, per_channel: bool, tmp_path: Path) -> None:
    weights = np.random.default_rng(3).integers(-127, 128, (5, 3, 3, 3)).astype(np.int8)
    scales = np.linspace(0.001, 0.01, 5).astype(F32) if per_channel else np.array(0.004, F32)
    model, x = qdq_conv(weights, scales, dtype, (5, -128) if dtype is np.int8 else (131, 0))
    check(model, x, tmp_path, tolerance=0.002)
    module = parse(model)
    run_pipeline(module, Settings(source_layout=Format.NCHW))
    assert operators(module) == ["QuantDTypeCast", "Conv2DFusion", "QuantDTypeCast", "ReduceFusion"]
    conv = module.main.nodes[1]
    assert conv.quant_type is QuantType.QUANT_ALL
    assert [value.dtype for value in conv.inputs] == [DataType.INT8, DataType.INT8, DataType.INT32]
    assert [len(value.quant) for value in conv.inputs] == [1, scales.size, scales.size]
    assert conv.inputs[0].quant[0].zeroPoint == (5 if dtype is np.int8 else 131 - 128)
    assert conv.output.quant[0].zeroPoint == -128


def test_weights_alone_stay_small(tmp_path: Path) -> None:
    """Per column, and transposed by Gemm: records belong to the dimension that readers of the file look at."""
    x = {"x": random(3, 6)}
    constants = {
        "w": np.random.default_rng(1).integers(-127, 128, (6, 4)).astype(I8), "ws": np.linspace(0.01, 0.1, 4).astype(F32),
        "v": np.random.default_rng(2).integers(0, 256, (5, 4)).astype(U8), "vs": np.linspace(0.01, 0.1, 5).astype(F32),
        "vz": np.arange(120, 125).astype(U8),
    }  # fmt: skip
    nodes = [
        node("DequantizeLinear", ["w", "ws"], ["wr"], axis=1),
        node("MatMul", ["x", "wr"], ["h"]),
        node("DequantizeLinear", ["v", "vs", "vz"], ["vr"], axis=0),
        node("Gemm", ["h", "vr"], ["y"], transB=1),
    ]
    model = make_model(nodes, x, ["y"], constants)
    check(model, x, tmp_path)
    module = lowered(model)
    assert operators(module) == ["MatMulFusion", "MatMulFusion"]
    assert all(entry.quant_type is QuantType.QUANT_WEIGHT for entry in module.main.nodes)
    assert all(entry.inputs[1].dtype is DataType.INT8 for entry in module.main.nodes)


@pytest.mark.parametrize("per_channel", [False, True])
def test_weights_quantized_in_the_graph(per_channel: bool, tmp_path: Path) -> None:
    """Training leaves real weights behind casts; a transposition does not make them real again."""
    x = {"x": random(3, 6)}
    scales = np.linspace(0.01, 0.03, 4).astype(F32) if per_channel else scale(0.02)
    constants = {"w": random(4, 6, seed=2), "s": scales, "z": np.full(scales.shape, 3, I8)}
    nodes = [
        node("QuantizeLinear", ["w", "s", "z"], ["q"], axis=0),
        node("DequantizeLinear", ["q", "s", "z"], ["r"], axis=0),
        node("Transpose", ["r"], ["t"], perm=[1, 0]),
        node("MatMul", ["x", "t"], ["y"]),
    ]
    model = make_model(nodes, x, ["y"], constants)
    check(model, x, tmp_path)
    (product,) = lowered(model).main.nodes
    assert (product.quant_type, product.inputs[1].dtype) == (QuantType.QUANT_WEIGHT, DataType.INT8)


def test_records_along_another_dimension_are_decoded(tmp_path: Path) -> None:
    x = {"x": random(3, 6)}
    weights = np.random.default_rng(1).integers(-127, 128, (6, 4)).astype(I8)
    constants = {"w": weights, "ws": np.linspace(0.01, 0.1, 6).astype(F32)}
    nodes = [node("DequantizeLinear", ["w", "ws"], ["wr"], axis=0), node("MatMul", ["x", "wr"], ["y"])]
    model = make_model(nodes, x, ["y"], constants)
    check(model, x, tmp_path)
    assert lowered(model).main.nodes[0].inputs[1].dtype is DataType.FLOAT32


@pytest.mark.parametrize("element_type", [TensorProto.INT4, TensorProto.UINT4])
def test_four_bit_weights(element_type: int, tmp_path: Path) -> None:
    """Two to a byte, scales per block of two rows."""
    x = {"x": random(3, 5)}
    low = 0 if element_type == TensorProto.UINT4 else -8
    stored = np.random.default_rng(1).integers(low, low + 16, (5, 3))
    scales = np.linspace(0.1, 1, 9).reshape(3, 3).astype(F32)
    nodes = [
        node("DequantizeLinear", ["w", "ws"], ["wr"], axis=0, block_size=2),
        node("MatMul", ["x", "wr"], ["y"]),
    ]
    model = make_model(nodes, x, ["y"], {"ws": scales}, opset=21)
    model.graph.initializer.append(helper.make_tensor("w", element_type, stored.shape, stored.reshape(-1).tolist()))
    wanted = x["x"] @ (stored * np.repeat(scales, 2, axis=0)[:5]).astype(F32)
    check(model, x, tmp_path, wanted=[wanted])


def test_movements_of_integers(tmp_path: Path) -> None:
    """onnxruntime's quantizer pools and reshapes the integers themselves."""
    x = {"x": random(1, 2, 6, 6)}
    constants = {"s": np.array(0.02, F32), "z": np.array(131, U8), "shape": np.array([1, -1], np.int64)}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("MaxPool", ["q"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Reshape", ["p", "shape"], ["r"]),
        node("DequantizeLinear", ["r", "s", "z"], ["y"]),
    ]
    model = make_model(nodes, x, ["y"], constants)
    check_steps(model, x, tmp_path, 0.02)
    pool = next(entry for entry in lowered(model).main.nodes if entry.op.name == "MaxPoolFusion")
    assert pool.quant_type is QuantType.QUANT_ALL
    assert pool.output.dtype is DataType.INT8


def test_integers_as_inputs_and_outputs(tmp_path: Path) -> None:
    """Users see the source's unsigned integers, and their scale."""
    x = {"x": np.arange(0, 250, 5).astype(U8).reshape(5, 10)}
    constants = {"s": np.array(0.02, F32), "z": np.array(131, U8), "t": np.array(0.01, F32)}
    nodes = [
        node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        node("Sigmoid", ["r"], ["h"]),
        node("QuantizeLinear", ["h", "t", "z"], ["y"]),
    ]
    model = make_model(nodes, x, ["y"], constants)
    check_steps(model, x, tmp_path)
    module = lowered(model)
    assert operators(module) == ["QuantDTypeCast", "Activation", "QuantDTypeCast"]
    assert (module.main.inputs[0].dtype, module.main.inputs[0].quant[0].zeroPoint) == (DataType.UINT8, 131)
    assert (module.main.outputs[0].dtype, module.main.outputs[0].quant[0].scale) == (DataType.UINT8, float(F32(0.01)))


def test_plain_integers_of_a_quantization(tmp_path: Path) -> None:
    """An operator that is not quantized sees the numbers themselves."""
    x = {"x": random(4, 5)}
    constants = {"s": np.array(0.05, F32), "z": np.array(131, U8)}
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("Cast", ["q"], ["y"], to=TensorProto.FLOAT)]
    check(make_model(nodes, x, ["y"], constants), x, tmp_path)


def quantized(array: Array, scale: float, point: int, dtype: type) -> Array:
    limits = np.iinfo(dtype)
    return np.clip(np.rint(array / scale) + point, limits.min, limits.max).astype(dtype)


def scale(value: float) -> Array:
    return np.array(value, F32)


A = quantized(random(2, 4, 6), 0.03, 128, np.uint8)
B = quantized(random(2, 4, 6, seed=1), 0.02, 120, np.uint8)
IMAGE = quantized(random(1, 4, 6, 6), 0.03, 128, np.uint8)
Z = np.array(128, U8)
_ONE = {"s": scale(0.03), "z": Z, "t": scale(0.02), "u": np.array(110, U8)}
MICROSOFT: dict[str, tuple[str, dict[str, Array], dict[str, Array], dict[str, Any]]] = {
    "add": ("QLinearAdd", {"a": A}, {"as": scale(0.03), "az": Z, "b": B, "bs": scale(0.02), "bz": np.array(120, U8),
            "ys": scale(0.05), "yz": Z}, {}),
    "mul": ("QLinearMul", {"a": A}, {"as": scale(0.03), "az": Z, "b": B, "bs": scale(0.02), "bz": np.array(120, U8),
            "ys": scale(0.05), "yz": Z}, {}),
    "sigmoid": ("QLinearSigmoid", {"x": A}, _ONE | {"t": scale(1 / 256), "u": np.array(0, U8)}, {}),
    "leaky relu": ("QLinearLeakyRelu", {"x": A}, _ONE, {"alpha": 0.2}),
    "softmax": ("QLinearSoftmax", {"x": A}, _ONE | {"t": scale(1 / 256), "u": np.array(0, U8)}, {"axis": -1, "opset": 13}),
    "softmax of all that follows": ("QLinearSoftmax", {"x": A}, _ONE | {"t": scale(1 / 256), "u": np.array(0, U8)},
            {"axis": 1, "opset": 12}),
    "global average": ("QLinearGlobalAveragePool", {"x": IMAGE}, _ONE, {"channels_last": 0}),
    "average": ("QLinearAveragePool", {"x": IMAGE}, _ONE, {"kernel_shape": [2, 2], "strides": [2, 2]}),
}  # fmt: skip


@pytest.mark.parametrize("name", MICROSOFT)
def test_quantized_operators_of_onnxruntime(name: str, tmp_path: Path) -> None:
    op_type, inputs, constants, attributes = MICROSOFT[name]
    model = foreign(op_type, inputs, constants)
    model.graph.node[0].attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
    check_steps(model, inputs, tmp_path)


def test_concat_requantizes(tmp_path: Path) -> None:
    inputs = {"a": A, "b": B}
    order = ["ys", "yz", "a", "as", "az", "b", "bs", "bz"]
    constants = {"ys": scale(0.03), "yz": Z, "as": scale(0.03), "az": Z, "bs": scale(0.02), "bz": np.array(120, U8)}
    check_steps(foreign("QLinearConcat", inputs, constants, order=order, axis=1), inputs, tmp_path)


@pytest.mark.parametrize("real", [False, True])
def test_gemm(real: bool, tmp_path: Path) -> None:
    inputs = {"a": A[0]}
    # onnxruntime's sums saturate on some processors when both operands have 8 bits.
    weights = np.random.default_rng(1).integers(-63, 64, (5, 6)).astype(I8)
    constants = {
        "as": scale(0.03), "az": Z, "b": weights, "bs": np.linspace(0.01, 0.02, 5).astype(F32),
        "bz": np.zeros(5, I8), "c": np.arange(5).astype(np.int32) * 100,
    }  # fmt: skip
    if not real:
        constants |= {"ys": scale(0.05), "yz": Z}
    model = foreign("QGemm", inputs, constants, transB=1)
    if real:
        check(model, inputs, tmp_path)
    else:
        check_steps(model, inputs, tmp_path)


def test_products_that_quantize_when_running(tmp_path: Path) -> None:
    x = {"x": random(3, 6)}
    weights = np.random.default_rng(1).integers(0, 256, (6, 4)).astype(U8)
    constants = {"b": weights, "bs": np.linspace(0.01, 0.02, 4).astype(F32), "bz": np.arange(126, 130).astype(U8),
                 "bias": random(4)}  # fmt: skip
    check(foreign("DynamicQuantizeMatMul", x, constants), x, tmp_path)
    inputs = {"a": A[0]}
    constants = {"b": weights, "as": scale(0.03), "bs": scale(0.01), "az": Z, "bz": np.array(120, U8)}
    check(foreign("MatMulIntegerToFloat", inputs, constants), inputs, tmp_path)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("with_points", [False, True])
def test_weights_in_blocks(bits: int, with_points: bool, tmp_path: Path) -> None:
    """Two blocks of 32 and a rest, along the inner dimension."""
    chance = np.random.default_rng(5)
    x = {"x": random(3, 80)}
    constants = {
        "b": chance.integers(0, 256, (5, 3, 32 * bits // 8)).astype(U8),
        "s": chance.uniform(0.01, 0.1, 15).astype(F32),
    }
    if with_points:
        constants["z"] = chance.integers(0, 256, 5 * ((3 * bits + 7) // 8)).astype(U8)
    model = foreign("MatMulNBits", x, constants, K=80, N=5, bits=bits, block_size=32)
    check(model, x, tmp_path, tolerance=1e-4)


@pytest.mark.parametrize("dtype", [U8, I8])
def test_recurrent_layer_with_quantized_weights(dtype: type, tmp_path: Path) -> None:
    """The activations are rounded as onnxruntime rounds them. Weights have 7 bits: its sums saturate on some processors
    when both operands have 8."""
    chance = np.random.default_rng(5)
    x = {"x": random(4, 1, 6)}
    middle = 0 if dtype is I8 else 64
    constants = {
        "w": (chance.integers(-63, 64, (1, 6, 20)) + middle).astype(dtype),
        "r": (chance.integers(-63, 64, (1, 5, 20)) + middle).astype(dtype),
        "b": random(1, 40, seed=2),
        "ws": np.full(1, 0.01, F32), "wz": np.full(1, middle, dtype),
        "rs": np.full(1, 0.008, F32), "rz": np.full(1, middle, dtype),
    }  # fmt: skip
    order = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    model = foreign("DynamicQuantizeLSTM", x, constants, 3, order=order, hidden_size=5)
    check(model, x, tmp_path, tolerance=1e-5)
    (layer,) = (entry.op for entry in lowered(model).main.nodes if entry.op.name == "LSTMSequence")
    assert getattr(layer, "rounding") == 3  # noqa: B009


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (foreign("MatMulFpQ4", {"a": random(2, 64)}, {"b": np.zeros(64, U8)}), "quantized weights"),
        (foreign("MatMulNBits", {"a": random(2, 32), "b": np.zeros((4, 1, 16), U8)}, {"s": np.ones(4, F32)},
                 K=32, N=4, bits=4, block_size=32), "not a constant"),
        (foreign("MatMulNBits", {"a": random(2, 32)}, {"b": np.zeros(7, U8), "s": np.ones(4, F32)},
                 K=32, N=4, bits=4, block_size=32), "do not fit"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named(model: ModelProto, reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        parse(model)


def test_float8_is_refused_by_name() -> None:
    zero = helper.make_tensor("z", TensorProto.FLOAT8E4M3FN, [], b"\0", raw=True)
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    model = make_model(nodes, {"x": random(3)}, ["y"], {"s": scale(0.1)}, opset=21)
    model.graph.initializer.append(zero)
    with pytest.raises(ConversionError, match="FLOAT8E4M3FN"):
        parse(model)

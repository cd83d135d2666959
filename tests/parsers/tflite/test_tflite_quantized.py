"""Quantized operators against LiteRT's kernels: converted, written, read and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_build import Graph, Operator, Tensor, build
from tflite_run import Array, lowered, run_source

import mslite
from mslite.converter.errors import ConversionError
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.quantization import DynamicQuant
from mslite.converter.parsers.tflite import parse

_CHANCE = np.random.default_rng(11)


def integers(dtype: str, *shape: int, low: int | None = None, high: int | None = None) -> Array:
    limits = np.iinfo(dtype)
    low, high = limits.min if low is None else low, limits.max if high is None else high
    return _CHANCE.integers(low, high + 1, shape).astype(dtype)


def moving(name: str, dtype: str, shape: tuple[int, ...], scale: float = 0.05, point: int = 0) -> Tensor:
    """An activation."""
    return Tensor(name, shape, dtype, quant=(scale, point))


def stored(name: str, data: Array, scale: Any, point: Any = None, axis: int = 0, packed: bool = False) -> Tensor:
    """A constant; the zero point is 0 unless given."""
    zero = np.zeros_like(np.atleast_1d(scale), np.int64).tolist() if point is None else point
    return Tensor(name, data=data, quant=(scale, zero), axis=axis, packed=packed)


def model(name: str, inputs: list[Tensor], output: Tensor, options: tuple[str, dict[int, Any]] = ("NONE", {})) -> bytes:
    operator = Operator(name, list(range(len(inputs))), [len(inputs)], options[1], options[0])
    entering = [index for index, tensor in enumerate(inputs) if tensor.data is None]
    return build(Graph([*inputs, output], entering, [len(inputs)], [operator]))


def converted(content: bytes, folder: Path) -> Module:
    (folder / "m.tflite").write_bytes(content)
    return lowered(parse(folder / "m.tflite"))


def run(module: Module, inputs: list[Array], folder: Path) -> list[Array]:
    """Through the file and the runtime."""
    path = folder / "m.ms"
    path.unlink(missing_ok=True)
    module_io.save(module, path)
    runner = mslite.Model()
    runner.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    tensors = runner.get_inputs()
    for tensor, array in zip(tensors, inputs, strict=True):
        tensor.set_data_from_numpy(np.asarray(array, order="C"))
    return [np.asarray(tensor.get_data_to_numpy()) for tensor in runner.predict(tensors)]


def activation(tensor: Tensor) -> Array:
    if tensor.dtype == "int32":
        return integers("int32", *tensor.shape, low=-1000000, high=1000000)
    if tensor.dtype == "float32":
        return _CHANCE.uniform(-2, 2, tensor.shape).astype(np.float32)
    return integers(tensor.dtype, *tensor.shape)


def check(content: bytes, inputs: list[Tensor], folder: Path, steps: float = 1, reference: bool = False) -> Module:
    """Asserts that every element is within `steps` (of integers, or float values) of LiteRT's (`reference`: of its reference
    kernels), and the module."""
    module = converted(content, folder)
    arrays = [activation(tensor) for tensor in inputs if tensor.data is None]
    wanted = run_source(content, arrays, reference)
    for actual, expected in zip(run(module, arrays, folder), wanted, strict=True):
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        off = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        assert off.max(initial=0) <= steps
    return module


def conv(padding: int = 0, activation_code: int = 0) -> tuple[str, dict[int, Any]]:
    return "Conv2DOptions", {0: ("byte", padding), 1: ("int", 1), 2: ("int", 1), 3: ("byte", activation_code)}


def depthwise() -> tuple[str, dict[int, Any]]:
    return "DepthwiseConv2DOptions", {0: ("byte", 0), 1: ("int", 1), 2: ("int", 1), 3: ("int", 1), 4: ("byte", 3)}


SCALES = [0.01, 0.004, 0.02, 0.007]


@pytest.mark.parametrize("activation_code", [0, 1, 2, 3])
def test_convolution_with_scales_per_channel(activation_code: int, tmp_path: Path) -> None:
    inputs = [
        moving("x", "int8", (1, 6, 5, 3), 0.05, 7),
        stored("w", integers("int8", 4, 3, 3, 3, low=-127), SCALES),
        stored("b", integers("int32", 4, low=-900, high=900), [0.05 * scale for scale in SCALES]),
    ]
    content = model("CONV_2D", inputs, moving("y", "int8", (1, 6, 5, 4), 0.06, -20), conv(0, activation_code))
    module = check(content, inputs, tmp_path)
    assert all(node.quant_type is QuantType.QUANT_ALL for node in module.main.nodes)
    assert module.main.nodes[0].inputs[1].dtype is DataType.INT8
    assert len(module.main.nodes[0].inputs[1].quant) == len(module.main.nodes[0].inputs[2].quant) == 4


def test_depthwise_convolution_moves_its_scales(tmp_path: Path) -> None:
    inputs = [
        moving("x", "int8", (1, 6, 5, 4), 0.05, 7),
        stored("w", integers("int8", 1, 3, 2, 4, low=-127), SCALES, axis=3),
        stored("b", integers("int32", 4, low=-900, high=900), [0.05 * scale for scale in SCALES]),
    ]
    content = model("DEPTHWISE_CONV_2D", inputs, moving("y", "int8", (1, 6, 5, 4), 0.04, -128), depthwise())
    module = check(content, inputs, tmp_path)
    assert [record.scale for record in module.main.nodes[0].inputs[1].quant] == pytest.approx(SCALES)


def test_unsigned_bytes(tmp_path: Path) -> None:
    inputs = [
        moving("x", "uint8", (1, 6, 5, 3), 0.05, 120),
        stored("w", integers("uint8", 4, 3, 3, 3), 0.01, 131),
        stored("b", integers("int32", 4, low=-900, high=900), 0.0005),
    ]
    module = check(model("CONV_2D", inputs, moving("y", "uint8", (1, 6, 5, 4), 0.1, 100), conv()), inputs, tmp_path)
    assert [node.op.name for node in module.main.nodes] == ["QuantDTypeCast", "Conv2DFusion", "QuantDTypeCast"]
    assert [value.dtype for value in module.main.nodes[1].inputs[:2]] == [DataType.INT8, DataType.INT8]


def test_sixteen_bit_activations_with_a_wide_bias(tmp_path: Path) -> None:
    inputs = [
        moving("x", "int16", (3, 6), 0.001),
        stored("w", integers("int8", 4, 6, low=-127), 0.01),
        stored("b", integers("int64", 4, low=-90000, high=90000), 0.00001),
    ]
    options = ("FullyConnectedOptions", {})
    module = check(model("FULLY_CONNECTED", inputs, moving("y", "int16", (3, 4), 0.001), options), inputs, tmp_path)
    mark, layer = module.main.nodes
    assert mark.op.name == "Bitcast"
    assert layer.inputs[2].dtype is DataType.INT64


def real(*shape: int) -> Array:
    return _CHANCE.normal(size=shape).astype(np.float32)


def product(asymmetric: bool, **options: int) -> tuple[str, dict[int, Any]]:
    return "FullyConnectedOptions", {2: ("bool", options.get("keep", 0)), 3: ("bool", asymmetric)}


HYBRID: dict[str, tuple[str, list[Tensor], tuple[str, dict[int, Any]]]] = {
    "convolution": (
        "CONV_2D", [Tensor("x", (2, 6, 5, 3)), stored("w", integers("int8", 4, 3, 3, 3, low=-127), 0.01)], conv()
    ),
    "convolution per channel": (
        "CONV_2D", [Tensor("x", (2, 6, 5, 3)), stored("w", integers("int8", 4, 3, 3, 3, low=-127), SCALES)], conv()
    ),
    "depthwise": (
        "DEPTHWISE_CONV_2D", [Tensor("x", (2, 6, 5, 4)), stored("w", integers("int8", 1, 3, 2, 4, low=-127), SCALES, axis=3)],
        depthwise(),
    ),
    "fully connected": (
        "FULLY_CONNECTED", [Tensor("x", (3, 6)), stored("w", integers("int8", 4, 6, low=-127), 0.02)], product(False)
    ),
    "fully connected, asymmetric": (
        "FULLY_CONNECTED", [Tensor("x", (3, 6)), stored("w", integers("int8", 4, 6, low=-127), SCALES)], product(True)
    ),
    "fully connected rows": (
        "FULLY_CONNECTED", [Tensor("x", (2, 3, 6)), stored("w", integers("int8", 4, 6, low=-127), 0.02)],
        product(False, keep=1),
    ),
    "transposed": (
        "TRANSPOSE_CONV",
        [Tensor("s", data=np.array([2, 9, 9, 4], np.int32)), stored("w", integers("int8", 4, 3, 3, 5, low=-127), 0.02),
         Tensor("x", (2, 4, 4, 5))],
        ("TransposeConvOptions", {0: ("byte", 1), 1: ("int", 2), 2: ("int", 2)}),
    ),
}  # fmt: skip


ROUNDED_ELSEWHERE = ("convolution per channel", "depthwise", "fully connected, asymmetric", "transposed")
"""The scales are multiplied in another order: the last bits differ."""


@pytest.mark.parametrize("name", HYBRID)
def test_eight_bit_weights_of_float_layers(name: str, tmp_path: Path) -> None:
    """LiteRT rounds the activations to 8 bits at run time and multiplies integers, and so does the runtime."""
    operator, operands, options = HYBRID[name]
    inputs = [*operands, Tensor("b", data=real(4))]
    steps = 1e-5 if name in ROUNDED_ELSEWHERE else 0
    module = check(model(operator, inputs, Tensor("y", ()), options), inputs, tmp_path, steps, reference=True)
    mark, rounding, node = module.main.nodes
    assert mark.op.name == "Bitcast", "MindSpore Lite 2.7 rounds the activations of MatMulFusion only"
    assert isinstance(rounding.op, DynamicQuant)
    assert (node.quant_type, node.inputs[1].dtype) == (QuantType.QUANT_DYNAMIC, DataType.INT8)


@pytest.mark.parametrize("adjoint", [False, True])
def test_batch_product_with_eight_bit_weights(adjoint: bool, tmp_path: Path) -> None:
    shape = (2, 5, 6) if adjoint else (2, 6, 5)
    inputs = [Tensor("a", (2, 3, 6)), stored("b", integers("int8", *shape, low=-127), 0.02)]
    options = ("BatchMatMulOptions", {1: ("bool", adjoint)})
    module = check(model("BATCH_MATMUL", inputs, Tensor("y", (2, 3, 5)), options), inputs, tmp_path, 0, reference=True)
    assert [node.op.name for node in module.main.nodes] == ["DynamicQuant", "MatMulFusion"]


def test_four_bit_weights(tmp_path: Path) -> None:
    data = integers("int8", 3, 5, low=-7, high=7)
    inputs = [moving("x", "int8", (2, 5), 0.05, 7), stored("w", data, 0.1, packed=True)]
    content = model("FULLY_CONNECTED", inputs, moving("y", "int8", (2, 3), 0.1), ("FullyConnectedOptions", {}))
    module = converted(content, tmp_path)
    assert np.array_equal(module.main.nodes[0].inputs[1].array(), data)
    x = integers("int8", 2, 5)
    wanted = np.clip(np.rint(((x.astype(float) - 7) * 0.05) @ (data.T * 0.1) / 0.1), -128, 127)
    assert np.abs(run(module, [x], tmp_path)[0] - wanted).max() <= 1


def wide(name: str, shape: tuple[int, ...] = (2, 3, 4), scale: float = 0.05, point: int = 5) -> Tensor:
    return moving(name, "int8", shape, scale, point)


def axes(*values: int) -> Tensor:
    return Tensor("axes", data=np.array(values, np.int32))


IMAGE = (1, 6, 6, 4)
POOL = ("Pool2DOptions", {0: ("byte", 0), 1: ("int", 2), 2: ("int", 2), 3: ("int", 3), 4: ("int", 2)})
PROBABILITIES = (1 / 256, -128)
CASES: dict[str, tuple[str, list[Tensor], Tensor, tuple[str, dict[int, Any]]]] = {
    "add": ("ADD", [wide("a"), wide("b", (3, 4), 0.02, -9)], wide("y", scale=0.07), ("AddOptions", {})),
    "add constant": ("ADD", [wide("a"), stored("b", integers("int8", 4), 0.02, 3)], wide("y"), ("AddOptions", {})),
    "sub": ("SUB", [wide("a"), wide("b", (3, 4), 0.02, -9)], wide("y", scale=0.07), ("SubOptions", {})),
    "mul with relu": ("MUL", [wide("a"), wide("b", scale=0.02)], wide("y", scale=0.1), ("MulOptions", {0: ("byte", 1)})),
    "maximum": ("MAXIMUM", [wide("a"), wide("b")], wide("y"), ("MaximumMinimumOptions", {})),
    "logistic": ("LOGISTIC", [wide("x")], wide("y", (2, 3, 4), *PROBABILITIES), ("NONE", {})),
    "tanh": ("TANH", [wide("x", scale=0.02)], wide("y", (2, 3, 4), 1 / 128, 0), ("NONE", {})),
    "softmax with beta": ("SOFTMAX", [wide("x", scale=0.1)], wide("y", (2, 3, 4), *PROBABILITIES),
                          ("SoftmaxOptions", {0: ("float", 0.5)})),
    "leaky relu": ("LEAKY_RELU", [wide("x")], wide("y", scale=0.04), ("LeakyReluOptions", {0: ("float", 0.2)})),
    "hard swish": ("HARD_SWISH", [wide("x")], wide("y", scale=0.04), ("HardSwishOptions", {})),
    "relu": ("RELU", [wide("x")], wide("y", scale=0.03, point=-128), ("NONE", {})),
    "prelu": ("PRELU", [wide("x", IMAGE), stored("a", integers("int8", 1, 1, 4), 0.01, 2)], wide("y", IMAGE), ("NONE", {})),
    "prelu over space": ("PRELU", [wide("x", IMAGE), stored("a", integers("int8", 6, 6, 4), 0.01, 2)], wide("y", IMAGE),
                         ("NONE", {})),
    "average pool": ("AVERAGE_POOL_2D", [wide("x", IMAGE)], wide("y", (1, 3, 3, 4)), POOL),
    "maximum pool": ("MAX_POOL_2D", [wide("x", IMAGE)], wide("y", (1, 3, 3, 4)), POOL),
    "mean": ("MEAN", [wide("x", IMAGE), axes(1, 2)], wide("y", (1, 4), 0.02), ("ReducerOptions", {})),
    "sum": ("SUM", [wide("x", IMAGE), axes(1, 2)], wide("y", (1, 4), 0.5), ("ReducerOptions", {})),
    "reduce max": ("REDUCE_MAX", [wide("x", IMAGE), axes(3)], wide("y", (1, 6, 6)), ("ReducerOptions", {})),
    "pad": ("PAD", [wide("x"), Tensor("p", data=np.array([[0, 0], [1, 2], [0, 1]], np.int32))], wide("y", (2, 6, 5)),
            ("PadOptions", {})),
    "concatenation": ("CONCATENATION", [moving("a", "uint8", (2, 3), 0.05, 120), moving("b", "uint8", (2, 4), 0.02, 9)],
                      moving("y", "uint8", (2, 7), 0.05, 120), ("ConcatenationOptions", {0: ("int", 1)})),
    "bilinear": ("RESIZE_BILINEAR", [wide("x", IMAGE), Tensor("s", data=np.array([9, 4], np.int32))],
                 wide("y", (1, 9, 4, 4)), ("ResizeBilinearOptions", {})),
    "transposed convolution": (
        "TRANSPOSE_CONV",
        [Tensor("s", data=np.array([1, 9, 9, 2], np.int32)), stored("w", integers("int8", 2, 3, 3, 4), SCALES[:2]),
         wide("x", (1, 4, 4, 4))],
        wide("y", (1, 9, 9, 2), 0.1), ("TransposeConvOptions", {0: ("byte", 1), 1: ("int", 2), 2: ("int", 2)}),
    ),
    "batch product": ("BATCH_MATMUL", [wide("a"), wide("b", (2, 4, 5), 0.02, -3)], wide("y", (2, 3, 5), 0.1),
                      ("BatchMatMulOptions", {})),
    "requantize": ("QUANTIZE", [wide("x")], wide("y", scale=0.09, point=-3), ("NONE", {})),
    "unsigned to signed": ("QUANTIZE", [moving("x", "uint8", (5,), 0.1, 128)], moving("y", "int8", (5,), 0.1, 0), ("NONE", {})),
    "to sixteen bits": ("QUANTIZE", [wide("x")], moving("y", "int16", (2, 3, 4), 0.0005), ("NONE", {})),
    "to thirty-two bits": ("QUANTIZE", [moving("x", "int16", (2, 3), 0.001)], moving("y", "int32", (2, 3), 0.00002),
                           ("NONE", {})),
    "from thirty-two bits": ("QUANTIZE", [moving("x", "int32", (2, 3), 0.00002)], moving("y", "int16", (2, 3), 0.001),
                             ("NONE", {})),
    "sixteen bit transposed convolution": (
        "TRANSPOSE_CONV",
        [Tensor("s", data=np.array([1, 9, 9, 2], np.int32)), stored("w", integers("int8", 2, 3, 3, 4), SCALES[:2]),
         moving("x", "int16", (1, 4, 4, 4), 0.0003), stored("b", integers("int64", 2, low=-9000, high=9000),
                                                           [0.0003 * scale for scale in SCALES[:2]])],
        moving("y", "int16", (1, 9, 9, 2), 0.001),
        ("TransposeConvOptions", {0: ("byte", 1), 1: ("int", 2), 2: ("int", 2)}),
    ),
    "quantize": ("QUANTIZE", [Tensor("x", (2, 3))], moving("y", "uint8", (2, 3), 0.02, 120), ("NONE", {})),
    "dequantize": ("DEQUANTIZE", [moving("x", "uint8", (2, 3), 0.02, 120)], Tensor("y", (2, 3)), ("NONE", {})),
    "transpose": ("TRANSPOSE", [wide("x"), axes(2, 0, 1)], wide("y", (4, 2, 3)), ("TransposeOptions", {})),
    "gather": ("GATHER", [wide("x"), axes(1, 0, 1)], wide("y", (3, 3, 4)), ("GatherOptions", {})),
    "greatest index": ("ARG_MAX", [moving("x", "uint8", (3, 9), 0.02, 4), axes(1)], Tensor("y", (3,), "int32"),
                       ("ArgMaxOptions", {0: ("byte", 2)})),
    "less": ("LESS", [wide("a"), wide("b")], Tensor("y", (2, 3, 4), "bool"), ("NONE", {})),
    "cast sees the integers": ("CAST", [moving("x", "uint8", (3, 9), 0.02, 4)], Tensor("y", (3, 9)), ("CastOptions", {})),
    "sixteen bit add": ("ADD", [moving("a", "int16", (2, 3), 0.001), moving("b", "int16", (2, 3), 0.002)],
                        moving("y", "int16", (2, 3), 0.003), ("AddOptions", {4: ("bool", 1)})),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str, tmp_path: Path) -> None:
    operator, inputs, output, options = CASES[name]
    exact = output.dtype in ("float32", "int32", "bool")
    check(model(operator, inputs, output, options), inputs, tmp_path, 1e-6 if exact else 1)


def test_several_nodes_compute_on_real_numbers(tmp_path: Path) -> None:
    """What the source does not tell a scale for is not quantized in between."""
    operator, inputs, output, _ = CASES["softmax with beta"]
    falling = ("SoftmaxOptions", {0: ("float", -0.5)})
    module = converted(model(operator, inputs, output, falling), tmp_path)
    names = [node.op.name for node in module.main.nodes]
    assert (names[0], names[-1]) == ("QuantDTypeCast", "QuantDTypeCast")
    assert not any(node.quant_type for node in module.main.nodes)


@pytest.mark.parametrize("choice", [False, True])
def test_branches_on_unsigned_bytes(choice: bool, tmp_path: Path) -> None:
    """Between graphs the integers are signed already; only the model's own boundary is unsigned."""

    def value(name: str) -> Tensor:
        return moving(name, "uint8", (2, 3), 0.05, 120)

    main = Graph([Tensor("c", (), "bool"), value("x"), value("y")], [0, 1], [2],
                 [Operator("IF", [0, 1], [2], {0: ("int", 1), 1: ("int", 2)}, "IfOptions")])  # fmt: skip
    branches = [
        Graph([value("a"), value("b")], [0], [1], [Operator(name, [0, 0], [1], {}, kind)])
        for name, kind in (("ADD", "AddOptions"), ("MUL", "MulOptions"))
    ]
    content = build(main, *branches)
    arrays = [np.array(choice), integers("uint8", 2, 3)]
    (actual,), (expected,) = run(converted(content, tmp_path), arrays, tmp_path), run_source(content, arrays)
    assert actual.dtype == expected.dtype
    assert np.abs(actual.astype(int) - expected.astype(int)).max() <= 1


def test_scales_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    inputs = [wide("x", IMAGE), stored("w", integers("int8", 4, 3, 3, 4), SCALES[:3])]
    with pytest.raises(ConversionError, match="3 scales"):
        converted(model("CONV_2D", inputs, wide("y", IMAGE), conv()), tmp_path)


def test_tensors_without_a_shape_between_casts(tmp_path: Path) -> None:
    """Quantization-aware training without Optimize.DEFAULT: the weight goes through QUANTIZE and DEQUANTIZE."""
    x, weight = Tensor("x", (2, 3)), Tensor("weight", data=_CHANCE.uniform(-1, 1, (4, 3)).astype(np.float32))
    graph = Graph(
        [x, weight, moving("stored", "int8", (), 0.02), Tensor("decoded"), Tensor("y", (2, 4))],
        [0],
        [4],
        [
            Operator("QUANTIZE", [1], [2], options_type="QuantizeOptions"),
            Operator("DEQUANTIZE", [2], [3], options_type="DequantizeOptions"),
            Operator("FULLY_CONNECTED", [0, 3, -1], [4], options_type="FullyConnectedOptions"),
        ],
    )
    check(build(graph), [x], tmp_path, 1e-6)

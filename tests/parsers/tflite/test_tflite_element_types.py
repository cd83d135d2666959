"""Constants of few bits and of short floats, and weights with scales per block, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tflite_build import Graph, Operator, Tensor, build

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import DynamicQuant
from mslite.converter.options import Options
from mslite.converter.parsers.tflite import parse

Array = npt.NDArray[Any]
_CHANCE = np.random.default_rng(17)
RANGES = {"INT2": (2, -2, 1), "INT4": (4, -8, 7), "UINT4": (4, 0, 15)}
FC = "FullyConnectedOptions"


def packed(numbers: Array, bits: int) -> Array:
    """The first number in the low bits of a byte."""
    each = 8 // bits
    flat = numbers.reshape(-1).astype(np.int64) & ((1 << bits) - 1)
    flat = np.append(flat, np.zeros(-len(flat) % each, np.int64)).reshape(-1, each)
    return np.bitwise_or.reduce(flat << (bits * np.arange(each)), axis=1).astype(np.uint8)


def run(content: bytes, folder: Path, *inputs: Array) -> Array:
    (folder / "m.tflite").write_bytes(content)
    (file,) = convert(Options(folder / "m.tflite", folder / "m")).files
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE)
    (output,) = model.predict(list(inputs))
    return np.asarray(output.get_data_to_numpy())


def real(*shape: int) -> Array:
    return _CHANCE.standard_normal(shape).astype(np.float32)


def scales(*shape: int) -> Array:
    return _CHANCE.uniform(0.01, 0.1, shape).astype(np.float32)


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize("shape", [(5, 7), (4, 8), (1, 3)])
def test_a_constant_of_few_bits_is_dequantized(kind: str, shape: tuple[int, int], tmp_path: Path) -> None:
    """A scale for each row, odd sizes with bits left over, zero points."""
    bits, low, high = RANGES[kind]
    numbers = _CHANCE.integers(low, high + 1, shape)
    numbers.reshape(-1)[:2] = low, high
    by_row, points = scales(shape[0]), [low + 1] * shape[0]
    weight = Tensor("w", shape, kind=kind, data=packed(numbers, bits), quant=(by_row.tolist(), points))
    tensors = [Tensor("x", shape), weight, Tensor("d", shape), Tensor("y", shape)]
    nodes = [Operator("DEQUANTIZE", [1], [2]), Operator("ADD", [0, 2], [3], {}, "AddOptions")]
    x = real(*shape)
    found = run(build(Graph(tensors, [0], [3], nodes)), tmp_path, x)
    np.testing.assert_allclose(found, x + (numbers - (low + 1)) * by_row[:, None], 1e-6, 1e-6)


@pytest.mark.parametrize("kind", ["INT2", "INT4"])
def test_weights_of_few_bits_round_their_activations(kind: str, tmp_path: Path) -> None:
    """As eight-bit weights do in LiteRT: each row of x becomes signed bytes of one scale."""
    bits, low, high = RANGES[kind]
    numbers, by_row = _CHANCE.integers(low, high + 1, (8, 64)), scales(8)
    weight = Tensor("w", (8, 64), kind=kind, data=packed(numbers, bits), quant=(by_row.tolist(), [0] * 8))
    model = build(
        Graph(
            [Tensor("x", (3, 64)), weight, Tensor("y", (3, 8))],
            [0],
            [2],
            [Operator("FULLY_CONNECTED", [0, 1, -1], [2], {}, FC)],
        )
    )
    x = real(3, 64)
    scale = np.abs(x).max(1, keepdims=True) / np.float32(127)
    rounded = np.round(x / scale)
    want = (rounded @ numbers.T) * scale * by_row
    np.testing.assert_allclose(run(model, tmp_path, x), want, 1e-4, 1e-4)
    nodes = parse(tmp_path / "m.tflite").main.nodes
    assert isinstance(nodes[0].op, DynamicQuant)
    assert nodes[1].inputs[1].dtype is DataType.INT8


def short_floats(kind: str) -> tuple[Array, Array]:
    """Codes as bytes, and the numbers that they stand for: some of each exponent."""
    table = {
        "BFLOAT16": [(0x3F80, 1.0), (0xC049, -3.140625), (0x0000, 0.0), (0x7F7F, 3.3895313892515355e38), (0x0001, 2.0**-133)],
        "FLOAT8_E4M3FN": [(0x38, 1.0), (0xFE, -448.0), (0x01, 2.0**-9), (0x87, -7 * 2.0**-9), (0x7E, 448.0), (0x45, 3.25)],
        "FLOAT8_E5M2": [(0x3C, 1.0), (0xFB, -57344.0), (0x01, 2.0**-16), (0x83, -3 * 2.0**-16), (0x7C, np.inf), (0x43, 3.5)],
    }  # fmt: skip
    codes, values = zip(*table[kind], strict=True)
    return np.array(codes, "<u2" if kind == "BFLOAT16" else "u1").view(np.uint8), np.array(values, np.float32)


@pytest.mark.parametrize("kind", ["BFLOAT16", "FLOAT8_E4M3FN", "FLOAT8_E5M2"])
@pytest.mark.parametrize("operator", ["CAST", "DEQUANTIZE", ""])
def test_constants_of_short_floats_are_decoded(kind: str, operator: str, tmp_path: Path) -> None:
    """Behind a cast, and where an operator reads them directly."""
    data, values = short_floats(kind)
    shape = values.shape
    tensors = [Tensor("x", shape), Tensor("w", shape, kind=kind, data=data), Tensor("d", shape), Tensor("y", shape)]
    nodes = [Operator(operator, [1], [2])] if operator else []
    nodes.append(Operator("ADD", [0, 2 if operator else 1], [3], {}, "AddOptions"))
    found = run(build(Graph(tensors, [0], [3], nodes)), tmp_path, np.zeros(shape, np.float32))
    assert np.array_equal(found, values)


def test_eight_bit_floats_that_are_no_numbers_and_scales(tmp_path: Path) -> None:
    weight = Tensor(
        "w",
        (2, 2),
        kind="FLOAT8_E4M3FN",
        data=np.array([0x7F, 0xFF, 0x38, 0xB8], np.uint8),
        quant=([0.5, 4.0], [0, 0]),
        axis=1,
    )
    model = build(
        Graph(
            [Tensor("x", (2, 2)), weight, Tensor("y", (2, 2))],
            [0],
            [2],
            [Operator("ADD", [0, 1], [2], {}, "AddOptions")],
        )
    )
    found = run(model, tmp_path, np.zeros((2, 2), np.float32))
    np.testing.assert_array_equal(found, np.array([[np.nan, np.nan], [0.5, -4.0]], np.float32))


def test_computed_bfloat16_between_casts(tmp_path: Path) -> None:
    """Rounded to even, and moved; nothing computes on it, and no caller has arrays of it."""
    few = [Tensor("c", (2, 3), kind="BFLOAT16"), Tensor("d", (3, 2), kind="BFLOAT16")]
    tensors = [Tensor("x", (2, 3)), *few, Tensor("shape", data=np.array([3, 2], np.int32)), Tensor("y", (3, 2))]
    move = Operator("RESHAPE", [1, 3], [2], {}, "ReshapeOptions")
    nodes = [Operator("CAST", [0], [1]), move, Operator("CAST", [2], [4])]
    x = np.array([[1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-7], [-3.14159, 1e-40, 65504.0]], np.float32)
    codes = x.view(np.uint32).astype(np.uint64)
    rounded = ((codes + 0x7FFF + ((codes >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
    assert np.array_equal(run(build(Graph(tensors, [0], [4], nodes)), tmp_path, x), rounded.reshape(3, 2))
    path = tmp_path / "m.tflite"
    path.write_bytes(build(Graph(tensors, [0], [1], nodes[:1])))
    with pytest.raises(ConversionError, match="'c': of this graph output, BFLOAT16 tensors are only supported inside"):
        parse(path)
    path.write_bytes(build(Graph(tensors, [2], [4], nodes[2:])))
    with pytest.raises(ConversionError, match="'d': of this graph input, BFLOAT16 tensors are only supported inside"):
        parse(path)
    nodes[1] = Operator("ADD", [1, 1], [2], {}, "AddOptions")
    path.write_bytes(build(Graph(tensors, [0], [4], nodes)))
    with pytest.raises(ConversionError, match=r"no kernel of the runtime takes AddFusion\(bfloat16"):
        convert(Options(path, tmp_path / "m"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_a_cast_to_few_bits_ends_at_their_range(dtype: str, tmp_path: Path) -> None:
    x = np.array([0.0, -0.9, 127.9, -128.9, 255.9, 1e30, -1e30, np.inf, -np.inf, 40000.0], np.float32)
    limits = np.iinfo(dtype)
    tensors = [Tensor("x", x.shape), Tensor("y", x.shape, dtype)]
    found = run(build(Graph(tensors, [0], [1], [Operator("CAST", [0], [1])])), tmp_path, x)
    assert np.array_equal(found, np.trunc(np.clip(x, limits.min, limits.max)).astype(dtype))


@pytest.mark.parametrize(("dtype", "behind"), [("int8", "DEQUANTIZE"), ("uint8", "DEQUANTIZE"), ("uint8", "")])
def test_weights_with_negative_scales_of_float_layers(dtype: str, behind: str, tmp_path: Path) -> None:
    numbers, by_row = _CHANCE.integers(0, 100, (8, 64)).astype(dtype), scales(8) * np.where(np.arange(8) % 2, -1, 1)
    weight = Tensor("w", data=numbers, quant=(by_row.tolist(), [3] * 8))
    tensors = [Tensor("x", (3, 64)), weight, Tensor("d", (8, 64)), Tensor("y", (3, 8))]
    nodes = [Operator(behind, [1], [2])] if behind else []
    nodes.append(Operator("FULLY_CONNECTED", [0, 2 if behind else 1, -1], [3], {}, FC))
    x = real(3, 64)
    want = x @ ((numbers.astype(np.float64) - 3) * by_row[:, None]).T
    np.testing.assert_allclose(run(build(Graph(tensors, [0], [3], nodes)), tmp_path, x), want, 1e-4, 1e-4)


def test_a_bias_with_negative_scales_goes_with_its_weights(tmp_path: Path) -> None:
    numbers, by_row = _CHANCE.integers(-100, 100, (4, 16)).astype(np.int8), np.float32([0.01, -0.02, 0.03, -0.01])
    bias = np.array([100, 200, -300, 400], np.int32)
    tensors = [
        Tensor("x", (3, 16), "int8", quant=(0.05, 0)),
        Tensor("w", data=numbers, quant=(by_row.tolist(), [0] * 4)),
        Tensor("b", data=bias, quant=((by_row * np.float32(0.05)).tolist(), [0] * 4)),
        Tensor("y", (3, 4), "int8", quant=(0.5, 0)),
    ]
    x = _CHANCE.integers(-128, 128, (3, 16)).astype(np.int8)
    sums = x.astype(np.int64) @ numbers.astype(np.int64).T + bias
    want = np.clip(np.round(sums * (by_row * 0.05) / 0.5), -128, 127)
    model = build(Graph(tensors, [0], [3], [Operator("FULLY_CONNECTED", [0, 1, 2], [3], {}, FC)]))
    assert np.abs(run(model, tmp_path, x) - want).max() <= 1


def test_a_dequantized_constant_needs_a_scale(tmp_path: Path) -> None:
    tensors = [Tensor("x", (3,)), Tensor("w", data=np.ones(3, np.int8)), Tensor("d", (3,)), Tensor("y", (3,))]
    nodes = [Operator("DEQUANTIZE", [1], [2]), Operator("ADD", [0, 2], [3], {}, "AddOptions")]
    path = tmp_path / "m.tflite"
    path.write_bytes(build(Graph(tensors, [0], [3], nodes)))
    with pytest.raises(ConversionError, match="DEQUANTIZE 'd': its input has no scale"):
        parse(path)


@pytest.mark.parametrize("kind", ["INT2", "INT4"])
def test_weights_without_a_scale_are_refused(kind: str, tmp_path: Path) -> None:
    weight = Tensor("w", (8, 64), kind=kind, data=packed(np.zeros((8, 64), np.int8), RANGES[kind][0]))
    path = tmp_path / "m.tflite"
    tensors = [Tensor("x", (3, 64)), weight, Tensor("y", (3, 8))]
    path.write_bytes(build(Graph(tensors, [0], [2], [Operator("FULLY_CONNECTED", [0, 1, -1], [2], {}, FC)])))
    with pytest.raises(ConversionError, match=f"the weights 'w' of type {kind} have no scale"):
        parse(path)


@pytest.mark.parametrize("kind", ["FLOAT8_E5M2", "FLOAT8_E4M3FN", "NEWER"])
def test_computed_tensors_of_other_types_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    tensors = [Tensor("x", (3,)), Tensor("c", (3,), kind=kind), Tensor("y", (3,))]
    path = tmp_path / "m.tflite"
    path.write_bytes(build(Graph(tensors, [0], [2], [Operator("CAST", [0], [1]), Operator("CAST", [1], [2])])))
    name = "TYPE_99" if kind == "NEWER" else f"computed tensors of type {kind}"
    with pytest.raises(ConversionError, match=f"CAST 'c': .*{name}.* unsupported"):
        parse(path)


@pytest.mark.parametrize("kind", RANGES)
def test_computed_numbers_of_few_bits_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    few = Tensor("c", (3,), kind=kind, quant=(0.5, 0))
    path = tmp_path / "m.tflite"
    path.write_bytes(build(Graph([Tensor("x", (3,)), few], [0], [1], [Operator("QUANTIZE", [0], [1])])))
    with pytest.raises(ConversionError, match=f"QUANTIZE 'c': results of type {kind} are unsupported"):
        parse(path)
    path.write_bytes(build(Graph([few, Tensor("y", (3,))], [0], [1], [Operator("DEQUANTIZE", [0], [1])])))
    with pytest.raises(ConversionError, match=rf"'c': of this graph input, {kind} tensors are only supported inside"):
        parse(path)


def test_rows_of_a_table_of_few_bits(tmp_path: Path) -> None:
    numbers = _CHANCE.integers(-8, 8, (6, 5))
    table = Tensor("w", (6, 5), kind="INT4", data=packed(numbers, 4), quant=(0.5, 0))
    tensors = [table, Tensor("i", (2,), "int32"), Tensor("g", (2, 5), kind="INT4", quant=(0.5, 0)), Tensor("y", (2, 5))]
    nodes = [Operator("GATHER", [0, 1], [2], {}, "GatherOptions"), Operator("DEQUANTIZE", [2], [3])]
    found = run(build(Graph(tensors, [1], [3], nodes)), tmp_path, np.array([4, 1], np.int32))
    assert np.array_equal(found, numbers[[4, 1]] / 2)


def blocked(
    kind: str, shape: tuple[int, ...], block: tuple[int, ...], size: int = 0, points: Array | None = None
) -> tuple[list[Tensor], Array]:
    """x, weights with scales per block, these scales, the zero points; and what the weights stand for."""
    bits, low, high = {**RANGES, "INT8": (8, -128, 127)}[kind]
    numbers = _CHANCE.integers(low, high + 1, shape)
    counts = tuple(-(-length // step) for length, step in zip(shape, block, strict=True))
    by_block = scales(*counts).astype(np.float16)
    spread = by_block.astype(np.float32)
    zero = np.zeros(counts, np.float32) if points is None else points.astype(np.float32)
    for axis, (step, length) in enumerate(zip(block, shape, strict=True)):
        spread, zero = (
            np.repeat(array, step, axis)[(slice(None),) * axis + (slice(length),)] for array in (spread, zero)
        )
    described = (2, -1 if points is None else 3, size, () if size else block)
    data = numbers.astype(np.int8) if kind == "INT8" else packed(numbers, bits)
    weight = Tensor("w", shape, kind="" if kind == "INT8" else kind, data=data, blocks=described)
    tensors = [Tensor("x", (3, shape[-1])), weight, Tensor("s", data=by_block)]
    return tensors + ([] if points is None else [Tensor("z", data=points)]), (numbers - zero) * spread


@pytest.mark.parametrize(
    ("kind", "shape", "block", "size", "points"),
    [
        ("INT4", (8, 64), (1, 32), 32, None),
        ("INT2", (8, 64), (1, 32), 32, None),
        ("INT8", (8, 64), (1, 32), 32, None),
        ("UINT4", (8, 64), (1, 16), 16, np.full((8, 4), 7, np.int8)),
        ("INT4", (5, 40), (1, 32), 32, None),
        ("INT4", (64, 6), (32, 1), 32, None),
        ("INT4", (8, 64), (4, 16), 0, None),
    ],
    ids=["int4", "int2", "int8", "zero points", "a short last block", "the first dimension", "the shape of a block"],
)
def test_weights_with_scales_per_block(
    kind: str, shape: tuple[int, ...], block: tuple[int, ...], size: int, points: Array | None, tmp_path: Path
) -> None:
    """The product with the float values, without rounding x."""
    tensors, weight = blocked(kind, shape, block, size, points)
    tensors.append(Tensor("y", (3, shape[0])))
    output = len(tensors) - 1
    model = build(Graph(tensors, [0], [output], [Operator("FULLY_CONNECTED", [0, 1, -1], [output], {}, FC)]))
    x = real(3, shape[-1])
    np.testing.assert_allclose(run(model, tmp_path, x), x @ weight.T, 1e-5, 1e-5)


def test_a_table_with_scales_per_block(tmp_path: Path) -> None:
    tensors, weight = blocked("INT4", (6, 64), (1, 32), 32)
    tensors[0] = Tensor("i", (2,), "int32")
    tensors.append(Tensor("y", (2, 64)))
    model = build(Graph(tensors, [0], [3], [Operator("EMBEDDING_LOOKUP", [0, 1], [3])]))
    found = run(model, tmp_path, np.array([5, 0], np.int32))
    np.testing.assert_allclose(found, weight[[5, 0]], 1e-6, 0)


def test_activations_in_integers_meet_weights_with_scales_per_block(tmp_path: Path) -> None:
    tensors, weight = blocked("INT4", (8, 64), (1, 32), 32)
    tensors[0] = Tensor("x", (3, 64), "int8", quant=(0.05, 3))
    tensors.append(Tensor("y", (3, 8), "int8", quant=(0.1, -2)))
    model = build(Graph(tensors, [0], [3], [Operator("FULLY_CONNECTED", [0, 1, -1], [3], {}, FC)]))
    x = _CHANCE.integers(-128, 128, (3, 64)).astype(np.int8)
    want = np.clip(np.round(((x.astype(np.float64) - 3) * 0.05) @ weight.T / 0.1) - 2, -128, 127)
    assert np.abs(run(model, tmp_path, x) - want).max() <= 1


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        ((2, -1, 16, ()), r"tensor 'w' of shape \(8, 64\) has scales of shape \(8, 2\) for blocks of 16"),
        ((2, -1, 0, ()), "for blocks of 0"),
        ((2, -1, 0, (1, 0)), "for blocks of"),
        ((2, -1, 0, (32,)), "for blocks of"),
        ((0, -1, 32, ()), "has scales in tensor 0, which is not a numeric constant"),
        ((77, -1, 32, ()), "has scales in tensor 77"),
        ((-1, -1, 32, ()), "has scales in tensor -1"),
        ((1, -1, 32, ()), "has scales in tensor 1"),
        ((2, 77, 32, ()), "has zero points in tensor 77"),
    ],
)
def test_scales_per_block_that_do_not_fit_are_refused(blocks: Any, reason: str, tmp_path: Path) -> None:
    tensors, _ = blocked("INT4", (8, 64), (1, 32), 32)
    tensors[1].blocks = blocks
    tensors.append(Tensor("y", (3, 8)))
    path = tmp_path / "m.tflite"
    path.write_bytes(build(Graph(tensors, [0], [3], [Operator("FULLY_CONNECTED", [0, 1, -1], [3], {}, FC)])))
    with pytest.raises(ConversionError, match=reason):
        parse(path)

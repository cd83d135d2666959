"""Run-time tensors with a scale for each index of a dimension, the first or another, against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tflite_build import Graph, Operator, Tensor, build

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.options import Options
from mslite.converter.parsers.tflite import parse

Array = npt.NDArray[np.generic]
SHAPES = [((3, 3), 0), ((3, 3), 1), ((2, 3), 1), ((2, 3, 4), 1), ((2, 3, 4), 2), ((1, 2, 4, 3), 3), ((5,), 0)]


def scales(count: int) -> list[float]:
    return np.linspace(0.1, 0.3, count, dtype=np.float32).tolist()


def points(count: int, dtype: str) -> list[int]:
    return [128 + index for index in range(count)] if dtype == "uint8" else [0] * count


def spread(numbers: list[float], rank: int, axis: int) -> Array:
    return np.asarray(numbers, np.float32).reshape([-1 if index == axis else 1 for index in range(rank)])


def quantized(x: Array, shape: tuple[int, ...], axis: int, dtype: str) -> Array:
    """Halves go away from zero."""
    quotient = (x / spread(scales(shape[axis]), len(shape), axis)).astype(np.float32).astype(np.float64)
    rounded = np.sign(quotient) * np.floor(np.abs(quotient) + 0.5)
    limits = np.iinfo(dtype)
    zero = spread(points(shape[axis], dtype), len(shape), axis)
    return np.clip(rounded + zero, limits.min, limits.max).astype(dtype)


def dequantized(q: Array, shape: tuple[int, ...], axis: int) -> Array:
    zero = spread(points(shape[axis], q.dtype.name), len(shape), axis)
    return ((q.astype(np.float32) - zero) * spread(scales(shape[axis]), len(shape), axis)).astype(np.float32)


def run(content: bytes, folder: Path, *inputs: Array, input_format: Format = Format.NHWC) -> list[Array]:
    (folder / "m.tflite").write_bytes(content)
    (file,) = convert(Options(folder / "m.tflite", folder / "m", input_format=input_format)).files
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE)
    return [np.asarray(output.get_data_to_numpy()) for output in model.predict(list(inputs))]


def channels(name: str, shape: tuple[int, ...], axis: int, dtype: str = "int8") -> Tensor:
    return Tensor(name, shape, dtype, quant=(scales(shape[axis]), points(shape[axis], dtype)), axis=axis)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_quantize_and_dequantize(shape: tuple[int, ...], axis: int, dtype: str, tmp_path: Path) -> None:
    nodes = [Operator("QUANTIZE", [0], [1]), Operator("DEQUANTIZE", [1], [2])]
    model = build(
        Graph([Tensor("x", shape), channels("q", shape, axis, dtype), Tensor("y", shape)], [0], [1, 2], nodes)
    )
    x = np.random.default_rng(3).uniform(-9, 9, shape).astype(np.float32)
    stored, real = run(model, tmp_path, x)
    want = quantized(x, shape, axis, dtype)
    assert stored.dtype == want.dtype
    assert np.array_equal(stored, want)
    np.testing.assert_allclose(real, dequantized(want, shape, axis), 1e-6, 0)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_dequantize_an_input(shape: tuple[int, ...], axis: int, dtype: str, tmp_path: Path) -> None:
    model = build(
        Graph([channels("q", shape, axis, dtype), Tensor("y", shape)], [0], [1], [Operator("DEQUANTIZE", [0], [1])])
    )
    limits = np.iinfo(dtype)
    q = np.random.default_rng(4).integers(limits.min, limits.max + 1, shape).astype(dtype)
    (real,) = run(model, tmp_path, q)
    np.testing.assert_allclose(real, dequantized(q, shape, axis), 1e-6, 0)


def test_from_one_scale_to_several_and_to_those_of_another_dimension(tmp_path: Path) -> None:
    shape = (3, 3)
    tensors = [
        Tensor("x", shape, "int8", quant=(0.57, 3)),
        channels("a", shape, 0),
        channels("b", shape, 1),
        Tensor("y", shape),
    ]
    nodes = [Operator("QUANTIZE", [0], [1]), Operator("QUANTIZE", [1], [2]), Operator("DEQUANTIZE", [2], [3])]
    q = np.arange(-4, 5).astype(np.int8).reshape(shape)
    first, second, real = run(build(Graph(tensors, [0], [1, 2, 3], nodes)), tmp_path, q)
    want = quantized((q.astype(np.float32) - 3) * np.float32(0.57), shape, 0, "int8")
    assert np.array_equal(first, want)
    other = quantized(dequantized(want, shape, 0), shape, 1, "int8")
    assert np.array_equal(second, other)
    np.testing.assert_allclose(real, dequantized(other, shape, 1), 1e-6, 0)


def test_operators_between_read_the_right_dimension(tmp_path: Path) -> None:
    tensors = [
        channels("q", (2, 3), 1),
        Tensor("order", data=np.array([1, 0], np.int32)),
        channels("t", (3, 2), 0),
        Tensor("y", (3, 2)),
    ]
    nodes = [Operator("TRANSPOSE", [0, 1], [2], {}, "TransposeOptions"), Operator("DEQUANTIZE", [2], [3])]
    q = np.array([[1, 2, 3], [-4, 5, -6]], np.int8)
    stored, real = run(build(Graph(tensors, [0], [2, 3], nodes)), tmp_path, q)
    assert stored.tolist() == q.T.tolist()
    np.testing.assert_allclose(real, dequantized(q.T, (3, 2), 0), 1e-6, 0)
    tensors = [channels("q", (2, 3), 1), Tensor("y", (2, 3), "int8", quant=(0.25, 1))]
    (found,) = run(build(Graph(tensors, [0], [1], [Operator("ABS", [0], [1])])), tmp_path, q)
    exact = np.abs(dequantized(q, (2, 3), 1)) / np.float32(0.25)
    assert np.array_equal(found, (np.floor(exact + 0.5) + 1).astype(np.int8))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("stored", [False, True])
def test_a_cast_sees_the_stored_integers(dtype: str, stored: bool, tmp_path: Path) -> None:
    q = np.array([[1, 2, 3], [100, 5, 60]], np.int8).astype(dtype)
    tensor = channels("q", (2, 3), 1, dtype)
    if stored:
        tensor.data = q
    tensors = [tensor, Tensor("c", (2, 3)), Tensor("x", (2, 3)), Tensor("y", (2, 3))]
    nodes = [Operator("CAST", [0], [1]), Operator("ADD", [1, 2], [3], {}, "AddOptions")]
    zero = np.zeros((2, 3), np.float32)
    model = build(Graph(tensors, [2] if stored else [0, 2], [3], nodes))
    (found,) = run(model, tmp_path, *([zero] if stored else [q, zero]))
    assert np.array_equal(found, q.astype(np.float32))


def test_the_dimension_follows_the_layout(tmp_path: Path) -> None:
    """Images that the result takes with their channels first."""
    shape = (1, 3, 2, 4)
    weight = np.eye(4, dtype=np.float32).reshape(4, 1, 1, 4)
    tensors = [
        Tensor("x", shape), Tensor("w", data=weight), Tensor("c", shape), channels("q", shape, 3), Tensor("y", shape),
    ]  # fmt: skip
    options = {0: ("byte", 1), 1: ("int", 1), 2: ("int", 1)}
    nodes = [
        Operator("CONV_2D", [0, 1, -1], [2], options, "Conv2DOptions"),
        Operator("QUANTIZE", [2], [3]),
        Operator("DEQUANTIZE", [3], [4]),
    ]
    model = build(Graph(tensors, [0], [4], nodes))
    x = np.random.default_rng(5).uniform(-9, 9, shape).astype(np.float32)
    want = dequantized(quantized(x, shape, 3, "int8"), shape, 3)
    for order in (Format.NHWC, Format.NCHW):
        given = x if order is Format.NHWC else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
        (found,) = run(model, tmp_path, given, input_format=order)
        found = found if found.shape == shape else found.transpose(0, 2, 3, 1)
        np.testing.assert_allclose(found, want, 1e-6, 0)


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (
            Tensor("q", (2, 3), "int8", quant=([0.1, 0.2], [0, 0]), axis=1),
            r"2 scales along dimension 1 of the shape \(2, 3\)",
        ),
        (Tensor("q", (2, 3), "int8", quant=([0.1, 0.2], [0, 0]), axis=7), r"2 scales along dimension 7"),
        (Tensor("q", (2, 3), "int8", quant=([0.1, 0.0], [0, 0])), "has a scale that is not positive"),
        (Tensor("q", (2, 3), "int8", quant=(-0.5, 0)), "has the scale -0.5"),
        (Tensor("q", (2, 3), "int8", quant=(0.5, 128)), "has a zero point outside the range of its data type"),
        (
            Tensor("q", (2, 3), "uint8", quant=([0.1, 0.2], [0, 256])),
            "has a zero point outside the range of its data type",
        ),
        (
            Tensor("q", (2, 4000), "int8", quant=([0.1] * 4000, [0] * 4000), axis=1),
            "has 4000 scales; 2048 are supported",
        ),
    ],
)
@pytest.mark.parametrize("operator", ["QUANTIZE", "DEQUANTIZE"])
def test_scales_that_no_cast_takes_are_refused(operator: str, tensor: Tensor, reason: str, tmp_path: Path) -> None:
    real = Tensor("r", tensor.shape)
    tensors = [tensor, real] if operator == "DEQUANTIZE" else [real, tensor]
    path = tmp_path / "m.tflite"
    path.write_bytes(build(Graph(tensors, [0], [1], [Operator(operator, [0], [1])])))
    with pytest.raises(ConversionError, match=f"({operator} |tensor 'q').*{reason}"):
        parse(path)


def test_the_first_versions_of_mindspore_lite_have_no_such_casts(tmp_path: Path) -> None:
    shape = (2, 3)
    nodes = [Operator("QUANTIZE", [0], [1]), Operator("DEQUANTIZE", [1], [2])]
    tensors = [Tensor("x", shape), channels("q", shape, 1), Tensor("y", shape)]
    (tmp_path / "m.tflite").write_bytes(build(Graph(tensors, [0], [2], nodes)))
    report = convert(Options(tmp_path / "m.tflite", tmp_path / "m"))
    assert report.verdict is not None
    told = [str(blocker) for blockers in report.verdict.refusals.values() for blocker in blockers]
    assert any("one scale for all elements only" in text for text in told)

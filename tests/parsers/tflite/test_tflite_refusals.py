"""What is not built says so, with a remedy; graphs that call graphs become one."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from tflite_build import Graph, Operator, Tensor, build, single
from tflite_run import lowered, run_module

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.tflite import parse

_X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        ("CUSTOM:FlexErf", "TensorFlow's operator Erf.*SELECT_TF_OPS"),
        ("CUSTOM:Anything", "custom operator 'Anything' is unknown"),
        ("CUSTOM:Normalize", "not STRING"),
        ("SKIP_GRAM", "n-grams of 0 words with up to 0 skipped words"),
        ("HASHTABLE_FIND", "tables between strings and numbers"),
        ("STABLEHLO_SORT", "comparator of the sort is unsupported"),
        ("DELEGATE", "another engine"),
    ],
)
def test_refused_by_name(operator: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(single(operator, [_X]))
    with pytest.raises(ConversionError, match=message) as failure:
        parse(path)
    assert operator in str(failure.value)


SPECTRUM = [Tensor("x", (2, 8)), Tensor("n", data=np.array([2, 8], np.int32)), Tensor("c", (2, 5), "complex64")]
FOURIER = Operator("RFFT2D", [0, 1], [2], {}, "Rfft2dOptions")


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "float16", "bool"])
def test_a_cast_of_complex_numbers_takes_the_real_part(dtype: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    nodes = [FOURIER, Operator("CAST", [2], [3])]
    path.write_bytes(build(Graph([*SPECTRUM, Tensor("y", (2, 5), dtype)], [0], [3], nodes)))
    x = np.random.default_rng(5).standard_normal((2, 8)).astype(np.float32)
    (found,) = run_module(lowered(parse(path)), [x])
    real = np.fft.rfft2(x).real.astype(np.float32)
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_allclose(found.astype(np.float64), real.astype(dtype).astype(np.float64), 1e-3, 1e-5)


def test_a_cast_to_complex_numbers_is_refused_by_type(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    tensors = [Tensor("x", (3,), "int32"), Tensor("c", (3,), "complex64"), Tensor("y", (3,))]
    path.write_bytes(build(Graph(tensors, [0], [2], [Operator("CAST", [0], [1]), Operator("REAL", [1], [2])])))
    with pytest.raises(
        ConversionError,
        match=r"CAST 'c': a cast from INT32 to COMPLEX64 is unsupported. Use separate tensors for the real",
    ):
        parse(path)


def test_complex_numbers_do_not_cross_the_border_of_a_model(tmp_path: Path) -> None:
    """No caller has arrays of them: the file could not be built, or its output not be read."""
    path = tmp_path / "model.tflite"
    path.write_bytes(build(Graph(SPECTRUM, [0], [2], [FOURIER])))
    with pytest.raises(
        ConversionError, match=r"'c': of this graph output, COMPLEX64 tensors are only supported inside"
    ):
        parse(path)
    path.write_bytes(build(Graph([SPECTRUM[2], Tensor("y", (2, 5))], [0], [1], [Operator("REAL", [0], [1])])))
    with pytest.raises(ConversionError, match=r"'c': of this graph input, COMPLEX64 tensors are only supported inside"):
        parse(path)


def calling(operator: str, options: str, slot: int) -> bytes:
    """y = relu(graph 1 of (x, 3)) with graph 1 of (a, b) = a * b."""
    main = Graph(
        [Tensor("x", (2, 3)), Tensor("three", data=np.float32([3])), Tensor("m", (2, 3)), Tensor("y", (2, 3))],
        [0],
        [3],
        [
            Operator(operator, [0, 1], [2], {slot: ("int", 1)}, options),
            Operator("RELU", [2], [3]),
        ],
    )
    inner = Graph(
        [Tensor("a", (2, 3)), Tensor("b", (1,)), Tensor("p", (2, 3))],
        [0, 1],
        [2],
        [Operator("MUL", [0, 1], [2], options_type="MulOptions")],
    )
    return build(main, inner)


@pytest.mark.parametrize(
    ("operator", "options", "slot"),
    [("CALL", "CallOptions", 0), ("STABLEHLO_COMPOSITE", "StableHLOCompositeOptions", 1)],
)
def test_called_graphs_are_inlined(operator: str, options: str, slot: int, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(calling(operator, options, slot))
    module = lowered(parse(path))
    assert len(module.graphs) == 1
    np.testing.assert_array_equal(run_module(module, [_X])[0], np.maximum(_X * 3, 0))


def test_graphs_that_call_themselves_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    loop = Operator("CALL", [0], [1], {0: ("int", 1)}, "CallOptions")
    graphs = [Graph([Tensor("x", (2,)), Tensor("y", (2,))], [0], [1], [loop]) for _ in range(2)]
    path.write_bytes(build(*graphs))
    with pytest.raises(ConversionError, match="calls itself"):
        parse(path)


def _window(stride: int = 2, size: int = 2) -> bytes:
    return struct.pack("<6i", 2, stride, stride, size, size, 0)


def test_pooling_and_its_inverse(tmp_path: Path) -> None:
    """MediaPipe's operators: what was the largest of its window comes back to its place, the others are zero."""
    x = np.random.default_rng(3).permutation(32).astype(np.float32).reshape(1, 4, 4, 2) + 1
    tensors = [
        Tensor("x", (1, 4, 4, 2)),
        Tensor("m", (1, 2, 2, 2)),
        Tensor("i", (1, 2, 2, 2)),
        Tensor("y", (1, 4, 4, 2)),
    ]
    nodes = [
        Operator("CUSTOM:MaxPoolingWithArgmax2D", [0], [1, 2], custom=_window()),
        Operator("CUSTOM:MaxUnpooling2D", [1, 2], [3], custom=_window()),
    ]
    path = tmp_path / "model.tflite"
    path.write_bytes(build(Graph(tensors, [0], [1, 3], nodes)))
    largest, back = run_module(lowered(parse(path)), [x])
    windows = x.reshape(1, 2, 2, 2, 2, 2)
    np.testing.assert_array_equal(largest, windows.max((2, 4)))
    kept = windows == windows.max((2, 4), keepdims=True)
    np.testing.assert_array_equal(back, np.where(kept, windows, 0).reshape(x.shape))


def test_overlapping_windows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    x = np.zeros((1, 4, 4, 2), np.float32)
    options = {"outputs": ("float32", "float32"), "custom": _window(1, 2)}
    path.write_bytes(single("CUSTOM:MaxPoolingWithArgmax2D", [x], **options))
    with pytest.raises(ConversionError, match="without overlap"):
        parse(path)


def test_transposed_convolution_with_bias(tmp_path: Path) -> None:
    """MediaPipe's Convolution2DTransposeBias is TRANSPOSE_CONV with the size that follows from the stride."""
    chance = np.random.default_rng(5)
    x, weight, bias = (chance.normal(size=shape).astype(np.float32) for shape in ((1, 3, 4, 2), (5, 3, 3, 2), (5,)))
    path = tmp_path / "model.tflite"
    custom = struct.pack("<3i", 1, 2, 2)
    path.write_bytes(single("CUSTOM:Convolution2DTransposeBias", [x, weight, bias], constant=(1, 2), custom=custom))
    (found,) = run_module(lowered(parse(path)), [x])
    size = np.array([1, 6, 8, 5], np.int32)
    known = single(
        "TRANSPOSE_CONV",
        [size, weight, x, bias],
        constant=(0, 1, 3),
        options={0: ("byte", 0), 1: ("int", 2), 2: ("int", 2)},
        options_type="TransposeConvOptions",
    )
    path.write_bytes(known)
    (expected,) = run_module(lowered(parse(path)), [x])
    np.testing.assert_array_equal(found, expected)

"""One-node models of the rarer operators against LiteRT: segments, matrices, spectra, volumes, sparse weights, layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.parsers.tflite import parse
from tests.parsers.tflite.tflite_build import Graph, Operator, Tensor, build, single
from tests.parsers.tflite.tflite_run import Array, lowered, run_module, run_source

_CHANCE = np.random.default_rng(11)


def f32(*shape: int) -> Array:
    return _CHANCE.uniform(-2, 2, shape).astype(np.float32)


def i32(*values: Any) -> Array:
    return np.array(values, np.int32)


def options(kind: str, **values: Any) -> dict[str, Any]:
    """`_0=("int", 3)` is slot 0."""
    return {"options_type": kind, "options": {int(slot[1:]): value for slot, value in values.items()}}


def volume(padding: int, stride: tuple[int, int, int], dilation: tuple[int, int, int] = (1, 1, 1)) -> dict[str, Any]:
    d, h, w = stride
    dd, dh, dw = dilation
    return options(
        "Conv3DOptions",
        _0=("byte", padding),
        _1=("int", d),
        _2=("int", w),
        _3=("int", h),
        _5=("int", dd),
        _6=("int", dw),
        _7=("int", dh),
    )


def lstm_inputs(
    *, batch: int = 2, time: int = 5, size: int = 3, cells: int = 4, projected: int = 0, coupled: bool = False,
    peephole: bool = False, normalized: bool = False,
) -> list[Array | Tensor | None]:  # fmt: skip
    state = projected or cells
    gates = [i != 0 or not coupled for i in range(4)]
    return [
        f32(batch, time, size),
        *(f32(cells, size) if gate else None for gate in gates),
        *(f32(cells, state) / 2 if gate else None for gate in gates),
        *(f32(cells) if peephole and not (coupled and i == 0) else None for i in range(3)),
        *(f32(cells) if gate else None for gate in gates),
        f32(projected, cells) if projected else None,
        f32(projected) if projected else None,
        Tensor("h", (batch, state), variable=True),
        Tensor("c", (batch, cells), variable=True),
        *((f32(cells) if gate else None for gate in gates) if normalized else ()),
    ]


LSTM = {"constant": (*range(1, 18), *range(20, 24))} | options(
    "UnidirectionalSequenceLSTMOptions", _0=("byte", 4), _1=("float", 0.8), _2=("float", 0.9), _3=("bool", 0)
)


def bidirectional(merge: int, auxiliary: bool = False) -> tuple[list[Any], dict[str, Any]]:
    """Joined results are time-major: LiteRT puts those of the second sequence elsewhere when they are batch-major."""
    time_major = merge
    layer = lstm_inputs()
    other = lstm_inputs()
    states = [Tensor(name, (2, 4), variable=True) for name in ("fh", "fc", "bh", "bc")]
    inputs = [f32(*((5, 2) if time_major else (2, 5)), 3), *layer[1:18], *other[1:18], *states]
    if auxiliary:
        inputs += [
            f32(*((5, 2) if time_major else (2, 5)), 2),
            *(f32(4, 2) for _ in range(4)),
            *(f32(4, 2) for _ in range(4)),
        ]
    else:
        inputs += [None] * 9
    arguments = {"constant": (*range(1, 35), *range(40, 48)), "outputs": ("float32",) * (2 - merge)}
    kind = options("BidirectionalSequenceLSTMOptions", _0=("byte", 4), _3=("bool", merge), _4=("bool", time_major))
    return inputs, arguments | kind


def svdf(rank: int, bias: bool) -> tuple[str, list[Any], dict[str, Any]]:
    filters, memory = 6, 4
    inputs = [
        f32(2, 3),
        f32(filters, 3),
        f32(filters, memory),
        f32(filters // rank) if bias else None,
        Tensor("state", (2, filters * memory), variable=True),
    ]
    return "SVDF", inputs, {"constant": (1, 2, 3)} | options("SVDFOptions", _0=("int", rank), _1=("byte", 1))


_TABLE = f32(6, 2, 3)

CASES: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "segment max": (
        "UNSORTED_SEGMENT_MAX",
        [f32(5, 2), i32(0, 3, 0, 1, 3), np.int32(5)],
        {"constant": (2,)} | options("UnsortedSegmentMaxOptions"),
    ),
    "segment min of integers": (
        "UNSORTED_SEGMENT_MIN",
        [_CHANCE.integers(-9, 9, (4,)).astype(np.int32), i32(1, 0, 1, 1), np.int32(2)],
        {"constant": (2,), "outputs": ("int32",)} | options("UnsortedSegmentMinOptions"),
    ),
    "segment product": (
        "UNSORTED_SEGMENT_PROD",
        [f32(5, 2), i32(0, 2, 0, 2, 2), np.int32(3)],
        {"constant": (2,)} | options("UnsortedSegmentProdOptions"),
    ),
    "segment sum": (
        "UNSORTED_SEGMENT_SUM",
        [f32(5, 2), i32(0, 2, 0, 2, 2), np.int32(3)],
        {"constant": (2,)} | options("UnsortedSegmentSumOptions"),
    ),
    "bucketize": (
        "BUCKETIZE",
        [np.float32([-3, -1, 0, 0.5, 1, 9])],
        {"outputs": ("int32",)} | options("BucketizeOptions", _0=("[float]", [-1, 0.5, 2])),
    ),
    "embedding": ("EMBEDDING_LOOKUP", [i32(2, 0, 5), f32(6, 3)], {"constant": (1,)}),
    "sparse embedding, sum": (
        "EMBEDDING_LOOKUP_SPARSE",
        [i32(1, 3, 0), i32([0, 0], [2, 0], [2, 1]), i32(3, 2), f32(3), _TABLE],
        {"constant": (2, 4)} | options("EmbeddingLookupSparseOptions", _0=("byte", 0)),
    ),
    "sparse embedding, mean": (
        "EMBEDDING_LOOKUP_SPARSE",
        [i32(1, 3, 0), i32([0, 0], [2, 0], [2, 1]), i32(3, 2), np.abs(f32(3)), _TABLE],
        {"constant": (2, 4)} | options("EmbeddingLookupSparseOptions", _0=("byte", 1)),
    ),
    "sparse embedding, root": (
        "EMBEDDING_LOOKUP_SPARSE",
        [i32(1, 3, 0), i32([0, 0], [2, 0], [2, 1]), i32(3, 2), f32(3), _TABLE],
        {"constant": (2, 4)} | options("EmbeddingLookupSparseOptions", _0=("byte", 2)),
    ),
    "broadcast shapes": (
        "BROADCAST_ARGS",
        [i32(2, 1, 5), i32(3, 1)],
        {"outputs": ("int32",)},
    ),
    "matrix diagonal": ("MATRIX_DIAG", [f32(2, 4)], options("MatrixDiagOptions")),
    "set diagonal, wide": ("MATRIX_SET_DIAG", [f32(2, 3, 5), f32(2, 3)], options("MatrixSetDiagOptions")),
    "set diagonal, tall": ("MATRIX_SET_DIAG", [f32(5, 3), f32(3)], options("MatrixSetDiagOptions")),
    "update slice": (
        "DYNAMIC_UPDATE_SLICE",
        [f32(3, 5), f32(2, 2), i32(2, 1)],
        options("DynamicUpdateSliceOptions"),
    ),
    "bitcast": ("BITCAST", [f32(2, 3)], {"outputs": ("int32",)} | options("BitcastOptions")),
    "sparse to dense": (
        "SPARSE_TO_DENSE",
        [i32([0, 1], [2, 3], [4, 0]), i32(5, 4), f32(3), np.float32(-1)],
        {"constant": (1,)} | options("SparseToDenseOptions"),
    ),
    "hash table look-up": (
        "HASHTABLE_LOOKUP",
        [i32(4, 5, -3), i32(-3, 0, 4, 9), f32(4, 2)],
        {"constant": (1, 2), "outputs": ("float32", "uint8")},
    ),
    "hash projection, sparse": (
        "LSH_PROJECTION",
        [f32(3, 4), _CHANCE.integers(0, 99, (5,)).astype(np.int32), f32(5)],
        {"outputs": ("int32",)} | options("LSHProjectionOptions", _0=("byte", 1)),
    ),
    "hash projection, dense, long items": (
        "LSH_PROJECTION",
        [f32(2, 5), _CHANCE.integers(0, 99, (5, 7)).astype(np.int32)],
        {"outputs": ("int32",)} | options("LSHProjectionOptions", _0=("byte", 2)),
    ),
    "hash projection, dense, longer items": (
        "LSH_PROJECTION",
        [f32(2, 5), _CHANCE.integers(0, 99, (5, 12)).astype(np.int32)],
        {"outputs": ("int32",)} | options("LSHProjectionOptions", _0=("byte", 2)),
    ),
    "volume, same": ("CONV_3D", [f32(1, 5, 6, 7, 3), f32(3, 2, 3, 3, 4), f32(4)], {"constant": (1, 2)} | volume(0, (2, 1, 2))),
    "volume, valid, dilated": (
        "CONV_3D",
        [f32(2, 7, 7, 8, 2), f32(2, 3, 2, 2, 3)],
        {"constant": (1,)} | volume(1, (1, 2, 1), (3, 1, 2)),
    ),
    "transposed volume, same": (
        "CONV_3D_TRANSPOSE",
        [i32(1, 6, 8, 6, 4), f32(3, 3, 2, 4, 2), f32(1, 3, 4, 3, 2), f32(4)],
        {"constant": (0, 1, 3)} | volume(0, (2, 2, 2)),
    ),
    "transposed volume, valid": (
        "CONV_3D_TRANSPOSE",
        [i32(1, 5, 7, 4, 4), f32(3, 3, 2, 4, 2), f32(1, 3, 3, 3, 2)],
        {"constant": (0, 1)} | volume(1, (1, 2, 1)),
    ),
    "lstm, clipped": ("UNIDIRECTIONAL_SEQUENCE_LSTM", lstm_inputs(), LSTM),
    "lstm, coupled": ("UNIDIRECTIONAL_SEQUENCE_LSTM", lstm_inputs(coupled=True), LSTM),
    "lstm, coupled, peepholes": ("UNIDIRECTIONAL_SEQUENCE_LSTM", lstm_inputs(coupled=True, peephole=True), LSTM),
    "lstm, peepholes, projected": ("UNIDIRECTIONAL_SEQUENCE_LSTM", lstm_inputs(peephole=True, projected=3), LSTM),
    "lstm, normalized": ("UNIDIRECTIONAL_SEQUENCE_LSTM", lstm_inputs(normalized=True), LSTM),
    "lstm, normalized, coupled, peepholes": (
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        lstm_inputs(normalized=True, coupled=True, peephole=True, projected=3),
        LSTM,
    ),
    "lstm, both directions": ("BIDIRECTIONAL_SEQUENCE_LSTM", *bidirectional(0)),
    "lstm, both directions, joined": ("BIDIRECTIONAL_SEQUENCE_LSTM", *bidirectional(1)),
    "lstm, both directions, auxiliary": ("BIDIRECTIONAL_SEQUENCE_LSTM", *bidirectional(1, auxiliary=True)),
    "lstm, basic": (
        "LSTM",
        [f32(2, 3), f32(2, 4), f32(16, 7), f32(16), f32(2, 4)],
        {"constant": (2, 3), "outputs": ("float32",) * 4} | options("LSTMOptions", _0=("byte", 4), _3=("byte", 1)),
    ),
    "svdf": svdf(1, True),
    "svdf of rank 2": svdf(2, False),
    "rnn step": (
        "RNN",
        [f32(2, 3), f32(4, 3), f32(4, 4), f32(4), Tensor("h", (2, 4), variable=True)],
        {"constant": (1, 2, 3)} | options("RNNOptions", _0=("byte", 4)),
    ),
    "reverse sequence": (
        "REVERSE_SEQUENCE",
        [f32(3, 5, 2), i32(5, 2, 0)],
        options("ReverseSequenceOptions", _0=("int", 1), _1=("int", 0)),
    ),
    "cumulative sum": ("CUMSUM", [f32(3, 4), np.int32(-1)], {"constant": (1,)} | options("CumsumOptions", _0=("bool", 1), _1=("bool", 1))),
    "relu 0 to 1": ("RELU_0_TO_1", [f32(9)], {}),
    "sign": ("SIGN", [f32(9)], {}),
    "atan2": ("ATAN2", [f32(9), f32(9)], {}),
    "exclusive or": ("BITWISE_XOR", [i32(1, 5, -7), i32(9, -4, 3)], {"outputs": ("int32",)} | options("BitwiseXorOptions")),
    "right shift": ("RIGHT_SHIFT", [i32(1, 500, -700), i32(1, 4, 3)], {"outputs": ("int32",)} | options("RightShiftOptions")),
    "dilate": ("DILATE", [f32(2, 3), i32(2, 3), np.float32(-1)], {"constant": (1, 2)} | options("DilateOptions")),
    "stablehlo pad": (
        "STABLEHLO_PAD",
        [f32(4, 3), np.float32(7)],
        {"constant": (1,)}
        | options("StablehloPadOptions", _0=("[long]", [1, -1]), _1=("[long]", [-2, 2]), _2=("[long]", [1, 0])),
    ),
    "stablehlo add": ("STABLEHLO_ADD", [f32(4, 3), f32(4, 3)], {}),
    "stablehlo maximum": ("STABLEHLO_MAXIMUM", [f32(4, 3), f32(4, 3)], {}),
    "stablehlo shift": (
        "STABLEHLO_SHIFT_LEFT",
        [i32(1, 5, -7), i32(2, 1, 0)],
        {"outputs": ("int32",)} | options("StablehloShiftLeftOptions"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_same_as_litert(case: str, tmp_path: Path) -> None:
    name, inputs, arguments = CASES[case]
    model = single(name, inputs, **arguments)
    constant = arguments.get("constant", ())
    fed = [x for i, x in enumerate(inputs) if isinstance(x, np.ndarray | np.generic) and i not in constant]
    expected = run_source(model, fed)
    path = tmp_path / "model.tflite"
    path.write_bytes(model)
    found = run_module(lowered(parse(path)), fed)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize(
    ("shape", "lengths"), [((2, 8, 16), (8, 16)), ((3, 5, 9), (8, 4))], ids=["whole", "cut, continued"]
)
@pytest.mark.parametrize("part", ["REAL", "IMAG", "COMPLEX_ABS", "CAST"])
def test_spectra_of_images(part: str, shape: tuple[int, ...], lengths: tuple[int, int], tmp_path: Path) -> None:
    """A model gives away float values only."""
    spectrum = (*shape[:-2], lengths[0], lengths[1] // 2 + 1)
    tensors = [
        Tensor("x", shape),
        Tensor("n", data=i32(*lengths)),
        Tensor("c", spectrum, "complex64"),
        Tensor("y", spectrum),
    ]
    nodes = [Operator("RFFT2D", [0, 1], [2], options_type="Rfft2dOptions"), Operator(part, [2], [3])]
    model = build(Graph(tensors, [0], [3], nodes))
    x = f32(*shape)
    (expected,) = run_source(model, [x])
    path = tmp_path / "model.tflite"
    path.write_bytes(model)
    (found,) = run_module(lowered(parse(path)), [x])
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=3e-5, atol=3e-5)

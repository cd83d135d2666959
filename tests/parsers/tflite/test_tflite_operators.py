"""One-node models against LiteRT: attributes that are easily got wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.tflite import parse
from mslite.converter.passes.native_rules import NativeRuleError
from tests.parsers.tflite.tflite_build import Tensor, single
from tests.parsers.tflite.tflite_run import Array, lowered, run_module, run_source

_CHANCE = np.random.default_rng(5)


def f32(*shape: int) -> Array:
    return _CHANCE.uniform(-2, 2, shape).astype(np.float32)


def i32(*values: Any) -> Array:
    return np.array(values, np.int32)


def boxes(count: int) -> Array:
    """Overlapping boxes [y1, x1, y2, x2]."""
    corner = _CHANCE.uniform(0, 4, (count, 2))
    return np.concatenate([corner, corner + _CHANCE.uniform(1, 4, (count, 2))], 1).astype(np.float32)


def strided(begin: int = 0, end: int = 0, ellipsis: int = 0, new: int = 0, shrink: int = 0) -> dict[str, Any]:
    masks = (begin, end, ellipsis, new, shrink)
    return {
        "options": {slot: ("int", mask) for slot, mask in enumerate(masks)},
        "options_type": "StridedSliceOptions",
        "constant": (1, 2, 3),
    }


def options(kind: str, **values: Any) -> dict[str, Any]:
    """`_0=("int", 3)` is slot 0."""
    return {"options_type": kind, "options": {int(slot[1:]): value for slot, value in values.items()}}


CASES: dict[str, tuple[str, list[Array | Tensor | None], dict[str, Any]]] = {
    "conv same stride 2 relu6": (
        "CONV_2D",
        [f32(1, 7, 8, 3), f32(5, 3, 2, 3), f32(5)],
        {"constant": (1, 2)}
        | options("Conv2DOptions", _0=("byte", 0), _1=("int", 2), _2=("int", 2), _3=("byte", 3)),
    ),
    "conv valid dilated relu -1 to 1": (
        "CONV_2D",
        [f32(2, 9, 9, 2), f32(4, 3, 3, 2), f32(4)],
        {"constant": (1, 2)}
        | options("Conv2DOptions", _0=("byte", 1), _1=("int", 1), _2=("int", 1), _3=("byte", 2), _4=("int", 2), _5=("int", 3)),
    ),
    "conv grouped": (
        "CONV_2D",
        [f32(1, 5, 5, 6), f32(4, 3, 3, 3), f32(4)],
        {"constant": (1, 2)} | options("Conv2DOptions", _0=("byte", 0), _1=("int", 1), _2=("int", 1)),
    ),
    "depthwise multiplier 2": (
        "DEPTHWISE_CONV_2D",
        [f32(1, 6, 5, 3), f32(1, 3, 2, 6), f32(6)],
        {"constant": (1, 2)}
        | options("DepthwiseConv2DOptions", _0=("byte", 0), _1=("int", 1), _2=("int", 2), _3=("int", 2), _4=("byte", 1)),
    ),
    "transposed conv same": (
        "TRANSPOSE_CONV",
        [i32(1, 9, 10, 4), f32(4, 3, 3, 2), f32(1, 5, 5, 2), f32(4)],
        {"constant": (0, 1, 3)} | options("TransposeConvOptions", _0=("byte", 0), _1=("int", 2), _2=("int", 2)),
    ),
    "transposed conv valid": (
        "TRANSPOSE_CONV",
        [i32(1, 11, 12, 4), f32(4, 3, 3, 2), f32(1, 5, 5, 2)],
        {"constant": (0, 1)} | options("TransposeConvOptions", _0=("byte", 1), _1=("int", 2), _2=("int", 2)),
    ),
    "average pool same": (
        "AVERAGE_POOL_2D",
        [f32(1, 7, 6, 3)],
        options("Pool2DOptions", _0=("byte", 0), _1=("int", 2), _2=("int", 2), _3=("int", 3), _4=("int", 2)),
    ),
    "l2 pool": (
        "L2_POOL_2D",
        [f32(1, 6, 6, 2)],
        options("Pool2DOptions", _0=("byte", 1), _1=("int", 2), _2=("int", 2), _3=("int", 2), _4=("int", 2)),
    ),
    "fully connected flattens": (
        "FULLY_CONNECTED",
        [f32(2, 3, 4), f32(5, 12), f32(5)],
        {"constant": (1, 2)} | options("FullyConnectedOptions", _0=("byte", 1)),
    ),
    "fully connected keeps dims": (
        "FULLY_CONNECTED",
        [f32(2, 3, 4), f32(5, 4)],
        {"constant": (1,)} | options("FullyConnectedOptions", _2=("bool", 1)),
    ),
    "batch matmul adjoint": (
        "BATCH_MATMUL",
        [f32(2, 4, 3), f32(2, 5, 4)],
        options("BatchMatMulOptions", _0=("bool", 1), _1=("bool", 1)),
    ),
    "gather batch": (
        "GATHER",
        [f32(2, 5, 3), i32([0, 4, 1], [2, 2, 3])],
        options("GatherOptions", _0=("int", 1), _1=("int", 1)),
    ),
    "gather axis": ("GATHER", [f32(2, 5, 3), i32([0, 4], [2, 2])], options("GatherOptions", _0=("int", -2))),
    "gather nd": ("GATHER_ND", [f32(2, 5, 3), i32([0, 4], [1, 2])], {}),
    "scatter nd adds": ("SCATTER_ND", [i32([1], [3], [1]), f32(3, 2), i32(5, 2)], {"constant": (2,)}),
    "strided slice masks": ("STRIDED_SLICE", [f32(4, 5, 6), i32(1, 1, 5), i32(3, 0, 0), i32(1, 2, -2)], strided(1, 2)),
    "strided slice ellipsis new shrink": (
        "STRIDED_SLICE",
        [f32(4, 5, 6), i32(0, 0, 2), i32(0, 0, 3), i32(1, 1, 1)],
        strided(ellipsis=2, new=1, shrink=4),
    ),
    "slice to the end": ("SLICE", [f32(4, 5), i32(1, 2), i32(-1, 2)], {"constant": (1, 2)}),
    "concat": (
        "CONCATENATION",
        [f32(2, 3), f32(2, 4)],
        options("ConcatenationOptions", _0=("int", -1)),
    ),
    "pack": ("PACK", [f32(2, 3), f32(2, 3)], options("PackOptions", _0=("int", 2), _1=("int", -1))),
    "unpack": (
        "UNPACK",
        [f32(2, 3)],
        {"outputs": ("float32",) * 3} | options("UnpackOptions", _0=("int", 3), _1=("int", 1)),
    ),
    "split": (
        "SPLIT",
        [np.array(-1, np.int32), f32(2, 6)],
        {"constant": (0,), "outputs": ("float32",) * 3} | options("SplitOptions", _0=("int", 3)),
    ),
    "split v with rest": (
        "SPLIT_V",
        [f32(2, 6), i32(1, -1, 2), np.array(1, np.int32)],
        {"constant": (1, 2), "outputs": ("float32",) * 3} | options("SplitVOptions", _0=("int", 3)),
    ),
    "pad": ("PAD", [f32(2, 3), i32([1, 0], [0, 2])], {"constant": (1,)}),
    "pad value": ("PADV2", [f32(2, 3), i32([1, 0], [0, 2]), np.float32([7])], {"constant": (1, 2)}),
    "mirror pad symmetric": (
        "MIRROR_PAD",
        [f32(3, 4), i32([1, 2], [0, 2])],
        {"constant": (1,)} | options("MirrorPadOptions", _0=("byte", 1)),
    ),
    "mirror pad reflect": (
        "MIRROR_PAD",
        [f32(3, 4), i32([1, 2], [0, 2])],
        {"constant": (1,)} | options("MirrorPadOptions", _0=("byte", 0)),
    ),
    "prelu per channel": ("PRELU", [f32(1, 3, 4, 5), f32(1, 1, 5)], {"constant": (1,)}),
    "prelu over space": ("PRELU", [f32(1, 3, 4, 5), f32(3, 4, 5)], {"constant": (1,)}),
    "softmax beta": ("SOFTMAX", [f32(2, 7)], options("SoftmaxOptions", _0=("float", 2.5))),
    "log softmax": ("LOG_SOFTMAX", [f32(2, 7)], {}),
    "l2 norm": ("L2_NORMALIZATION", [f32(2, 3, 3, 4)], options("L2NormOptions")),
    "lrn": (
        "LOCAL_RESPONSE_NORMALIZATION",
        [f32(1, 2, 3, 8)],
        options("LocalResponseNormalizationOptions", _0=("int", 2), _1=("float", 1.5), _2=("float", 0.3), _3=("float", 0.75)),
    ),
    "reduce any": (
        "REDUCE_ANY",
        [f32(3, 4) > 1, i32(1)],
        {"constant": (1,), "outputs": ("bool",)} | options("ReducerOptions", _0=("bool", 1)),
    ),
    "mean": ("MEAN", [f32(2, 3, 4, 5), i32(1, -2)], {"constant": (1,)} | options("ReducerOptions", _0=("bool", 0))),
    "cumsum": (
        "CUMSUM",
        [f32(3, 5), np.array(-1, np.int32)],
        {"constant": (1,)} | options("CumsumOptions", _0=("bool", 1), _1=("bool", 1)),
    ),
    "argmax int64": (
        "ARG_MAX",
        [f32(3, 5), np.array(-1, np.int32)],
        {"constant": (1,), "outputs": ("int64",)} | options("ArgMaxOptions", _0=("byte", 4)),
    ),
    "top k": ("TOPK_V2", [f32(3, 6), np.array(2, np.int32)], {"constant": (1,), "outputs": ("float32", "int32")}),
    "one hot": (
        "ONE_HOT",
        [i32(0, 2, 5), np.array(4, np.int32), np.float32(3), np.float32(-1)],
        {"constant": (1, 2, 3)} | options("OneHotOptions", _0=("int", 0)),
    ),
    "select vector": ("SELECT", [np.array([True, False]), f32(2, 3), f32(2, 3)], {}),
    "select broadcast": ("SELECT_V2", [np.array([True, False, True]), f32(2, 3), f32(2, 1)], {}),
    "where": ("WHERE", [f32(3, 3) > 0], {"outputs": ("int64",)}),
    "resize bilinear half pixel": (
        "RESIZE_BILINEAR",
        [f32(1, 4, 5, 2), i32(7, 3)],
        {"constant": (1,)} | options("ResizeBilinearOptions", _3=("bool", 1)),
    ),
    "resize bilinear align corners": (
        "RESIZE_BILINEAR",
        [f32(1, 4, 5, 2), i32(7, 9)],
        {"constant": (1,)} | options("ResizeBilinearOptions", _2=("bool", 1)),
    ),
    "resize nearest": ("RESIZE_NEAREST_NEIGHBOR", [f32(1, 4, 5, 2), i32(7, 3)], {"constant": (1,)} | options("ResizeNearestNeighborOptions")),
    "resize nearest half pixel": (
        "RESIZE_NEAREST_NEIGHBOR",
        [f32(1, 4, 5, 2), i32(7, 3)],
        {"constant": (1,)} | options("ResizeNearestNeighborOptions", _1=("bool", 1)),
    ),
    "resize nearest align corners": (
        "RESIZE_NEAREST_NEIGHBOR",
        [f32(1, 4, 5, 2), i32(8, 11)],
        {"constant": (1,)} | options("ResizeNearestNeighborOptions", _0=("bool", 1)),
    ),
    "depth to space": ("DEPTH_TO_SPACE", [f32(1, 2, 3, 8)], options("DepthToSpaceOptions", _0=("int", 2))),
    "space to depth": ("SPACE_TO_DEPTH", [f32(1, 4, 6, 2)], options("SpaceToDepthOptions", _0=("int", 2))),
    "space to batch": (
        "SPACE_TO_BATCH_ND",
        [f32(1, 4, 5, 2), i32(2, 3), i32([0, 0], [1, 0])],
        {"constant": (1, 2)},
    ),
    "space to batch one dimension": (
        "SPACE_TO_BATCH_ND",
        [f32(1, 4, 2), i32(2), i32([1, 1])],
        {"constant": (1, 2)},
    ),
    "batch to space": (
        "BATCH_TO_SPACE_ND",
        [f32(4, 2, 3, 2), i32(2, 2), i32([0, 1], [1, 0])],
        {"constant": (1, 2)},
    ),
    "reverse": ("REVERSE_V2", [f32(2, 3, 4), i32(-1)], {"constant": (1,)}),
    "squeeze": ("SQUEEZE", [f32(1, 3, 1, 2)], options("SqueezeOptions")),
    "tile": ("TILE", [f32(2, 3), i32(2, 1)], {"constant": (1,)}),
    "broadcast": ("BROADCAST_TO", [f32(2, 1, 3), i32(4, 2, 5, 3)], {"constant": (1,)}),
    "fill": ("FILL", [i32(2, 3), np.float32(4)], {}),
    "range": ("RANGE", [np.float32(1), np.float32(6), np.float32(1.5)], {}),
    "expand dims": ("EXPAND_DIMS", [f32(2, 3), np.array(-1, np.int32)], {"constant": (1,)}),
    "cast": ("CAST", [f32(5)], {"outputs": ("int32",)}),
    "shape int64": ("SHAPE", [f32(2, 3)], {"outputs": ("int64",)} | options("ShapeOptions", _0=("byte", 4))),
    "round half to even": ("ROUND", [np.float32([0.5, 1.5, 2.5, -0.5, -1.5, 1.2])], {}),
    "gelu": ("GELU", [f32(9)], options("GeluOptions", _0=("bool", 0))),
    "gelu tanh": ("GELU", [f32(9)], options("GeluOptions", _0=("bool", 1))),
    "relu -1 to 1": ("RELU_N1_TO_1", [f32(9)], {}),
    "leaky relu": ("LEAKY_RELU", [f32(9)], options("LeakyReluOptions", _0=("float", 0.3))),
    "elu": ("ELU", [f32(9)], {}),
    "hard swish": ("HARD_SWISH", [f32(9) * 3], {}),
    "sub relu -1 to 1": ("SUB", [f32(2, 3), f32(3)], options("SubOptions", _0=("byte", 2))),
    "floor mod": ("FLOOR_MOD", [f32(9), f32(9)], {}),
    "power": ("POW", [np.abs(f32(9)), f32(9)], {}),
    "segment sum": ("SEGMENT_SUM", [f32(4, 2), i32(0, 0, 1, 2)], {"constant": (1,)}),
    "lstm": (
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [
            f32(2, 5, 3), *(f32(4, 3) for _ in range(4)), *(f32(4, 4) for _ in range(4)), None, None, None,
            *(f32(4) for _ in range(4)), None, None,
            Tensor("h", (2, 4), variable=True), Tensor("c", (2, 4), variable=True),
        ],
        {"constant": tuple(range(1, 16))}
        | options("UnidirectionalSequenceLSTMOptions", _0=("byte", 4), _3=("bool", 0)),
    ),
    "rnn": (
        "UNIDIRECTIONAL_SEQUENCE_RNN",
        [f32(2, 5, 3), f32(4, 3), f32(4, 4), f32(4), Tensor("h", (2, 4), variable=True)],
        {"constant": (1, 2, 3)} | options("SequenceRNNOptions", _0=("bool", 0), _1=("byte", 4)),
    ),
    "non max suppression fills up": (
        "NON_MAX_SUPPRESSION_V4",
        [boxes(12), f32(12), np.int32(20), np.float32(0.4), np.float32(-0.5)],
        {"constant": (2, 3, 4), "outputs": ("int32", "int32")} | options("NonMaxSuppressionV4Options"),
    ),
    "non max suppression cuts off, with scores": (
        "NON_MAX_SUPPRESSION_V5",
        [boxes(30), f32(30), np.int32(3), np.float32(0.5), np.float32(-1.5), np.float32(0)],
        {"constant": (2, 3, 4, 5), "outputs": ("int32", "float32", "int32")} | options("NonMaxSuppressionV5Options"),
    ),
    "soft non max suppression": (
        "NON_MAX_SUPPRESSION_V5",
        [boxes(30), np.abs(f32(30)), np.int32(20), np.float32(0.6), np.float32(0.1), np.float32(0.5)],
        {"constant": (2, 3, 4, 5), "outputs": ("int32", "float32", "int32")} | options("NonMaxSuppressionV5Options"),
    ),
    "soft non max suppression with limits of the run": (
        "NON_MAX_SUPPRESSION_V5",
        [boxes(30), np.abs(f32(30)), np.int32(9), np.float32(0.9), np.float32(0.05), np.float32(0.2)],
        {"constant": (2,), "outputs": ("int32", "float32", "int32")} | options("NonMaxSuppressionV5Options"),
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
    module = parse(path)
    try:
        found = run_module(lowered(module), fed)
    except (ConversionError, NativeRuleError) as error:
        if "no kernel" in str(error) or "no shape rule" in str(error):
            pytest.skip(str(error))
        raise
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)

"""Operators that move stored integers, or mix neighbors, give those of LiteRT's reference kernels, to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.integer_audit import CASES
from tests.kernels.integer_models import TYPES, Tensor, compare, integers, model, scales, zero_points
from tests.parsers.tflite.tflite_build import Graph, Operator, build

EXAMPLES = settings(max_examples=25, deadline=None)


@pytest.mark.parametrize("name", ["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])
@pytest.mark.parametrize("dtype", TYPES)
@EXAMPLES
@given(data=st.data())
def test_resizing(name: str, dtype: str, data: st.DataObject) -> None:
    draw = data.draw
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 8)), draw(st.integers(1, 8)), draw(st.integers(1, 70)))
    size = draw(st.tuples(st.integers(1, 17), st.integers(1, 17)))
    aligned, half = draw(st.sampled_from([(False, False), (True, False), (False, True)]))
    quant = draw(scales), draw(zero_points(dtype))
    tensors = [
        Tensor("x", shape, dtype, quant=quant),
        Tensor("size", (2,), "int32", data=np.array(size, np.int32)),
        Tensor("y", (shape[0], *size, shape[3]), dtype, quant=quant),
    ]
    options = "ResizeBilinearOptions", {2: ("bool", aligned), 3: ("bool", half)}
    if name == "RESIZE_NEAREST_NEIGHBOR":
        options = "ResizeNearestNeighborOptions", {0: ("bool", aligned), 1: ("bool", half)}
    compare(model(name, tensors, options=options), [integers(draw(st.integers(0, 99)), dtype, shape)])


@pytest.mark.parametrize("name", ["PAD", "PADV2", "MIRROR_PAD"])
@pytest.mark.parametrize("dtype", TYPES)
@EXAMPLES
@given(data=st.data())
def test_padding(name: str, dtype: str, data: st.DataObject) -> None:
    draw = data.draw
    rank = draw(st.integers(1, 4))
    shape = draw(st.lists(st.integers(2, 6), min_size=rank, max_size=rank))
    limit = 1 if name == "MIRROR_PAD" else 3
    pads = np.array([draw(st.tuples(st.integers(0, limit), st.integers(0, limit))) for _ in shape], np.int32)
    quant = draw(scales), draw(zero_points(dtype))
    tensors = [Tensor("x", shape, dtype, quant=quant), Tensor("pads", pads.shape, "int32", data=pads)]
    options = "PadOptions", {}
    if name == "PADV2":
        tensors.append(
            Tensor("value", data=integers(draw(st.integers(0, 99)), dtype, (3,))[2:].reshape(1), quant=quant)
        )
        options = "PadV2Options", {}
    elif name == "MIRROR_PAD":
        options = "MirrorPadOptions", {0: ("byte", draw(st.integers(0, 1)))}
    tensors.append(Tensor("y", (np.array(shape) + pads.sum(1)).tolist(), dtype, quant=quant))
    compare(model(name, tensors, options=options), [integers(draw(st.integers(0, 99)), dtype, shape)])


@pytest.mark.parametrize("dtype", TYPES)
@EXAMPLES
@given(data=st.data())
def test_joining(dtype: str, data: st.DataObject) -> None:
    """Unsigned pieces may have records of their own, the reference rescales them in float32."""
    draw = data.draw
    rows, inner = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    quant = draw(scales), draw(zero_points(dtype))
    records = [
        (draw(scales), draw(zero_points(dtype))) if dtype == "uint8" and draw(st.booleans()) else quant for _ in sizes
    ]
    tensors = [
        Tensor(f"x{index}", (rows, size, inner), dtype, quant=record)
        for index, (size, record) in enumerate(zip(sizes, records, strict=True))
    ]
    tensors.append(Tensor("y", (rows, sum(sizes), inner), dtype, quant=quant))
    content = model("CONCATENATION", tensors, options=("ConcatenationOptions", {0: ("int", 1)}))
    seed = draw(st.integers(0, 99))
    compare(content, [integers(seed + index, dtype, (rows, size, inner)) for index, size in enumerate(sizes)])


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@EXAMPLES
@given(data=st.data())
def test_space_to_batch(dtype: str, data: st.DataObject) -> None:
    draw = data.draw
    block = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    shape = draw(st.integers(1, 2)), draw(st.integers(1, 6)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    before = draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    pads = [(b, -(size + b) % step) for b, size, step in zip(before, shape[1:3], block, strict=True)]
    quant = draw(scales), draw(zero_points(dtype))
    sizes = [(size + sum(pad)) // step for size, pad, step in zip(shape[1:3], pads, block, strict=True)]
    tensors = [
        Tensor("x", shape, dtype, quant=quant),
        Tensor("block", (2,), "int32", data=np.array(block, np.int32)),
        Tensor("pads", (2, 2), "int32", data=np.array(pads, np.int32)),
        Tensor("y", (shape[0] * block[0] * block[1], *sizes, shape[3]), dtype, quant=quant),
    ]
    content = model("SPACE_TO_BATCH_ND", tensors, options=("SpaceToBatchNDOptions", {}))
    compare(content, [integers(draw(st.integers(0, 99)), dtype, shape)])


def _axis(value: int) -> Tensor:
    return Tensor("axis", (), "int32", data=np.array(value, np.int32))


def _ints(*values: int) -> Tensor:
    return Tensor("ints", (len(values),), "int32", data=np.array(values, np.int32))


SHAPE = (2, 4, 6, 3)
MOVES = {
    "RESHAPE": ([_ints(8, 18)], [(8, 18)], ("ReshapeOptions", {})),
    "TRANSPOSE": ([_ints(0, 3, 1, 2)], [(2, 3, 4, 6)], ("TransposeOptions", {})),
    "SLICE": ([_ints(0, 1, 2, 0), _ints(2, 3, -1, 2)], [(2, 3, 4, 2)], ("SliceOptions", {})),
    "STRIDED_SLICE": (
        [_ints(0, 3, 0, 0), _ints(2, 0, 6, 3), _ints(1, -1, 2, 1)],
        [(2, 3, 3, 3)],
        ("StridedSliceOptions", {}),
    ),
    "GATHER": ([_ints(2, 0, 2)], [(2, 3, 6, 3)], ("GatherOptions", {0: ("int", 1)})),
    "TILE": ([_ints(1, 2, 1, 2)], [(2, 8, 6, 6)], ("TileOptions", {})),
    "REVERSE_V2": ([_ints(1)], [SHAPE], ("ReverseV2Options", {})),
    "DEPTH_TO_SPACE": ([], [(2, 8, 12, 3)], ("DepthToSpaceOptions", {0: ("int", 2)})),
    "SPACE_TO_DEPTH": ([], [(2, 2, 3, 12)], ("SpaceToDepthOptions", {0: ("int", 2)})),
    "BATCH_TO_SPACE_ND": (
        [_ints(2, 1), Tensor("crops", (2, 2), "int32", data=np.array([[0, 1], [1, 0]], np.int32))],
        [(1, 7, 5, 3)],
        ("BatchToSpaceNDOptions", {}),
    ),
    "EXPAND_DIMS": ([_axis(1)], [(2, 1, 4, 6, 3)], ("ExpandDimsOptions", {})),
    "UNPACK": ([], [(4, 6, 3), (4, 6, 3)], ("UnpackOptions", {0: ("int", 2), 1: ("int", 0)})),
    "GATHER_ND": (
        [Tensor("at", (2, 2), "int32", data=np.array([[1, 3], [0, 2]], np.int32))],
        [(2, 6, 3)],
        ("GatherNdOptions", {}),
    ),
    "BROADCAST_TO": ([_ints(3, 2, 4, 6, 3)], [(3, 2, 4, 6, 3)], ("BroadcastToOptions", {})),
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", MOVES)
def test_moves(name: str, dtype: str) -> None:
    """Elements of one record move as they are."""
    if dtype == "int16" and "DEPTH" in name:
        pytest.skip("the reference does not move these")
    more, shapes, options = MOVES[name]
    shape = (2, 4, 6, 12) if name == "DEPTH_TO_SPACE" else SHAPE
    quant = (0.05, 0 if dtype == "int16" else 7)
    outputs = [Tensor(f"y{index}", size, dtype, quant=quant) for index, size in enumerate(shapes)]
    content = model(name, [Tensor("x", shape, dtype, quant=quant), *more, *outputs], len(outputs), options)
    compare(content, [integers(3, dtype, shape)])


@pytest.mark.parametrize("dtype", TYPES)
def test_splitting(dtype: str) -> None:
    quant = (0.05, 0 if dtype == "int16" else 7)
    outputs = [Tensor(f"y{index}", (2, 4, 3, 3), dtype, quant=quant) for index in range(2)]
    tensors = [_axis(2), Tensor("x", SHAPE, dtype, quant=quant), *outputs]
    content = model("SPLIT", tensors, 2, ("SplitOptions", {0: ("int", 2)}))
    compare(content, [integers(3, dtype, SHAPE)])


@pytest.mark.parametrize("dtype", TYPES)
def test_packing(dtype: str) -> None:
    quant = (0.05, 0 if dtype == "int16" else 7)
    tensors = [Tensor(f"x{index}", (4, 6), dtype, quant=quant) for index in range(3)]
    tensors.append(Tensor("y", (4, 3, 6), dtype, quant=quant))
    content = model("PACK", tensors, options=("PackOptions", {0: ("int", 3), 1: ("int", 1)}))
    compare(content, [integers(seed, dtype, (4, 6)) for seed in range(3)])


COPYING = (
    "AVERAGE_POOL_2D BROADCAST_TO DEPTH_TO_SPACE DYNAMIC_UPDATE_SLICE EMBEDDING_LOOKUP GATHER GATHER_ND MATRIX_DIAG"
    " MATRIX_SET_DIAG MAXIMUM MAX_POOL_2D MINIMUM ONE_HOT PAD REDUCE_WINDOW RESHAPE RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR"
    " REVERSE_SEQUENCE REVERSE_V2 SCATTER_ND SELECT SELECT_V2 SLICE SPACE_TO_DEPTH SPARSE_TO_DENSE SPLIT SPLIT_V SQUEEZE"
    " STRIDED_SLICE TILE TOPK_V2 TRANSPOSE"
)
"""What takes the integers of its operands for its result's, whatever their records say."""
NOT_IN_THE_REFERENCE = {("DEPTH_TO_SPACE", "int16"), ("ONE_HOT", "int16"), ("REVERSE_SEQUENCE", "int8"), ("SCATTER_ND", "int16"),
                        ("SPACE_TO_DEPTH", "int16"), ("SPARSE_TO_DENSE", "int16")}  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", [*COPYING.split(), "CONCATENATION"])
def test_integers_are_copied_into_other_records(name: str, dtype: str) -> None:
    """TensorFlow's converter gives the results of Reverse scales of their own; the reference computes on the integers."""
    if (name, dtype) in NOT_IN_THE_REFERENCE or (name == "CONCATENATION" and dtype == "int8"):
        pytest.skip("the reference does not take these")
    subject = CASES[name](dtype)
    first = len(subject.tensors) - subject.outputs
    other = (0.125, 0 if dtype == "int16" else 7)
    results = [replace(tensor, quant=tensor.quant and other) for tensor in subject.tensors[first:]]
    tensors = [*subject.tensors[:first], *results]
    given = [tensor for tensor in tensors[:first] if tensor.data is None]
    inputs = list(subject.inputs) or [integers(5 + i, x.dtype, x.shape) for i, x in enumerate(given)]
    compare(model(name, tensors, subject.outputs, subject.options), inputs)


def test_copies_of_one_operand_have_records_of_their_own() -> None:
    shape, axis = (2, 3, 4), Tensor("axis", (1,), "int32", data=np.array([1], np.int32))
    tensors = [
        Tensor("x", shape, "int8", quant=(0.1, 3)),
        axis,
        Tensor("a", shape, "int8", quant=(0.2, 5)),
        Tensor("b", shape, "int8", quant=(0.3, -5)),
        Tensor("y", shape, "int8", quant=(0.4, 1)),
    ]
    nodes = [
        Operator("REVERSE_V2", [0, 1], [2], {}, "ReverseV2Options"),
        Operator("REVERSE_V2", [0, 1], [3], {}, "ReverseV2Options"),
        Operator("ADD", [2, 3], [4], {}, "AddOptions"),
    ]
    compare(build(Graph(tensors, [0], [4], nodes)), [integers(3, "int8", shape)])

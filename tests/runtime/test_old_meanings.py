"""Operators that MindSpore Lite's kernels compute differently from its tables say, in the runtime and in the converter."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.convert import convert
from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.ms_writer import write_ms
from mslite.converter.mindir.ops.assembly import Split
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, Format, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Squeeze
from mslite.converter.mindir.ops.reduction import TopKFusion
from mslite.converter.mindir.ops.resize import Resize
from mslite.converter.mindir.ops.tables import Tensor
from mslite.converter.options import Options
from tests.passes.norm_files import Tables, predict


def computed(path: Path, x: Array, folder: Path) -> Array:
    """What the runtime makes of the file, and of what the converter makes of it."""
    result = predict(path, x)
    again = convert(Options(path, folder / "again.ms")).files[0]
    np.testing.assert_array_equal(predict(again, x), result)
    return result


def top_k(folder: Path, version: str, **attributes: int) -> Array:
    """The two best of each row of [3, 3]."""
    tables = Tables(3, 3)
    tables.node(TopKFusion(**attributes), 0, np.array([2], np.int32), shape=(3, 2), format=Format.NHWC)
    tables.tensors.append(Tensor(nodeType=2, dataType=DataType.INT32, dims=(3, 2), format=Format.NHWC, name="index"))
    values = len(tables.tensors) - 2
    tables.nodes[-1].outputIndex = (values, values + 1)
    meta = dataclasses.replace(tables.meta(version), outputIndex=(values,))
    assert meta.subGraph is not None
    meta.subGraph[0].outputIndices = (values,)
    path = write_ms(meta, folder / "top.ms")[0]
    return computed(path, np.array([[1, 3, 2], [6, 4, 5], [9, 8, 7]], np.float32), folder)


BEST = np.array([[3, 2], [6, 5], [9, 8]], np.float32)


@pytest.mark.nonconforming("fields that old readers pass over")
@pytest.mark.parametrize("version", ["1.2.0", "1.3.0", "1.5.0"])
def test_the_best_of_the_last_dimension(version: str, tmp_path: Path) -> None:
    """Converters up to 1.5 write neither axis nor direction."""
    np.testing.assert_array_equal(top_k(tmp_path, version), BEST)


@pytest.mark.parametrize("largest", [0, 1])
def test_the_best_of_an_axis(largest: int, tmp_path: Path) -> None:
    """Later ones write the axis, and of TensorFlow's operator no direction, which no version reads."""
    np.testing.assert_array_equal(top_k(tmp_path, "2.7.0", axis=-1, largest=largest), BEST)


def test_the_smallest(tmp_path: Path) -> None:
    """Files of mslite."""
    found = top_k(tmp_path, "2.7.0", axis=-1, largest=-1)
    np.testing.assert_array_equal(found, np.array([[1, 2], [4, 5], [7, 8]], np.float32))


@pytest.mark.parametrize(
    ("version", "format", "entries"),
    [
        ("1.3.0", Format.NCHW, (1, 1, 2, 1)),
        ("1.3.0", Format.NHWC, (1, 2, 1, 1)),
        ("1.5.0", Format.NCHW, (1, 2, 1, 1)),
        ("2.7.0", Format.NHWC, (1, 2, 1, 1)),
    ],
)
@pytest.mark.parametrize("of", [np.float32, np.int32])
def test_four_sizes_in_the_order_of_their_layout(
    version: str, format: Format, entries: tuple[int, ...], of: type[np.generic], tmp_path: Path
) -> None:
    """Twice as high, as high as wide as deep. By the numbers alone NCHW and NHWC cannot be told apart."""
    tables = Tables(1, 2, 4, 4)
    target = np.array(entries, np.float32)
    if of is np.int32:
        target = (
            target * np.array([1, 4, 2, 4] if format is Format.NCHW and version == "1.3.0" else [1, 2, 4, 4])
        ).astype(of)
    op = Resize(
        format=Format.NHWC,
        method=ResizeMethod.NEAREST,
        coordinate_transform_mode=CoordinateTransformMode.ASYMMETRIC,
    )
    tables.node(op, 0, np.asarray(target), shape=(1, 4, 4, 4), format=Format.NHWC)
    tables.tensors[-2].format = format
    x = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
    np.testing.assert_array_equal(computed(tables.write(tmp_path, version), x, tmp_path), x.repeat(2, axis=1))


@pytest.mark.nonconforming("operands instead of attributes")
@pytest.mark.parametrize("stated", [(), (3, 3)])
def test_sizes_of_split_as_an_operand(stated: tuple[int, ...], tmp_path: Path) -> None:
    """As 2.0 writes ONNX's operand; it counts more than the attribute."""
    tables = Tables(1, 6)
    tables.node(
        Split(output_num=2, axis=1, size_splits=stated), 0, np.array([2, 4], np.int32), shape=(1, 2), format=Format.NHWC
    )
    tables.tensors.append(Tensor(nodeType=2, dataType=DataType.FLOAT32, dims=(1, 4), format=Format.NHWC, name="rest"))
    rest = len(tables.tensors) - 1
    tables.nodes[-1].outputIndex = (rest - 1, rest)
    x = np.arange(6, dtype=np.float32).reshape(1, 6)
    np.testing.assert_array_equal(computed(tables.write(tmp_path, "2.0.0"), x, tmp_path), x[:, 2:])


@pytest.mark.nonconforming("operands instead of attributes")
def test_axes_of_squeeze_as_an_operand(tmp_path: Path) -> None:
    tables = Tables(1, 3, 1)
    tables.node(Squeeze(), 0, np.array([-1], np.int32), shape=(1, 3), format=Format.NHWC)
    x = np.arange(3, dtype=np.float32).reshape(1, 3, 1)
    np.testing.assert_array_equal(computed(tables.write(tmp_path, "2.0.0"), x, tmp_path), x[..., 0])


@pytest.mark.parametrize("version", ["1.3.0", "2.0.0", "2.7.0"])
def test_nearest_with_asymmetric_is_floor(version: str, tmp_path: Path) -> None:
    tables = Tables(1, 1, 2, 1)
    op = Resize(
        format=Format.NHWC,
        method=ResizeMethod.NEAREST,
        new_height=1,
        new_width=7,
        nearest_mode=NearestMode.ROUND_HALF_DOWN,
    )
    tables.node(op, 0, shape=(1, 1, 7, 1), format=Format.NHWC)
    found = computed(tables.write(tmp_path, version), np.array([1, 2], np.float32).reshape(1, 1, 2, 1), tmp_path)
    assert found.ravel().tolist() == [1, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("shape", [(), (1,)])
@pytest.mark.parametrize("transposed", [False, True])
def test_bias_of_one_number(shape: tuple[int, ...], transposed: bool, tmp_path: Path) -> None:
    """As 2.0 writes it of Gemm: it is added to each column."""
    weight = np.arange(12, dtype=np.float32).reshape(3, 4)
    tables = Tables(2, 3)
    stored = weight.T.copy() if transposed else weight
    tables.node(
        MatMulFusion(transpose_b=transposed),
        0,
        stored,
        np.full(shape, 0.5, np.float32),
        shape=(2, 4),
        format=Format.NHWC,
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(computed(tables.write(tmp_path, "2.0.0"), x, tmp_path), x @ weight + 0.5)

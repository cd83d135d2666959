"""Transposed convolutions whose size the model computes from a shape, as Keras does it for an open batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from mslite.converter.errors import ConversionError
from tests.parsers.tf.graphs import FLOAT, INT32, Builder, results

KERNEL, STRIDE = 3, 3


def _upsampled(length: int, more: int, mode: bytes, fixed_size: bool = False) -> bytes:
    """Of x [n, length, 4, 2], the height of the result is `height * 3 + more`, and the width 12."""
    builder = Builder()
    builder.input("x", -1, length, 4, 2)
    builder.constant("w", np.random.default_rng(0).standard_normal((KERNEL, KERNEL, 1, 2)).astype(np.float32))
    for name, value in (("zero", [0]), ("one", [1]), ("two", [2])):
        builder.constant(name, np.array(value, np.int32))
    for name, number in (
        ("stride", STRIDE),
        ("more", more),
        ("width", 12),
        ("channels", 1),
        ("high", 5 * STRIDE + more),
    ):
        builder.constant(name, np.int32(number))
    builder.node("shape", "Shape", "x", T=(FLOAT,), out_type=(INT32,))
    builder.node("batch", "StridedSlice", "shape", "zero", "one", "one", shrink_axis_mask=1, T=(INT32,), Index=(INT32,))
    builder.node("height", "StridedSlice", "shape", "one", "two", "one", shrink_axis_mask=1, T=(INT32,), Index=(INT32,))
    builder.node("scaled", "Mul", "height", "stride", T=(INT32,))
    builder.node("longer", "AddV2", "scaled", "more", T=(INT32,))
    height = "high" if fixed_size else "longer"
    builder.node("size", "Pack", "batch", height, "width", "channels", N=4, axis=0, T=(INT32,))
    builder.node("y", "Conv2DBackpropInput", "size", "w", "x", strides=[1, STRIDE, STRIDE, 1], padding=mode, T=(FLOAT,))
    return builder.content()


def _expected(x: npt.NDArray[np.float32], height: int) -> npt.NDArray[np.float32]:
    """A kernel as long as the stride: every pixel has a tile of the result for itself, what follows is zero."""
    weight = np.random.default_rng(0).standard_normal((KERNEL, KERNEL, 1, 2)).astype(np.float32)
    tiles = np.einsum("nhwc,ijkc->nhiwjk", x, weight).reshape(len(x), x.shape[1] * 3, x.shape[2] * 3, 1)
    return np.pad(tiles, ((0, 0), (0, height - tiles.shape[1]), (0, 0), (0, 0)))


@pytest.mark.parametrize(("mode", "more"), [(b"VALID", 0), (b"VALID", 1), (b"VALID", 2), (b"SAME", 0)])
@pytest.mark.parametrize("length", [5, -1], ids=["fixed", "open"])
def test_size_that_is_computed(length: int, mode: bytes, more: int, tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((2, 5, 4, 2)).astype(np.float32)
    got = results(_upsampled(length, more, mode), tmp_path, {"x": x})["y"]
    np.testing.assert_allclose(got, _expected(x, 15 + more), 1e-5, 1e-5)


def test_size_that_does_not_follow(tmp_path: Path) -> None:
    x = np.zeros((2, 5, 4, 2), np.float32)
    with pytest.raises(ConversionError) as caught:
        results(_upsampled(-1, STRIDE, b"VALID"), tmp_path, {"x": x})
    assert "does not match the input" in caught.value.blockers[0].reason


def test_number_beside_an_open_batch(tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((2, 5, 4, 2)).astype(np.float32)
    got = results(_upsampled(5, 2, b"VALID", fixed_size=True), tmp_path, {"x": x})["y"]
    np.testing.assert_allclose(got, _expected(x, 17), 1e-5, 1e-5)


@pytest.mark.parametrize("volume", [False, True], ids=["image", "volume"])
def test_size_of_another_tensor(volume: bool, tmp_path: Path) -> None:
    """It need not be the usual size: a stride of 2 makes 5 of 3 as well as 6."""
    builder, space = Builder(), 3 if volume else 2
    builder.input("x", 1, *[3] * space, 2)
    builder.input("skip", 1, *[-1] * space, 1)
    builder.constant("w", np.ones((*[3] * space, 1, 2), np.float32))
    builder.node("size", "Shape", "skip", T=(FLOAT,), out_type=(INT32,))
    operator = "Conv3DBackpropInputV2" if volume else "Conv2DBackpropInput"
    strides = [1, *[2] * space, 1]
    builder.node("y", operator, "size", "w", "x", strides=strides, padding=b"SAME", T=(FLOAT,), Tshape=(INT32,))
    builder.node("sum", "AddV2", "y", "skip", T=(FLOAT,))
    x, skip = np.ones((1, *[3] * space, 2), np.float32), np.ones((1, *[5] * space, 1), np.float32)
    with pytest.raises(ConversionError) as caught:
        results(builder.content(), tmp_path, {"x": x, "skip": skip})
    blocker = caught.value.blockers[0]
    assert "computed at run time" in blocker.reason
    assert "--inputShape" in blocker.remedy
    given = {"skip": skip.shape, "x": x.shape}
    assert results(builder.content(), tmp_path, {"x": x, "skip": skip}, input_shapes=given)["sum"].shape == skip.shape

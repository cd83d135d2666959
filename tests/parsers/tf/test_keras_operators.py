"""Operators that functions of keras.ops are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.parsers.tf.graphs import FLOAT, INT32, Builder, results


def test_bytes_as_another_type(tmp_path: Path) -> None:
    x = np.array([[-0.0, 1.5], [np.inf, -2]], np.float32)
    builder = Builder()
    builder.input("x", 2, 2)
    builder.node("y", "Bitcast", "x", T=(FLOAT,), type=(INT32,))
    np.testing.assert_array_equal(results(builder.content(), tmp_path, {"x": x})["y"], x.view(np.int32))


@pytest.mark.parametrize(("row", "column"), [(1, 2), (9, -3)])
def test_slice_that_is_laid_over(row: int, column: int, tmp_path: Path) -> None:
    """Starts outside are moved so that the slice fits, as XLA defines it."""
    x, part = np.arange(20, dtype=np.float32).reshape(4, 5), -np.ones((2, 2), np.float32)
    builder = Builder()
    builder.input("x", 4, 5)
    builder.input("part", 2, 2)
    builder.input("start", 2, dtype=INT32)
    builder.node("y", "XlaDynamicUpdateSlice", "x", "part", "start", T=(FLOAT,), Tindices=(INT32,))
    inputs = {"x": x, "part": part, "start": np.array([row, column], np.int32)}
    want = x.copy()
    top, left = np.clip([row, column], 0, [2, 3])
    want[top : top + 2, left : left + 2] = part
    np.testing.assert_array_equal(results(builder.content(), tmp_path, inputs)["y"], want)

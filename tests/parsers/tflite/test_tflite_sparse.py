"""Weights stored sparse, against the dense ones and LiteRT; damaged sparse forms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tflite_build import Graph, Level, Operator, Tensor, build
from tflite_run import Array, lowered, run_module, run_source

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.tflite import parse

_CHANCE = np.random.default_rng(23)


def holey(*shape: int) -> Array:
    dense = _CHANCE.uniform(-2, 2, shape).astype(np.float32)
    dense[_CHANCE.random(shape) < 0.6] = 0
    return dense


def compressed(dense: Array) -> tuple[Array, Level]:
    """The stored values of a matrix and its second dimension, compressed."""
    segments, indices, values = [0], [], []
    for row in dense:
        for column in np.flatnonzero(row):
            indices.append(int(column))
            values.append(row[column])
        segments.append(len(indices))
    return np.array(values, np.float32), (segments, indices)


def product(weight: Tensor, shape: Sequence[int], densify: bool) -> bytes:
    """x [3, in] times a weight [out, in]."""
    out, size = shape
    steps = [Operator("DENSIFY", [1], [3], options_type="DensifyOptions")] if densify else []
    steps.append(Operator("FULLY_CONNECTED", [0, 3 if densify else 1, -1], [2], options_type="FullyConnectedOptions"))
    tensors = [Tensor("x", (3, size)), weight, Tensor("y", (3, out)), Tensor("dense", shape)]
    return build(Graph(tensors, [0], [2], steps))


def check(model: bytes, dense: Array, folder: Path) -> None:
    x = _CHANCE.uniform(-1, 1, (3, dense.shape[1])).astype(np.float32)
    path = folder / "model.tflite"
    path.write_bytes(model)
    (found,) = run_module(lowered(parse(path)), [x])
    np.testing.assert_allclose(found, x @ dense.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found, run_source(model, [x])[0], rtol=1e-5, atol=1e-5)


def test_compressed_columns(tmp_path: Path) -> None:
    dense = holey(4, 6)
    values, level = compressed(dense)
    check(product(Tensor("w", (4, 6), data=values, sparsity=((0, 1), (), (4, level))), (4, 6), False), dense, tmp_path)


def test_compressed_rows_of_columns(tmp_path: Path) -> None:
    """The tree walks the second dimension first."""
    dense = holey(5, 3)
    values, level = compressed(dense.T)
    check(product(Tensor("w", (5, 3), data=values, sparsity=((1, 0), (), (3, level))), (5, 3), True), dense, tmp_path)


def test_blocks(tmp_path: Path) -> None:
    """Of 2 by 2 blocks in a matrix of 2 by 3 of them, three are stored."""
    dense = np.zeros((4, 6), np.float32)
    values = []
    for row, column in ((0, 1), (1, 0), (1, 2)):
        block = _CHANCE.uniform(1, 2, (2, 2)).astype(np.float32)
        dense[2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = block
        values.append(block.reshape(-1))
    levels = (2, ([0, 1, 3], [1, 0, 2]), 2, 2)
    weight = Tensor("w", (4, 6), data=np.concatenate(values), sparsity=((0, 1, 2, 3), (0, 1), levels))
    check(product(weight, (4, 6), True), dense, tmp_path)


@pytest.mark.parametrize(
    ("order", "blocks", "levels", "message"),
    [
        ((0, 0), (), (4, 6), "order"),
        ((0, 1), (), (4,), "order"),
        ((0, 1, 2), (7,), (4, 3, 2), "blocks"),
        ((0, 1), (), (4, ([0, 1, 2], [0, 0])), "too few segments"),
        ((0, 1), (), (4, ([0, 2, 1, 2, 2], [0, 1])), "descending"),
        ((0, 1), (), (4, ([0, 1, 2, 2, 9], [0, 1])), "too few indices"),
        ((0, 1), (), (4, ([0, 1, 1, 1, 1], [17])), "outside"),
        ((0, 1), (), (4, 1 << 30), "more sparse elements"),
        ((0, 1), (), (4, 6), "its sparse form needs more"),
        ((0, 1, 2), (1,), (4, 3, ([0, 1], [0])), "sparse inside"),
    ],
)
def test_damaged_forms(
    order: Sequence[int], blocks: Sequence[int], levels: Sequence[Level], message: str, tmp_path: Path
) -> None:
    weight = Tensor("w", (4, 6), data=np.ones(2, np.float32), sparsity=(order, blocks, levels))
    path = tmp_path / "model.tflite"
    path.write_bytes(product(weight, (4, 6), False))
    with pytest.raises(ConversionError, match=message):
        parse(path)

"""Weights of few bits that are decoded: tables of bitsandbytes, rows of embeddings, products without weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.onnx import parse

from .helper import Array, check, random
from .microsoft import foreign


def _table_weights(inner: int, columns: int, block: int) -> dict[str, Array]:
    chance = np.random.default_rng(3)
    blocks = -(-inner * columns // block)
    return {
        "b": chance.integers(0, 256, (inner * columns + 1) // 2).astype(np.uint8),
        "m": chance.uniform(-1.0, 1.0, blocks).astype(np.float32),
    }


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize(("inner", "columns"), [(64, 5), (33, 7)])
def test_weights_from_a_table(kind: int, inner: int, columns: int, tmp_path: Path) -> None:
    """FP4 and NF4; blocks of 16 go on from one row to the next."""
    x = {"x": random(2, 3, inner)}
    attributes = {"K": inner, "N": columns, "block_size": 16, "quant_type": kind}
    check(foreign("MatMulBnb4", x, _table_weights(inner, columns, 16), **attributes), x, tmp_path)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"quant_type": 2}, "attribute 'quant_type'"),
        ({"quant_type": 0, "transB": 0}, "attribute 'transB'"),
        ({"quant_type": 0, "N": 6}, "do not fit 6 x 64"),
        ({"quant_type": 0, "block_size": 32}, "magnitudes do not fit"),
    ],
)
def test_weights_from_a_table_that_contradict_themselves(attributes: dict[str, Any], reason: str) -> None:
    given = {"K": 64, "N": 5, "block_size": 16} | attributes
    with pytest.raises(ConversionError, match=reason):
        parse(foreign("MatMulBnb4", {"x": random(2, 64)}, _table_weights(64, 5, 16), **given))


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("with_points", [False, True])
def test_rows_in_blocks(bits: int, with_points: bool, tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    inputs = {"i": np.array([[0, 3], [-1, 2]])}
    width = 64 * bits // 8
    constants = {
        "t": chance.integers(0, 256, (6, width)).astype(np.uint8),
        "s": chance.uniform(0.01, 0.1, (6, 4)).astype(np.float32),
    }
    if with_points:
        constants["z"] = chance.integers(0, 256, (6, 4 * bits // 8)).astype(np.uint8)
    attributes = {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    model = foreign("GatherBlockQuantized", inputs, constants, order=["t", "i", "s", "z"], **attributes)
    check(model, inputs, tmp_path)


@pytest.mark.parametrize("shape", [(0, 2, 16), (5, 0, 16), (5, 2, 0)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_a_product_whose_weights_are_left_out(shape: tuple[int, ...], with_bias: bool, tmp_path: Path) -> None:
    """onnxruntime defines it as zeros, and the bias."""
    x = {"x": random(2, 3, 64)}
    constants = {"b": np.zeros(shape, np.uint8), "s": np.zeros((0, 2), np.float32)}
    if with_bias:
        constants["bias"] = random(5)
    order = ["x", "b", "s", "", "", "bias"]
    model = foreign("MatMulNBits", x, constants, order=order, K=64, N=5, bits=4, block_size=32)
    check(model, x, tmp_path)

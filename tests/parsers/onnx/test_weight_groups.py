"""MatMulNBits whose rows belong to groups in any order (g_idx), with every kind of zero points, and a bias."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.onnx import parse

from .helper import Array, check, random
from .microsoft import foreign

ROWS, COLUMNS, BLOCK, BLOCKS = 5, 80, 32, 3
"""Two blocks and a rest."""
GROUPS = np.random.default_rng(9).integers(0, BLOCKS, COLUMNS).astype(np.int32)


def packed(numbers: Array, bits: int) -> Array:
    """Each row in whole bytes, the lowest bits first."""
    each = (numbers.astype(np.uint8)[..., np.newaxis] >> np.arange(bits, dtype=np.uint8)) & 1
    return np.packbits(each.reshape(len(numbers), -1), axis=1, bitorder="little")


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("points", ["none", "packed", "float"])
@pytest.mark.parametrize("order", ["blocks", "groups", "more groups"])
@pytest.mark.parametrize("bias", [False, True])
def test_products(bits: int, points: str, order: str, bias: bool, tmp_path: Path) -> None:
    """By the definition; onnxruntime is asked where its CPU kernel has the form: it leaves out packed zero points of groups, and
    has groups for 4 bits only."""
    chance, x = np.random.default_rng(5), {"x": random(3, COLUMNS)}
    stored = chance.integers(0, 1 << bits, (ROWS, BLOCKS * BLOCK))
    scales = chance.uniform(0.01, 0.1, (ROWS, BLOCKS)).astype(np.float32)
    zero: Array = np.full((ROWS, BLOCKS), float(1 << (bits - 1)), np.float32)
    constants = {"b": packed(stored, bits).reshape(ROWS, BLOCKS, -1), "s": scales}
    if points == "packed":
        zero = chance.integers(0, 1 << bits, (ROWS, BLOCKS))
        constants["z"] = packed(zero, bits)
    elif points == "float":
        zero = constants["z"] = chance.uniform(0, 1 << bits, (ROWS, BLOCKS)).astype(np.float32)
    groups = np.arange(COLUMNS) // BLOCK if order == "blocks" else GROUPS
    if order != "blocks":
        constants["g"] = np.append(GROUPS, np.zeros(16, np.int32)) if order == "more groups" else GROUPS
    if bias:
        constants["c"] = random(ROWS, seed=4)
    model = foreign(
        "MatMulNBits",
        x,
        constants,
        order=["x", "b", "s", "z", "g", "c"],
        K=COLUMNS,
        N=ROWS,
        bits=bits,
        block_size=BLOCK,
    )
    weight = (stored[:, :COLUMNS].astype(np.float64) - zero[:, groups]) * scales[:, groups]
    want = (x["x"] @ weight.T + constants.get("c", 0)).astype(np.float32)
    check(model, x, tmp_path, tolerance=1e-5, wanted=[want])
    if bits == 4 and (order == "blocks" or points != "packed"):
        check(model, x, tmp_path, tolerance=1e-5)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        (GROUPS[:79], "79 groups .* do not fit 80 rows"),
        (np.full(COLUMNS, 3, np.int32), "not one of the 3"),
        (np.full(COLUMNS, -1, np.int32), "not one of the 3"),
    ],
)
def test_groups_that_cannot_be(groups: Array, reason: str) -> None:
    constants = {
        "b": np.zeros((ROWS, BLOCKS, BLOCK // 2), np.uint8),
        "s": np.ones((ROWS, BLOCKS), np.float32),
        "g": groups,
    }
    order = ["x", "b", "s", "", "g"]
    model = foreign(
        "MatMulNBits", {"x": random(3, COLUMNS)}, constants, order=order, K=COLUMNS, N=ROWS, block_size=BLOCK
    )
    with pytest.raises(ConversionError, match=reason):
        parse(model)

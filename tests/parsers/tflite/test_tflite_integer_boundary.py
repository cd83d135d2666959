"""Integers that are handed on as they are stored: at the boundary of a model, and by operators that place elements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from integer_models import Case, Chance, Operand, assert_same_bits, converted_results, reference
from tflite_build import Graph, Operator, Tensor, build

POOL = {0: ("byte", 0), 1: ("int", 1), 2: ("int", 1), 3: ("int", 3), 4: ("int", 3)}


@pytest.mark.parametrize("outside", ["uint8", "int8"])
def test_what_is_unsigned_at_the_boundary_only_is_rounded_as_signed(outside: str, tmp_path: Path) -> None:
    """QUANTIZE changes the sign alone; the average in between rounds halves by the sign of the stored integers."""
    inside = "int8" if outside == "uint8" else "uint8"
    shape, records = (1, 9, 11, 6), {"uint8": (0.0078, 127), "int8": (0.0078, -1)}
    tensors = [Tensor(name, shape, kind, None, records[kind])
               for name, kind in (("x", outside), ("a", inside), ("b", inside), ("y", outside))]  # fmt: skip
    nodes = [
        Operator("QUANTIZE", [0], [1], {}, "NONE"),
        Operator("AVERAGE_POOL_2D", [1], [2], POOL, "Pool2DOptions"),
        Operator("QUANTIZE", [2], [3], {}, "NONE"),
    ]
    content = build(Graph(tensors, [0], [3], nodes))
    inputs = [Chance(1).integers(outside, *shape)]
    (expected,) = reference(content, inputs, "BUILTIN_REF")
    (found,) = converted_results(content, inputs, tmp_path)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_one_hot_places_stored_integers(dtype: str, tmp_path: Path) -> None:
    """The values need not have the scale of the result."""
    indices = Operand(np.array([2, 0, 4, 1], np.int32))
    depth = Operand(np.array(5, np.int32), constant=True)
    on = Operand(np.array(100, dtype), 0.004, 3, constant=True)
    off = Operand(np.array(7, dtype), 4e-9, 0, constant=True)
    hot = Operand(np.zeros((4, 5), dtype), 0.004, 3)
    case = Case("ONE_HOT", [indices, depth, on, off], hot, ("OneHotOptions", {0: ("int", -1)}))
    assert_same_bits([case], tmp_path)


@pytest.mark.parametrize("zero", [-128, 0, 9])
def test_scattering_leaves_stored_zeros(zero: int, tmp_path: Path) -> None:
    chance = Chance(2)
    indices = Operand(np.array([[3], [0]], np.int32), constant=True)
    shape = Operand(np.array([4, 5], np.int32), constant=True)
    updates = Operand(chance.integers("int8", 2, 5), 0.02, zero)
    assert_same_bits(
        [Case("SCATTER_ND", [indices, updates, shape], Operand(np.zeros((4, 5), "int8"), 0.02, zero))], tmp_path
    )

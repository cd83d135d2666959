"""Shifts by amounts that the type does not have bits for: TensorFlow limits them to 0 and to all bits but one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.parsers.tf.graphs import Builder, results

TYPES = {"int8": 6, "int16": 5, "int32": 3, "int64": 9, "uint8": 4}
"""Numbers of DataType."""


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operator", ["LeftShift", "RightShift"])
def test_amounts_are_limited(operator: str, dtype: str, tmp_path: Path) -> None:
    limits = np.iinfo(dtype)
    amounts = [0, 1, limits.bits - 1, limits.bits, 100] + ([-1, -100] if limits.min else [])
    x, amount = np.broadcast_arrays(np.array([[limits.min], [limits.max], [5]], dtype), np.array(amounts, dtype))
    builder = Builder()
    for name in ("x", "amount"):
        builder.input(name, *x.shape, dtype=TYPES[dtype])
    builder.node("y", operator, "x", "amount", T=(TYPES[dtype],))
    (got,) = results(builder.content(), tmp_path, {"x": x.copy(), "amount": amount.copy()}).values()
    limited = np.clip(amount, 0, limits.bits - 1).astype(dtype)
    wanted = np.left_shift(x, limited) if operator == "LeftShift" else np.right_shift(x, limited)
    np.testing.assert_array_equal(got, wanted.astype(dtype))

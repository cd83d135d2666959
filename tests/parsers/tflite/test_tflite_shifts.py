"""RIGHT_SHIFT by amounts that the type does not have bits for: LiteRT limits them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from integer_models import converted_results, reference
from tflite_build import Graph, Operator, Tensor, build


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8"])
def test_amounts_are_limited(dtype: str, is_constant: bool, tmp_path: Path) -> None:
    limits = np.iinfo(dtype)
    bits = limits.bits
    amounts = [0, 1, bits - 1, bits, bits + 1, 100] + ([-1, -bits, -100] if limits.min else [])
    numbers = np.array([[limits.min], [limits.max], [5], [limits.max // 3]], dtype)
    shape = (4, len(amounts))
    x, amount = np.broadcast_to(numbers, shape).copy(), np.broadcast_to(np.array(amounts, dtype), shape).copy()
    tensors = [
        Tensor("x", shape, dtype),
        Tensor("amount", shape, dtype, amount if is_constant else None),
        Tensor("y", shape, dtype),
    ]
    operator = Operator("RIGHT_SHIFT", [0, 1], [2], {}, "RightShiftOptions")
    content = build(Graph(tensors, [0] if is_constant else [0, 1], [2], [operator]))
    inputs = [x] if is_constant else [x, amount]
    (wanted,) = reference(content, inputs, "BUILTIN_REF")
    (got,) = converted_results(content, inputs, tmp_path)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)

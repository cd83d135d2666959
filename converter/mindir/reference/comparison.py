"""References of comparisons, logic and selection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ops import Operator
from ..ops import comparison as ops
from ._declare import Array, Inputs, case, float32, int32, integers, normal, reference

FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "Equal": np.equal,
    "NotEqual": np.not_equal,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
    "LogicalXor": np.logical_xor,
}


@reference(*FUNCTIONS)
def comparison(op: Operator, inputs: Inputs) -> list[Array]:
    """The NumPy function with broadcasting; bool."""
    a, b = inputs
    assert a is not None
    assert b is not None
    return [np.asarray(FUNCTIONS[op.name](a, b))]


@reference("Select")
def select(op: ops.Select, inputs: Inputs) -> list[Array]:
    """For each k: a_k where the condition holds, else b_k."""
    condition, *values = inputs
    assert condition is not None
    arrays = [array for array in values if array is not None]
    count = len(arrays) // 2
    return [np.where(condition != 0, arrays[k], arrays[count + k]) for k in range(count)]


@reference("Where")
def where(op: ops.Where, inputs: Inputs) -> list[Array]:
    """Indices of true elements, [count, rank] int32, or a selection between two tensors."""
    return non_zero(op, inputs) if len(inputs) == 1 else select(op, inputs)  # type: ignore[arg-type]


@reference("NonZero")
def non_zero(op: Operator, inputs: Inputs) -> list[Array]:
    """Indices of the nonzero elements, [count, rank] int32."""
    assert inputs[0] is not None
    x = inputs[0]
    return [np.asarray(np.argwhere(x), np.int32).reshape(-1, x.ndim)]


for _name in FUNCTIONS:
    _op = getattr(ops, _name)()
    for _dtype in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                   "float32", "float64"):  # fmt: skip
        _a, _b = integers(0, 4, 3, 1, 37).astype(_dtype), integers(0, 4, 5, 37).astype(_dtype)
        case(_dtype, _op, [_a, _b])
        case(f"{_dtype}-scalars", _op, [_a[0, 0, :1], _b])
    case("nan", _op, [float32([np.nan, 1, np.inf]), float32([np.nan, np.nan, np.inf])])
    case("several-parts", _op, [integers(0, 3, 3, 20011), int32(1)])

for _dtype in ("bool", "int8", "float16", "int32", "float32", "int64", "float64"):
    _a, _b = integers(0, 99, 5, 1).astype(_dtype), integers(0, 99, 3, 1, 17).astype(_dtype)
    case(_dtype, ops.Where(), [integers(0, 2, 5, 17, dtype=np.bool_), _a, _b])
    case(_dtype, ops.NonZero(), [integers(0, 2, 4, 3, 5).astype(_dtype)])
case("indices", ops.Where(), [integers(0, 2, 7, 9, dtype=np.bool_)])
case("none", ops.Where(), [np.zeros((3, 4), np.bool_)])
case("vector", ops.NonZero(), [integers(0, 2, 20011)])
case("one", ops.Select(), [integers(0, 2, 5, 7, dtype=np.bool_), normal(5, 7), normal(5, 7)])
case("two", ops.Select(), [integers(0, 2, 1, dtype=np.bool_), normal(5, 7), integers(0, 9, 3), normal(5, 7),
                           integers(0, 9, 3)])  # fmt: skip

"""References of the elementwise functions of one input."""

from __future__ import annotations

import numpy as np

from ..ops import unary as ops
from ._declare import Array, Inputs, case, normal, reference


@reference("Abs")
def absolute(op: ops.Abs, inputs: Inputs) -> list[Array]:
    """|x|."""
    assert inputs[0] is not None
    return [np.abs(inputs[0])]


case("small", ops.Abs(), [normal(2, 3)])
case("several-parts", ops.Abs(), [normal(5, 7919)])
case("scalar", ops.Abs(), [normal()])
case("empty", ops.Abs(), [normal(0, 4)])

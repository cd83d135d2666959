"""References of operators on square matrices."""

from __future__ import annotations

import numpy as np

from ..ops import linear_algebra as ops
from ._declare import Array, Inputs, case, float32, normal, reference


@reference("Determinant")
def determinant(op: ops.Determinant, inputs: Inputs) -> list[Array]:
    """The determinant of the last two dimensions."""
    assert inputs[0] is not None
    return [np.asarray(np.linalg.det(inputs[0].astype(np.float64)), np.float32)]


@reference("MatrixInverse")
def matrix_inverse(op: ops.MatrixInverse, inputs: Inputs) -> list[Array]:
    """The inverse of the last two dimensions."""
    assert inputs[0] is not None
    return [np.linalg.inv(inputs[0].astype(np.float64)).astype(np.float32)]


case("one", ops.Determinant(), [normal(4, 4)])
case("many", ops.Determinant(), [normal(3, 5, 7, 7)])
case("singular", ops.Determinant(), [float32([[[1, 2], [2, 4]], [[0, 1], [1, 0]]])])
case("parts", ops.Determinant(), [normal(9, 60, 60)])
case("one", ops.MatrixInverse(), [normal(4, 4)])
case("many", ops.MatrixInverse(), [normal(2, 3, 5, 5)])
case("pivot", ops.MatrixInverse(), [float32([[0, 2], [4, 0]])])

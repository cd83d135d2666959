"""Operators on square matrices, in the last two dimensions."""

from __future__ import annotations

from ._declare import Operator, operator


@operator(1152, onnx="Det", custom_type="mslite.Determinant")
class Determinant(Operator):
    """The determinant of each matrix."""


@operator(1153, onnx="Inverse", custom_type="mslite.MatrixInverse")
class MatrixInverse(Operator):
    """The inverse of each matrix."""

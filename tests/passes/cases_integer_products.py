"""Cases of the rules for 8-bit matmuls, in the form of onnxruntime's quantize_dynamic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Module, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.matmul import MatMulInteger
from mslite.converter.mindir.ops.unary import Cast
from tests.passes.builder import Builder, integers, numbers
from tests.passes.case import Case


def _product(b: Builder, *scale: npt.ArrayLike) -> Value:
    """[3, 5] x [5, 7] with zero points 3 and 0; with a scale the output is float32."""
    weights = np.arange(35, dtype=np.int8).reshape(5, 7)
    return b.call(MatMulInteger(), b.input(3, 5, dtype=np.uint8), weights, np.uint8(3), np.int8(0), *scale)


def scaled(scale: npt.ArrayLike) -> Module:
    b = Builder()
    real = b.call(Cast(), _product(b), integers(int(DataType.FLOAT32)))
    return b.module(b.call(MulFusion(), real, scale))


def scaled_at_run_time() -> Module:
    """The scale of activations is computed at run time."""
    b = Builder()
    real = b.call(Cast(), _product(b), integers(int(DataType.FLOAT32)))
    return b.module(b.call(MulFusion(), b.input(1), real))


def biased(bias: npt.ArrayLike) -> Module:
    b = Builder()
    return b.module(b.call(AddFusion(), _product(b, np.float32(0.25)), bias))


CASES = {
    "IntegerProductScaleFusion": Case(
        (
            (lambda: scaled(np.float32(0.25)), ["MatMulInteger"]),
            (lambda: scaled(numbers(7)), ["MatMulInteger"]),
            (scaled_at_run_time, ["MatMulInteger"]),
        ),
        lambda: scaled(numbers(3, 1)),
        "the scale is not one float32 number, or one for each column",
    ),
    "IntegerProductBiasFusion": Case(
        ((lambda: biased(numbers(7)), ["MatMulInteger"]), (lambda: biased(numbers(1, 7)), ["MatMulInteger"])),
        lambda: biased(numbers(3, 1)),
        "the addend is not one per column",
    ),
}

"""Cases of the rules that fuse rectifiers."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Module
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, Minimum, MulFusion, SubFusion
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.unary import Abs, Clip, Neg
from tests.passes.builder import Builder, numbers
from tests.passes.case import Case

RELU = Activation(activation_type=ActivationType.RELU)
ZERO, MUL = np.float32(0), MulFusion()


def keras(slope: Array, subtracted: bool) -> Module:
    """relu(x) - slope * relu(-x)."""
    b = Builder()
    x = b.input(2, 5, 4, 6)
    below = b.call(MUL, slope, b.call(RELU, b.call(Neg(), x)))
    return b.module(b.call(SubFusion() if subtracted else AddFusion(), b.call(RELU, x), below))


def minimum(slope: Array) -> Module:
    """max(x, 0) + slope * min(x, 0)."""
    b = Builder()
    x = b.input(2, 5, 4, 6)
    below = b.call(MUL, b.call(Minimum(), ZERO, x), slope)
    return b.module(b.call(AddFusion(), below, b.call(Maximum(), x, ZERO)))


def clipped(slope: Array) -> Module:
    b = Builder()
    x = b.input(2, 5, 4, 6)
    lowest = float(np.finfo(np.float32).min)
    below = b.call(MUL, b.call(Clip(min=lowest, max=0.0), x), slope)
    return b.module(b.call(AddFusion(), b.call(RELU, x), below))


def absolute(slope: Array, half_last: bool) -> Module:
    """relu(x) + slope * (x - |x|) / 2."""
    b = Builder()
    x = b.input(2, 5, 4, 6)
    twice, half = b.call(SubFusion(), x, b.call(Abs(), x)), np.float32(0.5)
    if half_last:
        below = b.call(MUL, b.call(MUL, slope, twice), half)
    else:
        below = b.call(MUL, slope, b.call(MUL, twice, half))
    return b.module(b.call(AddFusion(), b.call(RELU, x), below))


def maximum(slope: Array) -> Module:
    """max(x, slope * x)."""
    b = Builder()
    x = b.input(2, 5, 4, 6)
    return b.module(b.call(Maximum(), b.call(MUL, x, slope), x))


def limits(upper: float | None, dtype: type[np.generic] = np.float32) -> Module:
    b = Builder()
    x = b.input(2, 6, dtype=dtype)
    y = b.call(Maximum(), x, dtype(0))
    return b.module(y if upper is None else b.call(Minimum(), dtype(upper), y))


SINGLE = np.array([0.25], np.float32)
CASES = {
    "PReluFusion": Case(
        (
            (lambda: keras(numbers(6), True), ["PReLUFusion"]),
            (lambda: keras(numbers(1, 1, 6), False), ["PReLUFusion"]),
            (lambda: minimum(numbers(6)), ["PReLUFusion"]),
            (lambda: clipped(numbers(6)), ["PReLUFusion"]),
            (lambda: absolute(numbers(6), True), ["PReLUFusion"]),
            (lambda: absolute(numbers(6), False), ["PReLUFusion"]),
            (lambda: maximum(np.abs(numbers(6)) / 2), ["PReLUFusion"]),
            (lambda: maximum(SINGLE), ["Activation"]),
            (lambda: keras(SINGLE, False), ["Activation"]),
        ),
        lambda: maximum(np.array([1.5], np.float32)),
        "between 0 and 1",
    ),
    "MinMaxActivationFusion": Case(
        ((lambda: limits(None), ["Activation"]), (lambda: limits(6), ["Activation"])),
        lambda: limits(6, np.int32),
        "float32 only",
    ),
}

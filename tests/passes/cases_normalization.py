"""Cases of the rules that fuse normalizations other than LayerNorm."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Module, Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, MulFusion, SquaredDifference, SubFusion
from mslite.converter.mindir.ops.enums import ActivationType, ReduceMode
from mslite.converter.mindir.ops.normalization import (
    ChannelsLastInstanceNorm,
    GroupNormFusion,
    InstanceNorm,
    RmsNorm,
)
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Reciprocal, Rsqrt, Sqrt, Square
from tests.passes.builder import Builder, integers, numbers
from tests.passes.case import Case

ADD, MUL, DIV, SUB = AddFusion(), MulFusion(), DivFusion(), SubFusion()
MEAN = ReduceFusion(mode=ReduceMode.ReduceMean, keep_dims=True)
EPSILON = np.float32(1e-3)


def _normalized(b: Builder, x: Value, spelling: str, axes: tuple[int, ...]) -> Value:
    mean = b.call(MEAN, x, integers(*axes))
    if spelling == "keras":
        variance = b.call(ADD, b.call(MEAN, b.call(SquaredDifference(), x, mean), integers(*axes)), EPSILON)
        factor = b.call(MUL, b.call(Rsqrt(), variance), numbers(6))
        return b.call(ADD, b.call(MUL, x, factor), b.call(SUB, numbers(6, seed=1), b.call(MUL, mean, factor)))
    centered = b.call(SUB, x, mean)
    variance = b.call(ADD, b.call(MEAN, b.call(MUL, centered, centered), integers(*axes)), EPSILON)
    deviation = b.call(Sqrt(), variance)
    if spelling == "torch":
        return b.call(DIV, centered, deviation)
    inverse = b.call(Reciprocal(), deviation) if spelling == "reciprocal" else b.call(DIV, np.float32(1), deviation)
    return b.call(MUL, centered, inverse)


def instance_norm(spelling: str, axes: tuple[int, ...] = (1, 2)) -> Module:
    """On NHWC: the layout pass leaves the pixels as dimensions 1 and 2."""
    b = Builder()
    return b.module(_normalized(b, b.input(2, 5, 4, 6), spelling, axes))


def instance_norm_line() -> Module:
    b = Builder()
    return b.module(_normalized(b, b.input(2, 9, 6), "torch", (-2,)))


def rms_norm(spelling: str, axes: tuple[int, ...] = (-1,)) -> Module:
    b = Builder()
    x = b.input(2, 5, 6)
    squared = b.call(MUL, x, x) if spelling == "product" else b.call(Square(), x)
    variance = b.call(ADD, b.call(MEAN, squared, integers(*axes)), EPSILON)
    if spelling == "divided":
        return b.module(b.call(DIV, x, b.call(Sqrt(), variance)))
    if spelling == "llama":
        return b.module(b.call(MUL, x, b.call(DIV, np.float32(1), b.call(Sqrt(), variance))))
    return b.module(b.call(MUL, x, b.call(Rsqrt(), variance)))


def instance_affine(*shape: int, last: bool = True) -> Module:
    b = Builder()
    op = ChannelsLastInstanceNorm(epsilon=1e-3) if last else InstanceNorm(epsilon=1e-3)
    y = b.call(op, b.input(2, 4, 6, 6) if last else b.input(2, 6, 4, 6), numbers(6), numbers(6, seed=1))
    return b.module(b.call(ADD, b.call(MUL, y, numbers(*shape, seed=2)), numbers(*shape, seed=3)))


def transposed_norm(*shape: int, before: tuple[int, ...] = (), activated: bool = False) -> Module:
    """InstanceNorm between two Transposes, by default from NHWC and back."""
    b, rank = Builder(), len(shape)
    x = b.input(*shape)
    x = b.call(Transpose(), x, integers(*(before or (0, rank - 1, *range(1, rank - 1)))))
    assert x.shape is not None
    channels = x.shape[1]
    y = b.call(InstanceNorm(epsilon=1e-3), x, numbers(channels), numbers(channels, seed=1))
    if activated:
        y = b.call(Activation(activation_type=ActivationType.RELU), y)
    return b.module(b.call(Transpose(), y, integers(0, *range(2, rank), 1)))


def rms_gamma(axis: int, *shape: int) -> Module:
    b = Builder()
    return b.module(b.call(MUL, numbers(*shape), b.call(RmsNorm(axis=axis), b.input(2, 5, 6))))


def group_affine(*shape: int) -> Module:
    """Channels are dimension 1."""
    b = Builder()
    op = GroupNormFusion(num_groups=3, epsilon=1e-3, affine=True)
    y = b.call(op, b.input(2, 6, 4, 6), numbers(6), numbers(6, seed=1))
    return b.module(b.call(ADD, b.call(MUL, y, numbers(*shape, seed=2)), numbers(*shape, seed=3)))


CASES = {
    "TransposedNormFusion": Case(
        (
            (lambda: transposed_norm(2, 5, 4, 6), ["ChannelsLastInstanceNorm"]),
            (lambda: transposed_norm(2, 5, 6), ["ChannelsLastInstanceNorm"]),
            (lambda: transposed_norm(2, 3, 5, 4, 6), ["ChannelsLastInstanceNorm"]),
            (lambda: transposed_norm(2, 5, 4, 6, activated=True), ["ChannelsLastInstanceNorm", "Activation"]),
        ),
        lambda: transposed_norm(2, 5, 4, 6, before=(0, 2, 3, 1)),
        "do not move channels to dimension 1 and back",
    ),
    "InstanceNormFusion": Case(
        (
            *(
                (lambda s=s: instance_norm(s), ["ChannelsLastInstanceNorm"])
                for s in ("torch", "reciprocal", "quotient", "keras")
            ),
            (lambda: instance_norm("torch", (2, 1)), ["ChannelsLastInstanceNorm"]),
            (instance_norm_line, ["ChannelsLastInstanceNorm"]),
        ),
        lambda: instance_norm("torch", (1, 3)),
        "not those between batch and channels",
    ),
    "RmsNormFusion": Case(
        (
            *((lambda s=s: rms_norm(s), ["RmsNorm"]) for s in ("square", "product", "divided", "llama")),
            (lambda: rms_norm("square", (1, 2)), ["RmsNorm"]),
        ),
        lambda: rms_norm("square", (1,)),
        "not the last ones",
    ),
    "NormAffineFusion": Case(
        (
            (lambda: instance_affine(6), ["ChannelsLastInstanceNorm"]),
            (lambda: instance_affine(1, 1, 1, 6), ["ChannelsLastInstanceNorm"]),
            (lambda: instance_affine(1), ["ChannelsLastInstanceNorm"]),
            (lambda: instance_affine(6, 1, 1, last=False), ["InstanceNorm"]),
            (lambda: rms_gamma(-1, 6), ["RmsNorm"]),
            (lambda: rms_gamma(1, 5, 6), ["RmsNorm"]),
            (lambda: rms_gamma(-2, 6), ["RmsNorm"]),
        ),
        lambda: instance_affine(6, 1),
        "one float32 number per parameter",
    ),
    "GroupNormAffineFusion": Case(
        ((lambda: group_affine(6, 1, 1), ["GroupNormFusion"]), (lambda: group_affine(1), ["GroupNormFusion"])),
        lambda: group_affine(6),
        "one float32 number per parameter",
    ),
}

"""Cases of the rules that cancel transpositions, reshapes and casts."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import SYMBOL_LIMIT, Module
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Squeeze, Transpose, Unsqueeze
from mslite.converter.mindir.ops.unary import Cast
from tests.passes.builder import Builder, integers, numbers
from tests.passes.case import Case


def casts(middle: DataType) -> Module:
    b = Builder()
    y = b.call(Cast(), b.input(3, 4, dtype=np.int32), integers(int(middle)))
    return b.module(b.call(Cast(), y, integers(int(DataType.FLOAT32))))


def transposes() -> Module:
    b = Builder()
    y = b.call(Transpose(), b.input(2, 3, 4), integers(1, 2, 0))
    return b.module(b.call(Transpose(), y, integers(0, 2, 1)))


def transposes_unknown() -> Module:
    """The second permutation is an empty list, which means reversal; the rule must not read it as a permutation."""
    b = Builder()
    y = b.call(Transpose(), b.input(2, 3, 4), integers(1, 2, 0))
    z = b.call(Transpose(), y, integers(0, 2, 1))
    assert z.producer is not None
    from mslite.converter.mindir.graph import constant

    z.producer.set_inputs([y, constant("short", integers(1, 0))])
    return b.module(z)


def reshapes() -> Module:
    b = Builder()
    y = b.call(Reshape(), b.input(2, 3, 4), integers(6, 4))
    return b.module(b.call(Unsqueeze(axis=(0,)), b.call(Reshape(), y, integers(4, 6))))


def reshapes_unknown() -> Module:
    b = Builder()
    y = b.call(Unsqueeze(axis=(1,)), b.input(SYMBOL_LIMIT - 1, SYMBOL_LIMIT - 2))
    return b.module(b.call(Squeeze(axis=(1,)), y))


def product(perm: tuple[int, ...]) -> Module:
    b = Builder()
    x = b.call(Transpose(), b.input(2, 4, 3) if perm[0] == 0 else b.input(4, 2, 3), integers(*perm))
    return b.module(b.call(MatMulFusion(), x, numbers(2, x.shape[2] if x.shape else 0, 5)))


def list_write(rows: int = 1, shared: bool = False) -> Module:
    """Replaces row 2 of 5, in the form of TensorFlow Lite's converter for TensorListSetItem."""
    b = Builder()
    x, row = b.input(5, 2, 3), b.input(rows, 2, 3)
    index = b.call(AddFusion(), b.input(dtype=np.int32), integers(2).reshape(()))
    following = b.call(AddFusion(), index, np.array(1, np.int32))
    size = b.call(Concat(), b.call(Reshape(), index, integers(1)), integers(-1, -1))
    after = b.call(Concat(), b.call(Reshape(), following, integers(1)), integers(0, 0))
    axes = SliceFusion(axes=(0, 1, 2))
    first = b.call(axes, x, integers(0, 0, 0), size)
    y = b.call(Concat(), first, row, b.call(axes, x, after, integers(-1, -1, -1)))
    return b.module(y, following) if shared else b.module(y)


CASES = {
    "ListWriteFusion": Case(
        (
            (list_write, ["AddFusion", "Reshape", "ScatterNdUpdate"]),
            (lambda: list_write(shared=True), ["AddFusion", "AddFusion", "Reshape", "ScatterNdUpdate"]),
        ),
        lambda: list_write(rows=2),
        "not one row",
    ),
    "CastFusion": Case(((lambda: casts(DataType.INT64), ["Cast"]),), lambda: casts(DataType.BOOL), "is not lossless"),
    "TransposeFusion": Case(((transposes, ["Transpose"]),), transposes_unknown, "different lengths"),
    "ReshapeReshapeFusion": Case(((reshapes, ["Reshape"]),), reshapes_unknown, "more than one dynamic dimension"),
    "TransposeMatMulFusion": Case(
        ((lambda: product((0, 2, 1)), ["MatMulFusion"]),), lambda: product((1, 0, 2)), "last two dimensions"
    ),
}

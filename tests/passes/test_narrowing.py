"""int64 becomes int32 where ranges prove it: which types and operators remain, the same numbers, what is left alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mslite.converter.mindir.graph import SYMBOL_LIMIT, Module, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, Minimum, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.comparison import Less
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Unsqueeze
from mslite.converter.mindir.ops.reduction import ArgMaxFusion
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.mindir.verifier import verify
from mslite.converter.passes.cleanup import remove_identities
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.int64_narrowing import narrow_int64_by_ranges
from mslite.converter.passes.range_analysis import ranges_of
from tests.passes.builder import Builder, assert_close, integers, numbers, operators, run

N = SYMBOL_LIMIT - 5


def long(*items: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(items, np.int64)


def widened(b: Builder, x: Value) -> Value:
    """`x` as int64."""
    return b.call(Cast(), x, integers(int(DataType.INT64)))


def shape_chain() -> Module:
    """Reshape to [shape(x)[0], -1], as torch exports it for a batch of any size."""
    b = Builder()
    x = b.input(N, 4, 3)
    size = b.call(Gather(), widened(b, b.call(Shape(), x)), np.array(0, np.int64), integers(0))
    target = b.call(Concat(axis=0), b.call(Unsqueeze(axis=(0,)), size), long(-1), outputs=1)
    return b.module(b.call(Reshape(), x, b.call(Cast(), target, integers(int(DataType.INT32)))))


def index_arithmetic(limit: int) -> Module:
    """A table row found by an index that is computed from a greatest score; `limit` scales it."""
    b = Builder()
    best = widened(b, b.call(ArgMaxFusion(axis=1), b.input(3, 8)))
    bounded = b.call(Minimum(), b.call(Maximum(), best, long(0)), long(limit))
    row = b.call(SubFusion(), b.call(AddFusion(), bounded, long(1)), long(1))
    return b.module(b.call(Gather(), numbers(9, 4), row, integers(0)))


def compared(bound: int) -> Module:
    b = Builder()
    size = widened(b, b.call(Shape(), b.input(N, 4)))
    return b.module(b.call(Less(), size, long(bound)))


def narrow(module: Module) -> Module:
    context = Context()
    context.next_symbol = SYMBOL_LIMIT - 100
    narrow_int64_by_ranges(module, context)
    infer_shapes(module, context)
    remove_identities(module, context)
    verify(module)
    return module


def wide(module: Module) -> list[str]:
    return [value.name for value in module.main.values() if value.dtype is DataType.INT64]


@pytest.mark.parametrize(
    ("build", "left"),
    [
        (shape_chain, ["Shape", "Gather", "Unsqueeze", "Concat", "Reshape"]),
        (lambda: index_arithmetic(7), ["ArgMaxFusion", "Maximum", "Minimum", "AddFusion", "SubFusion", "Gather"]),
        (lambda: compared(100), ["Shape", "Less"]),
    ],
)
def test_casts_disappear_and_numbers_stay(build: Callable[[], Module], left: list[str]) -> None:
    want = run(build())
    module = narrow(build())
    assert operators(module) == left
    assert wide(module) == []
    assert_close([array.astype(np.float32) for array in run(module)], [array.astype(np.float32) for array in want])


def product_of_sizes(b: Builder) -> Value:
    size = widened(b, b.call(Shape(), b.input(N, 4)))
    return b.call(Cast(), b.call(MulFusion(), size, size), integers(int(DataType.FLOAT32)))


def large_bound(b: Builder) -> Value:
    return b.call(Less(), widened(b, b.call(Shape(), b.input(N, 4))), long(1 << 40))


def graph_input(b: Builder) -> Value:
    return b.call(Gather(), numbers(9, 4), b.call(AddFusion(), b.input(3, dtype=np.int64), long(1)), integers(0))


def graph_output(b: Builder) -> Value:
    return b.call(AddFusion(), widened(b, b.call(Shape(), b.input(3, 4))), long(1))


def sum_of_sizes(b: Builder) -> Value:
    size = widened(b, b.call(Shape(), b.input(N, 4)))
    return b.call(Cast(), b.call(AddFusion(), size, size), integers(int(DataType.FLOAT32)))


@pytest.mark.parametrize("build", [product_of_sizes, sum_of_sizes, large_bound, graph_input, graph_output])
def test_what_is_not_proven_stays(build: Callable[[Builder], Value]) -> None:
    b = Builder()
    module = b.module(build(b))
    before, types = operators(module), wide(module)
    context = Context()
    narrow_int64_by_ranges(module, context)
    assert operators(module) == before
    assert wide(module) == types


def test_ranges() -> None:
    b = Builder()
    x = widened(b, b.call(Shape(), b.input(2, 7)))
    y = b.call(MulFusion(), b.call(SubFusion(), long(1), x), long(-3, 2))
    ranges = ranges_of(b.module(y).main)
    assert ranges[x] == (2, 7)
    assert ranges[y] == (-12, 18)
    b = Builder()
    most = np.array([1 << 62], np.int64)
    doubled = b.call(AddFusion(), b.call(AddFusion(), b.input(1, dtype=np.int64), long(0)), most)
    beyond = b.call(AddFusion(), most, most)
    ranges = ranges_of(b.module(doubled, beyond).main)
    assert doubled not in ranges
    b = Builder()
    unsigned = b.call(Cast(), widened(b, b.input(1, dtype=np.int32)), integers(int(DataType.UINT32)))
    back = widened(b, unsigned)
    assert back not in ranges_of(b.module(back).main)
    assert beyond not in ranges

"""Emits changes of shape that support a dynamic dimension."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.passes.target.decompositions.float_arithmetic import REMEDY
from mslite.converter.passes.target.writer import Writer


def known_shape(x: Value) -> tuple[int, ...]:
    """Returns the shape, with symbols for dynamic dimensions. Raises Blocked if the rank is unknown."""
    if x.shape is None:
        raise Blocked(f"the rank of '{x.name}' is unknown", REMEDY)
    return x.shape


def reshaped(x: Value, sizes: Sequence[int], writer: Writer) -> Value:
    """Emits x in another shape with at most one dynamic dimension. Raises Blocked if there are more."""
    if not sizes:  # a file cannot store an empty constant for the shape of a scalar
        return writer.emit(ReduceFusion(mode=ReduceMode.ReduceSum), x, writer.ints(*range(len(known_shape(x)))))
    wanted = [size if size >= 0 else -1 for size in sizes]
    if wanted.count(-1) > 1:
        raise Blocked(f"'{x.name}' has more than one dynamic dimension", "Fix the input shapes with --inputShape")
    return writer.emit(Reshape(), x, writer.ints(*wanted))


def transposed(x: Value, order: Sequence[int], writer: Writer) -> Value:
    if list(order) == sorted(order):
        return x
    return writer.emit(Transpose(), x, writer.ints(*order))

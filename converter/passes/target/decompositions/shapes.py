"""Changes of shape that stay right where sizes are open."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.passes.target.decompositions.functions import REMEDY
from mslite.converter.passes.target.writer import Writer


def known_shape(x: Value) -> tuple[int, ...]:
    """Sizes and symbols. Raises Blocked where not even their number is known."""
    if x.shape is None:
        raise Blocked(f"it is not known how many dimensions '{x.name}' has", REMEDY)
    return x.shape


def reshaped(x: Value, sizes: Sequence[int], writer: Writer) -> Value:
    """x in another shape, of which one size may be open. Raises Blocked where more are."""
    if not sizes:  # a file has no constant for the shape of a number
        return writer.emit(ReduceFusion(mode=ReduceMode.ReduceSum), x, writer.ints(*range(len(known_shape(x)))))
    wanted = [size if size >= 0 else -1 for size in sizes]
    if wanted.count(-1) > 1:
        raise Blocked(f"more than one size of '{x.name}' is open", "Give its sizes with --inputShape")
    return writer.emit(Reshape(), x, writer.ints(*wanted))


def transposed(x: Value, order: Sequence[int], writer: Writer) -> Value:
    if list(order) == sorted(order):
        return x
    return writer.emit(Transpose(), x, writer.ints(*order))

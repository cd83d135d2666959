"""Assignments to slices of a tensor: `x[1:3] = value`."""

from __future__ import annotations

from itertools import product
from math import prod

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import BroadcastTo
from mslite.converter.mindir.ops.indexing import ScatterNdUpdate
from mslite.converter.mindir.ops.rearrange import Reshape

from .call import Call
from .registry import primitive

_MAX_ROWS = 1 << 20


@primitive(
    "TensorCopySlices",
    operators="ScatterNdUpdate Reshape BroadcastTo",
    arguments="x value begin end strides",
)
def copy_slices(call: Call) -> Value:
    """Converts an assignment to a slice into a scatter of rows. The indices of a row are those of all dimensions up to
    the last sliced one; later dimensions are complete."""
    x = call.input(0)
    shape = call.require_shape(x, "an assignment to a slice")
    starts, ends, steps = (call.integers(name) or () for name in ("begin", "end", "strides"))
    if not 0 < len(starts) == len(ends) == len(steps) <= len(shape) or 0 in steps:
        raise call.block("its slice does not match the tensor")
    ranges = [range(*slice(*ends_of).indices(size)) for *ends_of, size in zip(starts, ends, steps, shape, strict=False)]
    while len(ranges) > 1 and ranges[-1] == range(shape[len(ranges) - 1]):
        ranges.pop()
    count = prod(len(each) for each in ranges)
    if not 0 < count <= _MAX_ROWS:
        raise call.block(f"its slice has {count} rows; 1 to {_MAX_ROWS} are supported", "Use ops.cat of the parts")
    whole = shape[len(ranges) :]
    value = call.cast(call.input(1), call.dtype(x))
    known = call.shape(value)
    if known is None or prod(known) != count * prod(whole):
        value = call.emit(BroadcastTo(), value, call.ints((*(len(each) for each in ranges), *whole)))
    rows = call.emit(Reshape(), value, call.ints((count, *whole)))
    return call.emit(ScatterNdUpdate(), x, call.ints(list(product(*ranges))), rows)

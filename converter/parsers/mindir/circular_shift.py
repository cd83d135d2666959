"""Circular shifts along a dimension: Roll, FFTShift."""

from __future__ import annotations

from math import prod

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.rearrange import Reshape

from .call import Call
from .registry import primitive


def _exchanged(call: Call, x: Value, axis: int, head: int, size: int) -> Value:
    """Moves the first `head` of `size` elements of a dimension to its end."""
    if not 0 < head < size:
        return x
    first, second = (
        call.emit(SliceFusion(axes=(axis,)), x, call.ints((begin,)), call.ints((count,)))
        for begin, count in ((0, head), (head, size - head))
    )
    return call.emit(Concat(axis=axis), second, first)


@primitive("FFTShift", "IFFTShift", operators="SliceFusion Concat", arguments="input dim")
def centered(call: Call) -> Value:
    """Converts FFTShift and IFFTShift: exchange the halves of each dimension."""
    x = call.input(0)
    for axis in call.integers("dim") or range(call.rank(x)):
        place = call.axis(call.input(0), axis, "dim")
        size = call.size(call.input(0), place, "an exchange of halves")
        x = _exchanged(call, x, place, size - size // 2 if call.operator == "FFTShift" else size // 2, size)
    return x


@primitive("Roll", operators="SliceFusion Concat Reshape", arguments="input shifts dims")
def rolled(call: Call) -> Value:
    """Converts Roll: moves each element by `shifts`; without `dims`, the tensor is flattened first."""
    given = x = call.input(0)
    shifts, axes = call.integers("shifts", "shift") or (), call.integers("dims", "axis")
    if not axes:
        shape, axes = call.require_shape(given, "a circular shift of all elements"), (0,)
        x, sizes = call.emit(Reshape(), given, call.ints((-1,))), {0: prod(shape)}
    else:
        shape = None
        axes = tuple(call.axis(given, axis, "dims") for axis in axes)
        sizes = {axis: call.size(given, axis, "a circular shift") for axis in axes}
    if len(shifts) != len(axes):
        raise call.block(f"{list(shifts)} must have one number for each of {len(axes)} dimensions", attribute="shifts")
    for shift, axis in zip(shifts, axes, strict=True):
        size = sizes[axis]
        x = _exchanged(call, x, axis, -shift % size if size else 0, size)
    return x if shape is None else call.emit(Reshape(), x, call.ints(shape))

"""Adaptive pooling: output i is computed from inputs [floor(i * in / out), ceil((i + 1) * in / out))."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion
from mslite.converter.mindir.ops.enums import DataType, Format, PadMode, ReduceMode, RoundMode
from mslite.converter.mindir.ops.indexing import GatherD
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion
from mslite.converter.mindir.ops.reduction import ArgMaxFusion

from .call import Call
from .entries import Entry, Sequence, UnsupportedResult
from .registry import primitive
from .statistics import reduced

_DIMENSIONS = {"1": 1, "2": 2, "3": 3}
_MAX_WINDOWS = 1024


def _sizes(call: Call, dimensions: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the pooled sizes of the input and of the result; -1 and None in `output_size` keep a size. Raises
    Blocked."""
    x = call.input(0)
    shape = call.shape(x)
    if shape is None or len(shape) <= dimensions:
        raise call.block(f"the shape of '{x.name}' is unknown", "Export with fixed shapes")
    old = shape[len(shape) - dimensions :]
    given = call.attribute("output_size")
    wanted = given if isinstance(given, tuple) else call.integers("output_size") or ()
    if len(wanted) == 1:
        wanted = wanted * dimensions
    if len(wanted) != dimensions:
        raise call.block(f"{wanted} must have one size for each of {dimensions} dimensions", attribute="output_size")
    new = tuple(before if size in (None, -1) else int(size) for before, size in zip(old, wanted, strict=True))
    if any(size < 1 for size in new) or any(before < 1 for before, size in zip(old, new, strict=True) if size != 1):
        raise call.block(f"its windows need the shape of '{x.name}', which is not fixed", "Export with fixed shapes")
    return old, new


@primitive(
    *("AdaptiveAvgPool1D", "AdaptiveAvgPool2D", "AdaptiveAvgPool2DExt", "AdaptiveAvgPool3D", "AdaptiveAvgPool3DExt"),
    operators="AvgPoolFusion ReduceFusion SliceFusion Concat",
    arguments="input output_size",
)
def adaptive_average(call: Call) -> Value:
    return _pool(call, ReduceMode.ReduceMean)


@primitive(
    *("AdaptiveMaxPool1D", "AdaptiveMaxPool2D", "AdaptiveMaxPool3D"),
    operators="MaxPoolFusion ReduceFusion SliceFusion Concat ArgMaxFusion GatherD",
    arguments="input output_size",
)
def adaptive_maximum(call: Call) -> Entry:
    """Converts adaptive max pooling. The second result is the index of each maximum in the pooled dimensions, the first
    one of equal maxima."""
    result = _pool(call, ReduceMode.ReduceMax)
    if call.declared_outputs < 2:
        return result
    dimensions = next(count for digit, count in _DIMENSIONS.items() if digit in call.operator)
    if min(_sizes(call, dimensions)[0]) < 1:
        return Sequence((result, UnsupportedResult("the indices of maxima need the pooled sizes, which are not fixed")))
    return Sequence((result, _places(call, dimensions)))


def _places(call: Call, dimensions: int) -> Value:
    """Computes the indices of the maxima. The last dimension is pooled first; of equal maxima, the first one in
    row-major order is used."""
    x = call.input(0)
    old, new = _sizes(call, dimensions)
    first = call.rank(x) - dimensions
    place: Value | None = None
    step = 1
    for number in reversed(range(dimensions)):
        axis = first + number
        values, places = [], []
        for i in range(_checked(call, new[number])):
            begin, end = i * old[number] // new[number], -(-(i + 1) * old[number] // new[number])
            cut = _cut(call, x, axis, begin, end)
            index = call.emit(ArgMaxFusion(axis=axis, keep_dims=True), cut)
            here = call.emit(MulFusion(), call.emit(AddFusion(), index, call.ints(begin)), call.ints(step))
            if place is not None:
                behind = call.emit(GatherD(), _cut(call, place, axis, begin, end), call.ints(axis), index)
                here = call.emit(AddFusion(), here, behind)
            values.append(reduced(call, ReduceMode.ReduceMax, cut, (axis,), True))
            places.append(here)
        x, place = (each[0] if len(each) == 1 else call.emit(Concat(axis=axis), *each) for each in (values, places))
        step *= old[number]
    assert place is not None
    wanted = call.declared_types[1] if len(call.declared_types) > 1 else DataType.INT64
    return call.cast(place, wanted)


def _cut(call: Call, x: Value, axis: int, begin: int, end: int) -> Value:
    return call.emit(SliceFusion(axes=(axis,)), x, call.ints((begin,)), call.ints((end - begin,)))


def _checked(call: Call, windows: int) -> int:
    if windows > _MAX_WINDOWS:
        reason = f"it has {windows} windows along a dimension; {_MAX_WINDOWS} are supported"
        raise call.block(reason, attribute="output_size")
    return windows


def _pool(call: Call, mode: ReduceMode) -> Value:
    x = call.input(0)
    dimensions = next(count for digit, count in _DIMENSIONS.items() if digit in call.operator)
    old, new = _sizes(call, dimensions)
    rank = len(call.shape(x) or ())
    if set(new) == {1}:
        return reduced(call, mode, x, tuple(range(rank - dimensions, rank)), True)
    even = all(before % size == 0 for before, size in zip(old, new, strict=True))
    if rank == 4 and dimensions == 2 and even and call.scope.layout is Format.NCHW:
        kernel = tuple(before // size for before, size in zip(old, new, strict=True))
        kind = AvgPoolFusion if mode is ReduceMode.ReduceMean else MaxPoolFusion
        op = kind(
            format=Format.NCHW, kernel_size=kernel, strides=kernel, pad=(0, 0, 0, 0),
            pad_mode=PadMode.PAD, round_mode=RoundMode.FLOOR,
        )  # fmt: skip
        return call.emit(op, x)
    for number, (before, size) in enumerate(zip(old, new, strict=True)):
        x = _along(call, mode, x, rank - dimensions + number, before, size)
    return x


def _along(call: Call, mode: ReduceMode, x: Value, axis: int, old: int, new: int) -> Value:
    """Pools along one dimension by reducing a slice for each window: averages and maxima are separable."""
    if old == new:
        return x
    if new == 1:
        return reduced(call, mode, x, (axis,), True)
    parts = []
    for i in range(_checked(call, new)):
        cut = _cut(call, x, axis, i * old // new, -(-(i + 1) * old // new))
        parts.append(reduced(call, mode, cut, (axis,), True))
    return call.emit(Concat(axis=axis), *parts)

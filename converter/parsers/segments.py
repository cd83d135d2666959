"""Segment reductions, built from ScatterReduceNd, for all parsers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.assembly import StridedSlice
from mslite.converter.mindir.ops.comparison import Less, Where
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import ScatterReduceNd
from mslite.converter.mindir.ops.rearrange import ExpandDims


class Emitter(Protocol):
    """The methods of a parser's calls that this module needs."""

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike = ..., /) -> Value: ...
    def ints(self, data: Sequence[int] | int, /) -> Value: ...
    def emit(self, op: Operator, *inputs: Value) -> Value: ...


def segment_reduction(
    call: Emitter, reduction: str, x: Value, ids: Value, count: int, row: Sequence[int], dtype: np.dtype[np.generic]
) -> Value:
    """Reduces rows of `x`, with the sizes `row`, into `count` segments by `ids` (int32). `reduction`: max, min or mul.

    Segments without rows get the reduction's neutral element, limited to finite values of `dtype`. Rows with a negative
    id go to an additional segment, which is dropped.
    """
    least, most = _limits(dtype)
    neutral = {"max": least, "min": most, "mul": 1}[reduction]
    start = call.emit(Fill(), call.const(neutral, dtype), call.ints((count + 1, *row)))
    unused = call.emit(Less(), ids, call.ints(0))
    place = call.emit(Where(), unused, call.ints(count), ids)
    place.dtype = DataType.INT32
    tuples = call.emit(ExpandDims(), place, call.ints(-1))
    result = call.emit(ScatterReduceNd(reduction=reduction), start, tuples, x)
    return call.emit(StridedSlice(), result, call.ints((0,)), call.ints((count,)), call.ints((1,)))


def _limits(dtype: np.dtype[np.generic]) -> tuple[float, float]:
    """Returns the minimum and the maximum finite value of a type."""
    if dtype.kind == "f":
        found = np.finfo(dtype.char)
        return float(found.min), float(found.max)
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    return (-(1 << bits) if dtype.kind == "i" else 0), (1 << bits) - 1

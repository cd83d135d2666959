"""Reductions and ArgMax."""

from __future__ import annotations

from math import prod

from mslite.converter.mindir.ops.arithmetic import MulFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.reduction import ArgMaxFusion, ReduceFusion, TopKFusion

from .call import Blob, Call
from .registry import caffe_layer

_MODES = {
    "SUM": ReduceMode.ReduceSum,
    "ASUM": ReduceMode.ReduceASum,
    "SUMSQ": ReduceMode.ReduceSumSquare,
    "MEAN": ReduceMode.ReduceMean,
}


@caffe_layer("Reduction")
def reduction(call: Call) -> Blob:
    """Converts Reduction over all dimensions from `axis` on, times a coefficient."""
    x, given = call.bottom(), call.parameter("reduction")
    axis = call.axis(given.axis, x.rank)
    mode = _MODES[call.choice(given, "operation")]
    op = ReduceFusion(keep_dims=False, mode=mode, coeff=1.0)
    y = call.emit(op, x.value, call.ints(tuple(range(axis, x.rank))))
    if given.coeff != 1:
        y = call.emit(MulFusion(), y, call.const(given.coeff))
    return Blob(y, x.shape[:axis])


@caffe_layer("ArgMax")
def arg_max(call: Call) -> Blob:
    """Converts ArgMax: the indices of the largest elements, as floats, along an axis or in each flattened item.

    Of equal elements, the first one is used.
    """
    x, given = call.bottom(), call.parameter("argmax")
    top = given.top_k
    along = given.HasField("axis")
    axis = call.axis(given.axis, x.rank) if along else 1
    shape = x.shape if along else (x.shape[0], prod(x.shape[1:]))
    if not 1 <= top <= shape[axis]:
        raise call.block(f"{top} of {shape[axis]} elements are not valid", attribute="top_k")
    value = x.value if along else call.reshape(x.value, x.shape, shape)
    if top == 1 and not given.out_max_val:
        positions = call.emit(ArgMaxFusion(axis=axis, top_k=1, keep_dims=True), value)
        largest = None
    else:
        op = TopKFusion(sorted=True, axis=axis, largest=1)
        largest, positions = call.emit_many(op, [value, call.ints((top,))], 2)
    if along:
        result = (*x.shape[:axis], top, *x.shape[axis + 1 :])
        return Blob(
            largest if given.out_max_val and largest is not None else call.cast(positions, DataType.FLOAT32), result
        )
    numbers = call.reshape(call.cast(positions, DataType.FLOAT32), (shape[0], top), (shape[0], 1, top))
    if not given.out_max_val or largest is None:
        return Blob(numbers, (shape[0], 1, top))
    values = call.reshape(largest, (shape[0], top), (shape[0], 1, top))
    return Blob(call.emit(Concat(axis=1), numbers, values), (shape[0], 2, top))

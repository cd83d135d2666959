"""Matrix diagonals, dilation, slice updates, bitcasts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Value, constant, numpy_type
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.comparison import Where
from mslite.converter.mindir.ops.indexing import DynamicUpdateSlice
from mslite.converter.mindir.ops.rearrange import Bitcast, ExpandDims, Reshape

from .call import Call
from .quantization_parameters import is_quantized, quant_params, stored
from .registry import tflite_operator


def _zero(call: Call) -> Value:
    """Returns a stored zero in the type of the result; for quantized results the integer 0, not the value 0.0."""
    tensor = call.output()
    if call.is_float() or not is_quantized(tensor):
        return call.const(0, np.dtype(np.float32) if call.is_float() else numpy_type(tensor.dtype))
    array = stored(tensor, np.zeros((), numpy_type(tensor.dtype)))
    value = constant(call.scope.session.values.unique(f"{call.name}/zero"), array)
    value.quant = quant_params(tensor)
    return value


_LARGEST = 1 << 26
"""Largest number of elements of a diagonal mask."""


def _diagonal(call: Call, rows: int, columns: int) -> Value:
    """Returns a constant mask that is true on the main diagonal. Raises Blocked if it is too large."""
    if rows * columns > _LARGEST:
        raise call.block(f"matrices of {rows} by {columns} are too large")
    return call.const(np.eye(rows, columns, dtype=np.bool_))


@tflite_operator("MATRIX_DIAG")
def matrix_diagonal(call: Call) -> Value:
    """Converts MATRIX_DIAG: vectors [..., n] to matrices [..., n, n] with these diagonals."""
    size = call.shape(0)[-1] if call.rank(0) else 0
    if size < 1:
        raise call.block(f"the input of shape {call.shape(0)} has no vectors")
    rows = call.emit(ExpandDims(), call.input(0), call.ints(-1))
    return call.emit(Where(), _diagonal(call, size, size), rows, _zero(call))


@tflite_operator("MATRIX_SET_DIAG")
def set_diagonal(call: Call) -> Value:
    """Converts MATRIX_SET_DIAG: replaces the main diagonals of x by vectors."""
    shape, diagonal = call.shape(0), call.input(1)
    if len(shape) < 2 or call.shape(1) != (*shape[:-2], min(shape[-2:])):
        raise call.block(f"diagonals {call.shape(1)} do not match the matrices {shape}")
    rows, columns = shape[-2:]
    missing = columns - min(rows, columns)
    if missing:
        pads = np.zeros((len(shape) - 1, 2), np.int32)
        pads[-1, 1] = missing
        diagonal = call.emit(PadFusion(), diagonal, call.const(pads))
    spread = call.emit(ExpandDims(), diagonal, call.ints(-2))
    return call.emit(Where(), _diagonal(call, rows, columns), spread, call.input(0))


@tflite_operator("DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(call: Call) -> Value:
    return call.emit(DynamicUpdateSlice(), call.input(0), call.input(1), call.input(2))


@tflite_operator("BITCAST")
def bitcast(call: Call) -> Value:
    return call.emit(Bitcast(data_type=int(call.output().dtype)), call.input(0))


TO_THE_END = 2**31 - 1
"""End of a slice that includes a whole dimension of any size."""


def spread(call: Call, x: Value, shape: Sequence[int], steps: Sequence[int], fill: Value | None) -> Value:
    """Dilates x: inserts `steps - 1` elements `fill` (None: 0) between neighbors of each dimension."""
    sizes = list(shape)
    for axis, step in enumerate(steps):
        if step == 1 or sizes[axis] <= 1:
            continue
        batch = -1 if axis else sizes[0]  # the batch size may differ from the one in the file
        apart = call.emit(Reshape(), x, call.ints((batch, *sizes[1 : axis + 1], 1, *sizes[axis + 1 :])))
        pads = np.zeros((len(sizes) + 1, 2), np.int32)
        pads[axis + 1, 1] = step - 1
        wide = call.emit(PadFusion(), apart, call.const(pads), *([] if fill is None else [fill]))
        sizes[axis] *= step
        joined = call.emit(Reshape(), wide, call.ints((-1 if axis else sizes[0], *sizes[1:])))
        sizes[axis] -= step - 1
        ends = [size if i == axis else TO_THE_END for i, size in enumerate(sizes)]
        limits = [(0,) * len(sizes), tuple(ends), (1,) * len(sizes)]
        x = call.emit(StridedSlice(), joined, *(call.ints(limit) for limit in limits))
    return x


@tflite_operator("DILATE")
def dilate(call: Call) -> Value:
    """Converts DILATE. Its inputs are x, dilations, fill value."""
    steps = call.integers(1, "the dilations")
    if len(steps) != call.rank(0) or min(steps, default=1) < 1:
        raise call.block(f"the dilations {steps} do not match {call.rank(0)} dimensions")
    return spread(call, call.input(0), call.shape(0), steps, call.input(2))


@tflite_operator("DENSIFY")
def densify(call: Call) -> Value:
    """Converts DENSIFY to its operand: sparse constants are already dense after reading."""
    x = call.input(0)
    if x.data is None:
        raise call.block("its input is not a constant", "Export the model with dense weights")
    return x

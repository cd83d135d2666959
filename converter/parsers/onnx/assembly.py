"""Operators that join, split, slice and pad tensors."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import assembly as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, FloorDiv, Maximum, Minimum, MulFusion, SubFusion
from mslite.converter.mindir.ops.enums import DataType, PaddingMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Transpose
from mslite.converter.mindir.ops.reduction import CumSum
from mslite.converter.mindir.ops.unary import Neg

from .call import Call
from .casting import as_type
from .registry import onnx_operator
from .runtime_axes import scatter_rows


@onnx_operator("Concat")
def concat(call: Call) -> Value:
    axis = call.integer("axis", 1)
    values = call.inputs()
    return values[0] if len(values) == 1 else call.emit(ops.Concat(axis=axis), *values)


@onnx_operator("Split")
def split(call: Call) -> tuple[Value, ...]:
    """The sizes are an attribute before version 13 and an input since then. The default is equal parts."""
    x, axis, count = call.input(0), call.integer("axis", 0), call.output_count
    if call.version >= 13:
        if call.has_input(1) and call.constant(1) is None:
            call.ignore("num_outputs")
            return split_by_value(call, x, axis, as_type(call, call.input(1), DataType.INT32), call.output_count)
        sizes = call.constant_integers(1)
        parts = call.integer("num_outputs", count)
        if parts != count:
            raise call.block(f"{parts} differs from the {count} outputs", "Export the model again", "num_outputs")
    else:
        sizes = call.integers("split")
        if sizes is None and call.has_input(1):
            sizes = call.require_integers(1, "the sizes of the parts")
    if sizes is not None and (len(sizes) != count or any(size < 0 for size in sizes)):
        raise call.block(f"{list(sizes)} does not fit {count} outputs", "Export the model again", "split")
    shape = call.shape(x)
    total = None if shape is None else shape[call.axis(axis, len(shape))]
    if sizes is None and count > 1:
        if total is None and call.version >= 18:
            return split_by_value(call, x, axis, _part_sizes(call, x, axis, count), count)
        if total is not None and total % count != 0:
            size = -(-total // count)
            sizes = (*(size,) * (count - 1), total - size * (count - 1))
            if sizes[-1] < 0:
                raise call.block(f"{total} does not split into {count} parts", "Export the model again", "axis")
    if count == 1:
        return (x,)
    op = ops.Split(output_num=count, size_splits=sizes, axis=axis)
    return call.emit_many(op, (x,), count)


def _part_sizes(call: Call, x: Value, axis: int, count: int) -> Value:
    """Returns the sizes of equal parts (the last may be smaller) of a dimension that is known only at run time."""
    end = axis + 1 if axis != -1 else 2**31 - 1
    total = call.emit(ops.StridedSlice(), call.emit(Shape(), x), *(call.ints((bound,)) for bound in (axis, end, 0, 1)))
    size = call.emit(FloorDiv(), call.emit(AddFusion(), total, call.ints(count - 1)), call.ints(count))
    begins = call.emit(MulFusion(), size, call.ints(range(count)))
    left = call.emit(Maximum(), call.emit(SubFusion(), total, begins), call.ints(0))
    return call.emit(Minimum(), left, size)


def split_by_value(call: Call, x: Value, axis: int, sizes: Value, count: int) -> tuple[Value, ...]:
    """Splits by sizes that are computed at run time: each part begins at the sum of the sizes before it."""
    begins = call.emit(CumSum(exclusive=True), sizes, call.ints(0))
    parts = []
    for index in range(count):
        begin, size = (call.emit(Gather(), vector, call.ints((index,)), call.ints(0)) for vector in (begins, sizes))
        parts.append(call.emit(ops.SliceFusion(axes=(axis,)), x, begin, size))
    return tuple(parts)


@onnx_operator("Slice")
def cut(call: Call) -> Value:
    """The bounds are attributes before version 10 and inputs since then."""
    x = call.input(0)
    if call.version < 10:
        starts, ends, axes = call.integers("starts"), call.integers("ends"), call.integers("axes")
        if starts is None or ends is None or len(starts) != len(ends) or len(axes or starts) != len(starts):
            raise call.block("starts, ends and axes have different lengths", "Export the model again", "starts")
        limit = 2**31 - 1
        begin = call.ints([max(-limit, min(value, limit)) for value in starts])
        end = call.ints([max(-limit, min(value, limit)) for value in ends])
        chosen = call.ints(axes if axes is not None else range(len(starts)))
        return call.emit(ops.StridedSlice(), x, begin, end, chosen, call.ints((1,) * len(starts)))
    begin, end = (as_type(call, call.input(index), DataType.INT32) for index in (1, 2))
    axes_value, steps = call.optional(3), call.optional(4)
    if axes_value is None or steps is None:
        known = call.static_shape(begin) or call.static_shape(call.input(1)) or call.static_shape(call.input(2))
        if known is None:
            raise call.not_known(
                "the number of sliced axes is not known",
                "Give --inputShape, or export the model with fixed shapes",
            )
        count = known[0] if known else 1
    chosen = call.ints(tuple(range(count))) if axes_value is None else as_type(call, axes_value, DataType.INT32)
    stride = call.ints((1,) * count) if steps is None else as_type(call, steps, DataType.INT32)
    return call.emit(ops.StridedSlice(), x, _reached(call, x, begin, chosen, stride), end, chosen, stride)


def _reached(call: Call, x: Value, begin: Value, axes: Value, steps: Value) -> Value:
    """Clamps `begin` to -size. With a negative step, ONNX then starts at the first element; NumPy returns nothing."""
    if steps.data is not None and all(int(step) > 0 for step in steps.data.ravel()):
        return begin
    shape = call.shape(x)
    starts = None if begin.data is None else [int(start) for start in begin.data.ravel()]
    if starts is not None and min(starts, default=0) >= -1:
        return begin
    chosen = None if axes.data is None else [int(axis) for axis in axes.data.ravel()]
    if starts is not None and shape is not None and chosen is not None and len(chosen) == len(starts):
        inside = all(-len(shape) <= axis < len(shape) for axis in chosen)
        known = [size for axis in chosen if inside and (size := shape[axis]) is not None]
        if len(known) == len(starts):
            return call.ints([max(start, -size) for start, size in zip(starts, known, strict=True)])
    # With a positive step the clamped start is the first element too.
    return call.emit(Maximum(), begin, call.emit(Neg(), call.emit(Gather(), call.emit(Shape(), x), axes, call.ints(0))))


def _repeats_of_axis(call: Call) -> Value:
    """Returns the repeats of Tile version 1, whose inputs are a repeat count and an axis, in the type of the data."""
    rank = call.require_rank(call.input(0))
    tiles, at = call.constant(1), call.constant(2)
    if tiles is None or at is None or tiles.size != 1 or at.size != 1:
        raise call.block("its tiles and axis are not scalar constants", "Export for opset 6 or newer")
    axis = call.axis(int(at.item()), rank)
    return call.ints([int(tiles.item()) if dimension == axis else 1 for dimension in range(rank)])


@onnx_operator("Tile")
def tile(call: Call) -> Value:
    repeats = _repeats_of_axis(call) if call.version < 6 else as_type(call, call.input(1), DataType.INT32)
    dims = None if repeats.data is None else tuple(range(repeats.data.size))
    return call.emit(ops.TileFusion(dims=dims), call.input(0), repeats)


@onnx_operator("Expand")
def expand(call: Call) -> Value:
    """Broadcasts as NumPy does: dimensions of size 1 in the input or in the shape are expanded."""
    x, target = call.input(0), as_type(call, call.input(1), DataType.INT32)
    shape, wanted = call.shape(x), call.constant_integers(1)
    if wanted is not None and shape is not None and len(shape) <= len(wanted):
        known = _broadcast(shape, wanted)
        if known is not None:
            return call.emit(ops.BroadcastTo(), x, call.ints(known))
    if wanted is not None and shape is None and 1 not in wanted:
        return call.emit(ops.BroadcastTo(), x, target)
    rank = call.require_rank(x)
    length = call.static_shape(call.input(1))
    if length is None or len(length) != 1:
        raise call.not_known(
            "the rank of the result is not known",
            "Give --inputShape, or export the model with fixed shapes",
        )
    own = call.emit(Shape(), x)
    if length[0] > rank:
        own = call.emit(ops.Concat(axis=0), call.ints((1,) * (length[0] - rank)), own)
    elif length[0] < rank:
        target = call.emit(ops.Concat(axis=0), call.ints((1,) * (rank - length[0])), target)
    # If the sizes differ, one of them is 1 and the larger one is the result (unless the other is 0).
    return call.emit(ops.BroadcastTo(), x, call.emit(Maximum(), own, target))


def _broadcast(shape: tuple[int | None, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    aligned = (1,) * (len(wanted) - len(shape)) + shape
    result = []
    for own, other in zip(aligned, wanted, strict=True):
        if other != 1:
            result.append(other)
        elif own is None:
            return None
        else:
            result.append(own)
    return tuple(result)


_MODES = {"constant": PaddingMode.CONSTANT, "reflect": PaddingMode.REFLECT, "edge": None, "wrap": None}


@onnx_operator("Pad")
def pad(call: Call) -> Value:
    x, mode = call.input(0), call.text("mode", "constant")
    kind = call.choice("mode", mode, _MODES)
    value: Value | None = None
    constant = 0.0
    if call.version < 11:
        call.ignore("consumed_inputs")
        flat = call.integers("pads" if call.version >= 2 else "paddings")
        constant = call.real("value", 0.0)
        if flat is None:
            raise call.block("are missing", "Export the model again", "pads")
        paddings = _pairs(call, x, flat, None)
    else:
        value = call.optional(2)
        paddings = _pairs_of_input(call, x)
        if value is not None and value.data is not None and value.data.size == 1 and value.data.dtype.kind == "f":
            constant, value = float(value.data.reshape(-1)[0]), None
    if kind is None:
        return call.emit(ops.PadExtend(mode=mode), x, paddings)
    op = ops.PadFusion(padding_mode=kind, constant_value=constant)
    if value is not None and kind is PaddingMode.CONSTANT:
        return call.emit(op, x, paddings, value)
    return call.emit(op, x, paddings)


def _pairs(call: Call, x: Value, flat: tuple[int, ...], axes: tuple[int, ...] | None) -> Value:
    """Converts pads [all begins, all ends] to [rank, 2]."""
    if len(flat) % 2 != 0 or (axes is not None and len(flat) != 2 * len(axes)):
        raise call.block(
            f"{list(flat)} does not have a begin and an end for each axis", "Export the model again", "pads"
        )
    if any(abs(entry) >= 2**31 for entry in flat):
        raise call.block(f"{list(flat)} is out of range", "Export the model again", "pads")
    pairs = np.array(flat, np.int32).reshape(2, -1).T
    if axes is not None:
        rank = call.require_rank(x)
        full = np.zeros((rank, 2), np.int32)
        for axis, pair in zip(axes, pairs, strict=True):
            full[call.axis(axis, rank, "axes")] = pair
        pairs = full
    return call.const(np.ascontiguousarray(pairs))


def _pairs_of_input(call: Call, x: Value) -> Value:
    flat, axes = call.constant_integers(1), call.constant_integers(3)
    if flat is not None and (axes is not None or not call.has_input(3)):
        return _pairs(call, x, flat, axes)
    rows = call.emit(Reshape(), as_type(call, call.input(1), DataType.INT32), call.ints((2, -1)))
    pairs = call.emit(Transpose(), rows, call.ints((1, 0)))
    return scatter_rows(call, pairs, call.input(3), call.require_rank(x)) if call.has_input(3) else pairs

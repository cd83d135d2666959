"""Concatenation, stack, split, padding, tile, slices, roll."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import assembly as ops
from mslite.converter.mindir.ops.arithmetic import Maximum, Minimum
from mslite.converter.mindir.ops.comparison import Equal, Where
from mslite.converter.mindir.ops.enums import PaddingMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.reduction import CumSum

from .call import Call
from .registry import tf_operator


@tf_operator("ConcatV2", "Concat")
def concat(call: Call) -> Value:
    """Converts ConcatV2, with the axis as the last operand, and Concat, with the axis as the first."""
    last = call.operator == "ConcatV2"
    if call.input_count < 2:
        raise call.block("it has no tensors to concatenate")
    values = call.inputs(0, -1) if last else call.inputs(1)
    axis = call.require_integer(call.input_count - 1 if last else 0, "the axis")
    if len(values) == 1:
        return values[0]
    return call.emit(ops.Concat(axis=call.axis(axis, call.require_rank(values[0]))), *values)


@tf_operator("Pack")
def pack(call: Call) -> Value:
    values = call.inputs()
    if not values:
        raise call.block("it has no tensors to concatenate")
    return call.emit(ops.Stack(axis=call.axis(call.integer("axis"), call.require_rank(values[0]) + 1)), *values)


@tf_operator("Unpack")
def unpack(call: Call) -> tuple[Value, ...]:
    x, count = call.input(0), call.integer("num")
    axis = call.axis(call.integer("axis"), call.require_rank(x))
    if not 1 <= count <= 65536:
        raise call.block(f"{count} is not a supported number of outputs", attribute="num")
    return call.emit_many(ops.Unstack(axis=axis), [x], count)


@tf_operator("Split")
def split(call: Call) -> tuple[Value, ...]:
    """Converts Split (inputs: axis, x) into equal parts."""
    x, count = call.input(1), call.integer("num_split")
    axis = call.axis(call.require_integer(0, "the axis"), call.require_rank(x))
    if not 1 <= count <= 65536:
        raise call.block(f"{count} is not a supported number of outputs", attribute="num_split")
    if count == 1:
        return (x,)
    assert x.shape is not None
    size = x.shape[axis]
    if size >= 0 and size % count:
        raise call.block(f"dimension {axis} of size {size} cannot be split into {count} equal parts")
    sizes = (size // count,) * count if size >= 0 else None
    return call.emit_many(ops.Split(output_num=count, size_splits=sizes, axis=axis), [x], count)


@tf_operator("SplitV")
def split_v(call: Call) -> tuple[Value, ...]:
    """Converts SplitV (inputs: x, sizes, axis). One size may be -1: the remaining elements."""
    x = call.input(0)
    axis = call.axis(call.require_integer(2, "the axis"), call.require_rank(x))
    known = call.known_integers(1)
    if known is None:
        return _split_by_value(call, x, axis)
    sizes, count = list(known), call.integer("num_split")
    if not sizes or len(sizes) != count or sizes.count(-1) > 1 or min(sizes) < -1:
        raise call.block(f"the sizes {sizes} do not match {count} outputs", attribute="num_split")
    if -1 in sizes:
        sizes[sizes.index(-1)] = call.require_size(x, axis, "a part with the remaining elements") - (sum(sizes) + 1)
    if len(sizes) == 1:
        return (x,)
    op = ops.Split(output_num=len(sizes), size_splits=tuple(sizes), axis=axis)
    return call.emit_many(op, [x], len(sizes))


def _split_by_value(call: Call, x: Value, axis: int) -> tuple[Value, ...]:
    """Splits by computed sizes: each part is a slice that starts at the sum of the sizes before it."""
    sizes, count = call.int32(1), call.integer("num_split")
    if not 1 <= count <= 4096:
        raise call.block(f"{count} is not a supported number of outputs", attribute="num_split")
    begins = call.emit(CumSum(exclusive=True), sizes, call.ints(0))
    parts = []
    for index in range(count):
        begin, size = (call.emit(Gather(), vector, call.ints((index,)), call.ints(0)) for vector in (begins, sizes))
        parts.append(call.emit(ops.SliceFusion(axes=(axis,)), x, begin, size))
    return tuple(parts)


@tf_operator("Pad", "PadV2")
def pad(call: Call) -> Value:
    x, pairs = call.input(0), call.int32(1)
    if not call.has_input(2):
        return call.emit(ops.PadFusion(), x, pairs)
    value = call.constant(2)
    if value is not None and value.size == 1 and value.dtype.kind == "f":
        return call.emit(ops.PadFusion(constant_value=float(value.item())), x, pairs)
    return call.emit(ops.PadFusion(), x, pairs, call.input(2))


@tf_operator("MirrorPad")
def mirror_pad(call: Call) -> Value:
    modes = {"REFLECT": PaddingMode.REFLECT, "SYMMETRIC": PaddingMode.SYMMETRIC}
    mode = call.text("mode")
    if mode not in modes:
        raise call.block(f"the mode '{mode}' is unknown", attribute="mode")
    return call.emit(ops.PadFusion(padding_mode=modes[mode]), call.input(0), call.int32(1))


@tf_operator("Tile")
def tile(call: Call) -> Value:
    return call.emit(ops.TileFusion(), call.input(0), call.int32(1))


@tf_operator("BroadcastTo")
def broadcast_to(call: Call) -> Value:
    return call.emit(ops.BroadcastTo(), call.input(0), call.int32(1))


@tf_operator("Slice")
def cut(call: Call) -> Value:
    """Converts Slice. Its inputs are x, begin, size; a size of -1 includes all remaining elements."""
    x = call.input(0)
    op = ops.SliceFusion(axes=tuple(range(call.require_rank(x))))
    return call.emit(op, x, call.int32(1), call.int32(2))


@tf_operator("StridedSlice")
def strided_slice(call: Call) -> Value:
    op = ops.StridedSlice(
        begin_mask=call.integer("begin_mask"),
        end_mask=call.integer("end_mask"),
        ellipsis_mask=call.integer("ellipsis_mask"),
        new_axis_mask=call.integer("new_axis_mask"),
        shrink_axis_mask=call.integer("shrink_axis_mask"),
    )
    return call.emit(op, call.input(0), call.int32(1), call.int32(2), call.int32(3))


@tf_operator("Roll")
def roll(call: Call) -> Value:
    """Converts Roll (inputs: x, shifts, axes): elements that are shifted beyond the end move to the beginning."""
    x = call.input(0)
    shifts, axes = call.require_integers(1, "the shifts"), call.require_integers(2, "the axes")
    if len(shifts) != len(axes):
        raise call.block(f"it has {len(shifts)} shifts for {len(axes)} axes")
    for shift, given in zip(shifts, axes, strict=True):
        axis = call.axis(given, call.require_rank(x))
        size = call.require_size(x, axis, "Roll")
        begin = -shift % size if size else 0
        if begin:
            cut_here = ops.Split(output_num=2, size_splits=(begin, size - begin), axis=axis)
            head, tail = call.emit_many(cut_here, [x], 2)
            x = call.emit(ops.Concat(axis=axis), tail, head)
    return x


@tf_operator("BroadcastArgs")
def broadcast_shapes(call: Call) -> Value:
    """Converts BroadcastArgs: the shape to which two shapes broadcast."""
    first, second = call.int32(0), call.int32(1)
    lengths = [call.require_size(value, 0, "BroadcastArgs") for value in (first, second)]
    rank = max(lengths)
    aligned = []
    for value, length in zip((first, second), lengths, strict=True):
        ones = call.ints((1,) * (rank - length))
        aligned.append(value if length == rank else call.emit(ops.Concat(axis=0), ones, value))
    # If the sizes differ, one of them is 1, so the result is the larger one (or 0 if the other is 0).
    larger = call.emit(Maximum(), *aligned)
    zero = call.ints(0)
    some = call.emit(Minimum(), *aligned)
    result = call.emit(Where(), call.emit(Equal(), some, zero), zero, larger)
    return call.as_type(result, call.input(0).dtype)

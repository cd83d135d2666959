"""Concatenation, stack, split, padding, tile, slices."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import assembly as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import DataType, PaddingMode

from .call import Call
from .registry import tflite_operator


@tflite_operator("CONCATENATION")
def concatenation(call: Call) -> Value:
    values = call.inputs()
    axis = call.axis(call.options.integer("axis"), call.rank(0))
    return call.activated(call.emit(ops.Concat(axis=axis), *values))


@tflite_operator("PACK")
def pack(call: Call) -> Value:
    axis = call.axis(call.options.integer("axis"), call.rank(0) + 1)
    return call.emit(ops.Stack(axis=axis), *call.inputs())


@tflite_operator("UNPACK")
def unpack(call: Call) -> tuple[Value, ...]:
    axis = call.axis(call.options.integer("axis"), call.rank(0))
    return call.emit_many(ops.Unstack(axis=axis), [call.input(0)], len(call.node.outputs))


def _axis(call: Call, index: int, data: int) -> int:
    axes = call.integers(index, "the axis")
    if len(axes) != 1:
        raise call.block(f"{len(axes)} axes are given; one is supported")
    return call.axis(axes[0], call.rank(data))


@tflite_operator("SPLIT")
def split(call: Call) -> tuple[Value, ...]:
    """Converts SPLIT (inputs: axis, x) into equal parts."""
    axis, count = _axis(call, 0, 1), len(call.node.outputs)
    size = call.shape(1)[axis]
    if count < 1 or size % count:
        raise call.block(
            f"dimension {axis} of size {size} cannot be split into {count} equal parts", attribute="num_splits"
        )
    op = ops.Split(output_num=count, size_splits=(size // count,) * count, axis=axis)
    return call.emit_many(op, [call.input(1)], count)


@tflite_operator("SPLIT_V")
def split_v(call: Call) -> tuple[Value, ...]:
    """Converts SPLIT_V (inputs: x, sizes, axis). One size may be -1: the remaining elements."""
    axis, sizes = _axis(call, 2, 0), list(call.integers(1, "the sizes"))
    if len(sizes) != len(call.node.outputs) or sizes.count(-1) > 1:
        raise call.block(f"the sizes {sizes} do not match {len(call.node.outputs)} outputs", attribute="num_splits")
    if -1 in sizes:
        sizes[sizes.index(-1)] = call.shape(0)[axis] - (sum(sizes) + 1)
    op = ops.Split(output_num=len(sizes), size_splits=tuple(sizes), axis=axis)
    return call.emit_many(op, [call.input(0)], len(sizes))


@tflite_operator("PAD", "PADV2")
def pad(call: Call) -> Value:
    if not call.has_input(2):
        return call.emit(ops.PadFusion(), call.input(0), call.int32(1))
    value = call.constant(2)
    if value is not None and value.size == 1 and value.dtype.kind == "f":
        return call.emit(ops.PadFusion(constant_value=float(value.item())), call.input(0), call.int32(1))
    return call.emit(ops.PadFusion(), call.input(0), call.int32(1), call.input(2))


@tflite_operator("MIRROR_PAD")
def mirror_pad(call: Call) -> Value:
    mode = call.options.integer("mode")
    if mode not in (0, 1):
        raise call.block(f"mode {mode} is unknown", attribute="mode")
    padding_mode = PaddingMode.REFLECT if mode == 0 else PaddingMode.SYMMETRIC
    return call.emit(ops.PadFusion(padding_mode=padding_mode), call.input(0), call.int32(1))


@tflite_operator("TILE")
def tile(call: Call) -> Value:
    return call.emit(ops.TileFusion(), call.input(0), call.int32(1))


@tflite_operator("BROADCAST_TO")
def broadcast_to(call: Call) -> Value:
    return call.emit(ops.BroadcastTo(), call.input(0), call.int32(1))


@tflite_operator("SLICE")
def cut(call: Call) -> Value:
    return call.emit(ops.SliceFusion(axes=tuple(range(call.rank(0)))), call.input(0), call.int32(1), call.int32(2))


@tflite_operator("STRIDED_SLICE")
def strided_slice(call: Call) -> Value:
    """Converts STRIDED_SLICE. With `offset`, the ends are relative to the beginnings."""
    options = call.options
    begin, end = call.int32(1), call.int32(2)
    if options.integer("offset"):
        if begin.data is not None and end.data is not None:
            end = call.const(begin.data + end.data)  # type: ignore[operator]
        else:
            end = call.emit(AddFusion(), begin, end)
            end.dtype = DataType.INT32
    op = ops.StridedSlice(
        begin_mask=options.integer("begin_mask"),
        end_mask=options.integer("end_mask"),
        ellipsis_mask=options.integer("ellipsis_mask"),
        new_axis_mask=options.integer("new_axis_mask"),
        shrink_axis_mask=options.integer("shrink_axis_mask"),
    )
    return call.emit(op, call.input(0), begin, end, call.int32(3))

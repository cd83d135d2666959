"""Reshape, transpose, reverse, and operators between space, depth and batch."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import rearrange as ops
from mslite.converter.mindir.ops.enums import Format

from .call import Call
from .registry import tflite_operator


@tflite_operator("RESHAPE")
def reshape(call: Call) -> Value:
    """Converts RESHAPE. The shape is the second input, or an option in old models. A size of 0 means 0 elements."""
    if call.has_input(1):
        shape = call.int32(1)
    else:
        shape = call.ints(call.options.integers("new_shape") or ())
    if shape.data is not None and shape.data.ndim != 1:
        shape = call.ints(shape.data.ravel().tolist())
    return call.emit(ops.Reshape(), call.input(0), shape)


@tflite_operator("SHAPE")
def shape(call: Call) -> Value:
    return call.as_declared(call.emit(ops.Shape(), call.input(0)))


@tflite_operator("RANK")
def rank(call: Call) -> Value:
    return call.emit(ops.Rank(), call.input(0))


@tflite_operator("EXPAND_DIMS")
def expand_dims(call: Call) -> Value:
    return call.emit(ops.ExpandDims(), call.input(0), call.int32(1))


@tflite_operator("SQUEEZE")
def squeeze(call: Call) -> Value:
    """Converts SQUEEZE; without dimensions, all of size 1 are removed."""
    axes = call.options.integers("dims") or ()
    if not axes:
        return call.emit(ops.Squeeze(), call.input(0))
    return call.emit(ops.Squeeze(axis=tuple(call.axis(axis, call.rank(0)) for axis in axes)), call.input(0))


@tflite_operator("TRANSPOSE")
def transpose(call: Call) -> Value:
    return call.emit(ops.Transpose(), call.input(0), call.int32(1))


@tflite_operator("REVERSE_V2")
def reverse(call: Call) -> Value:
    axes = tuple(call.axis(axis, call.rank(0)) for axis in call.integers(1, "the axes"))
    return call.emit(ops.ReverseV2(axis=axes), call.input(0))


@tflite_operator("REVERSE_SEQUENCE")
def reverse_sequence(call: Call) -> Value:
    op = ops.ReverseSequence(seq_dim=call.options.integer("seq_dim"), batch_dim=call.options.integer("batch_dim"))
    return call.emit(op, call.input(0), call.int32(1))


@tflite_operator("DEPTH_TO_SPACE", "SPACE_TO_DEPTH")
def depth_and_space(call: Call) -> Value:
    block = call.options.integer("block_size")
    if block < 1:
        raise call.block(f"{block} is not positive", attribute="block_size")
    if call.node.name == "DEPTH_TO_SPACE":
        return call.emit(ops.DepthToSpace(block_size=block, format=Format.NHWC, mode="DCR"), call.input(0))
    return call.emit(ops.SpaceToDepth(block_size=block, format=Format.NHWC), call.input(0))


@tflite_operator("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND")
def batch_and_space(call: Call) -> Value:
    """Converts BATCH_TO_SPACE_ND and SPACE_TO_BATCH_ND; constant block sizes and padding become attributes."""
    to_space = call.node.name == "BATCH_TO_SPACE_ND"
    blocks, borders = call.constant(1), call.constant(2)
    if blocks is None or borders is None:
        op = ops.BatchToSpaceND() if to_space else ops.SpaceToBatchND()
        return call.emit(op, call.input(0), call.int32(1), call.int32(2))
    sizes = tuple(blocks.ravel().tolist())
    if borders.size != 2 * len(sizes):
        raise call.block(f"{borders.size} padding values do not match {len(sizes)} block sizes")
    pairs = tuple(tuple(pair) for pair in borders.reshape(-1, 2).tolist())
    if not to_space:
        return call.emit(ops.SpaceToBatchND(block_shape=sizes, paddings=pairs), call.input(0))
    if len(sizes) == 2 and call.rank(0) == 4:
        return call.emit(ops.BatchToSpace(block_size=sizes, crops=pairs), call.input(0))
    return call.emit(ops.BatchToSpaceND(block_shape=sizes, crops=pairs), call.input(0))

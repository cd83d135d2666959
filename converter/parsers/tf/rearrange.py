"""Shape, reshape, transpose, reverse, and operators between space, depth and batch."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import rearrange as ops
from mslite.converter.mindir.ops.arithmetic import FloorMod
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.indexing import Gather

from .call import Call
from .registry import tf_operator

_LARGEST_SIZE = (1 << 31) - 1


@tf_operator("Shape", "Size", "Rank")
def dimensions(call: Call) -> Value:
    op = {"Shape": ops.Shape(), "Size": ops.Size(), "Rank": ops.Rank()}[call.operator]
    return call.as_type(call.emit(op, call.input(0)), call.type("out_type", DataType.INT32))


@tf_operator("ShapeN")
def shapes(call: Call) -> list[Value]:
    target = call.type("out_type", DataType.INT32)
    return [call.as_type(call.emit(ops.Shape(), value), target) for value in call.inputs()]


@tf_operator("Reshape")
def reshape(call: Call) -> Value:
    """Converts Reshape. A size of 0 means 0 elements in TensorFlow, but keeps a size in MindIR, so the result becomes
    an empty constant."""
    x, shape = call.input(0), call.int32(1)
    if shape.data is not None and 0 in shape.data:
        known = tuple(int(size) for size in shape.data.ravel())
        if max(known) > _LARGEST_SIZE:
            raise call.block(f"{list(known)} is not a valid shape", "Export the model again")
        if min(known) >= 0:
            return call.const(np.zeros(known, numpy_type(x.dtype)))
    return call.emit(ops.Reshape(), x, shape)


@tf_operator("ExpandDims")
def expand_dims(call: Call) -> Value:
    x, axis = call.input(0), call.known_integers(1)
    if axis is not None and len(axis) == 1 and x.shape is not None:
        return call.emit(ops.Unsqueeze(axis=(call.axis(axis[0], len(x.shape) + 1),)), x)
    return call.emit(ops.ExpandDims(), x, call.int32(1))


@tf_operator("Squeeze")
def squeeze(call: Call) -> Value:
    """Converts Squeeze; without dimensions, all of size 1 are removed."""
    x = call.input(0)
    axes = call.integers("squeeze_dims") or call.integers("axis")
    if axes:
        rank = call.require_rank(x)
        return call.emit(ops.Squeeze(axis=tuple(sorted(call.axis(axis, rank) for axis in axes))), x)
    shape = call.require_shape(x, "Squeeze without dimensions")
    ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return call.emit(ops.Squeeze(axis=ones), x) if ones else x


@tf_operator("Transpose", "ConjugateTranspose")
def transpose(call: Call) -> Value:
    return call.emit(ops.Transpose(), call.input(0), call.int32(1))


@tf_operator("InvertPermutation")
def invert_permutation(call: Call) -> Value:
    x = call.input(0)
    return call.as_type(call.emit(ops.InvertPermutation(), call.as_type(x, DataType.INT32)), x.dtype)


@tf_operator("ReverseV2")
def reverse(call: Call) -> Value:
    x = call.input(0)
    rank = call.require_rank(x)
    axes = tuple(call.axis(axis, rank) for axis in call.require_integers(1, "the axes"))
    return call.emit(ops.ReverseV2(axis=axes), x) if axes else x


@tf_operator("ReverseSequence")
def reverse_sequence(call: Call) -> Value:
    op = ops.ReverseSequence(seq_dim=call.integer("seq_dim"), batch_dim=call.integer("batch_dim"))
    return call.emit(op, call.input(0), call.int32(1))


@tf_operator("DepthToSpace", "SpaceToDepth")
def depth_and_space(call: Call) -> Value:
    """Converts DepthToSpace and SpaceToDepth. In both layouts, channels are [position in the block, depth]."""
    block = call.integer("block_size")
    if not 1 <= block < 2**15:
        raise call.block(f"{block} is not a block size", attribute="block_size")
    if call.operator == "DepthToSpace":
        op: ops.DepthToSpace | ops.SpaceToDepth = ops.DepthToSpace(block_size=block, format=Format.NHWC, mode="DCR")
    else:
        op = ops.SpaceToDepth(block_size=block, format=Format.NHWC)
    return call.spatial(op, call.input(0), channels_first=call.channels_first())


@tf_operator("BatchToSpaceND", "SpaceToBatchND")
def batch_and_space_nd(call: Call) -> Value:
    blocks = call.require_integers(1, "the block sizes")
    return _batch_and_space(call, blocks, call.operator == "BatchToSpaceND")


@tf_operator("BatchToSpace", "SpaceToBatch")
def batch_and_space(call: Call) -> Value:
    """Converts the older form, for two dimensions with the same block size."""
    block = call.integer("block_size")
    return _batch_and_space(call, (block, block), call.operator == "BatchToSpace")


def _batch_and_space(call: Call, blocks: tuple[int, ...], to_space: bool) -> Value:
    """Emits a batch and space operator; padding that is computed at run time stays an operand."""
    x = call.input(0)
    if not all(1 <= block < 2**31 for block in blocks):
        raise call.block(f"the block sizes {list(blocks)} are not positive")
    border_index = call.input_count - 1
    borders = call.known_integers(border_index)
    if borders is None:
        op = ops.BatchToSpaceND() if to_space else ops.SpaceToBatchND()
        return call.spatial(op, x, call.ints(blocks), call.int32(border_index))
    if len(borders) != 2 * len(blocks) or not all(0 <= border < 2**31 for border in borders):
        raise call.block(f"{list(borders)} must have a pair for each block size")
    pairs = tuple(borders[index : index + 2] for index in range(0, len(borders), 2))
    if not to_space:
        return call.spatial(ops.SpaceToBatchND(block_shape=blocks, paddings=pairs), x)
    if len(blocks) == 2 and call.require_rank(x) == 4:
        return call.spatial(ops.BatchToSpace(block_size=blocks, crops=pairs), x)
    return call.emit(ops.BatchToSpaceND(block_shape=blocks, crops=pairs), x)


@tf_operator("DataFormatVecPermute", "DataFormatDimMap")
def format_change(call: Call) -> Value:
    """Converts sizes (or dimension numbers) from one data format to another."""
    x, source, target = call.input(0), call.text("src_format", "NHWC"), call.text("dst_format", "NCHW")
    if sorted(source) != sorted(target) or len(set(source)) != len(source):
        raise call.block(f"'{source}' and '{target}' have different dimensions", attribute="dst_format")
    if call.operator == "DataFormatDimMap":
        table = call.ints([target.index(letter) for letter in source])
        places = call.emit(FloorMod(), call.as_type(x, DataType.INT32), call.ints(len(source)))
        return call.as_type(call.emit(Gather(), table, places, call.ints(0)), x.dtype)
    length = call.require_size(x, 0, "this permutation")
    if length == len(source) - 2:  # only the spatial dimensions
        source, target = (text.replace("N", "").replace("C", "") for text in (source, target))
    if length != len(source):
        raise call.block(f"{length} sizes do not match '{source}'")
    return call.emit(Gather(), x, call.ints([source.index(letter) for letter in target]), call.ints(0))

"""Reshape, transpose, slice, concatenation, split, padding, gather."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import assembly, creation, indexing, rearrange
from mslite.converter.mindir.ops.enums import PaddingMode

from .call import Call
from .entries import Entry, Immediate, Sequence, flattened
from .generic import convert_same_operator, emit_in_model_layout
from .registry import primitive


@primitive("Reshape", operators="Reshape", arguments="input shape")
def reshape(call: Call) -> Value:
    if call.optional(1) is None:
        shape = call.ints(call.integers("shape") or ())
    else:
        shape = call.index_list(1)
    return call.emit(rearrange.Reshape(), call.input(0), shape)


@primitive("Transpose", operators="Transpose", arguments="input input_perm")
def transpose(call: Call) -> Value:
    if call.optional(1) is None:
        given = call.integers("perm")
        return call.emit(rearrange.Transpose(), call.input(0), *([] if given is None else [call.ints(given)]))
    return call.emit(rearrange.Transpose(), call.input(0), call.index_list(1))


@primitive("Squeeze", operators="Squeeze", arguments="input axis")
def squeeze(call: Call) -> Value:
    axis = call.integers("axis")
    return call.emit(rearrange.Squeeze(axis=axis or None), call.input(0))


@primitive("ExpandDims", operators="ExpandDims", arguments="input_x axis")
def expand_dims(call: Call) -> Value:
    axis = call.integers("axis") if len(call.entries) < 2 else None
    return call.emit(rearrange.ExpandDims(), call.input(0), call.index_list(1) if axis is None else call.ints(axis[0]))


@primitive("Flatten", operators="Flatten", arguments="input_x axis")
def flatten(call: Call) -> Value:
    return call.emit(rearrange.Flatten(axis=call.integer("axis", 1)), call.input(0))


@primitive("DynamicShape", "TensorShape", operators="Shape")
def shape_of(call: Call) -> Value:
    return call.emit(rearrange.Shape(), call.input(0))


@primitive("Tile", operators="TileFusion", arguments="input dims")
def tile(call: Call) -> Value:
    return call.emit(assembly.TileFusion(), call.input(0), call.index_list(1))


@primitive("BatchToSpaceND", operators="BatchToSpace BatchToSpaceND", arguments="x block_shape crops")
def batch_to_space(call: Call) -> Entry:
    """Converts BatchToSpaceND of images to BatchToSpace, because mslite's BatchToSpaceND has no layout."""
    block = call.integers("block_shape")
    if block is None or len(block) != 2 or call.scope.session.written_by_mslite:
        return convert_same_operator(call, rearrange.BatchToSpaceND)
    crops = call.integers("crops") or (0,) * 4
    op = rearrange.BatchToSpace(block_size=block, crops=(crops[:2], crops[2:]))
    return emit_in_model_layout(call, op, [call.input(0)])


@primitive("Concat", operators="Concat", arguments="tensors axis")
def concat(call: Call) -> Value:
    return call.emit(assembly.Concat(axis=call.integer("axis", 0)), *_tensors(call))


@primitive("ParallelConcat", operators="Concat", arguments="values")
def rows_joined(call: Call) -> Value:
    return call.emit(assembly.Concat(axis=0), *call.tensors())


@primitive("StackExt", operators="Stack", arguments="tensors dim")
@primitive("Stack", "Pack", operators="Stack", arguments="tensors axis")
def stack(call: Call) -> Value:
    return call.emit(assembly.Stack(axis=call.integer("axis", 0, "dim")), *_tensors(call))


def _tensors(call: Call) -> list[Value]:
    """Returns the tensors of the first operand if it is a tuple; else all operands except a constant axis."""
    if call.entries and isinstance(call.entries[0], Sequence):
        return [call.value(entry) for entry in flattened(call.entries[:1])]
    return [call.value(entry) for entry in call.entries if not isinstance(entry, Immediate)]


@primitive("Unstack", "Unpack", operators="Unstack", arguments="input_x axis")
def unstack(call: Call) -> Entry:
    count = call.integer("num", 0) or call.declared_outputs
    if not 0 < count <= 4096:
        raise call.block(f"it has {count} results", attribute="num")
    return call.emit_many(assembly.Unstack(axis=call.integer("axis", 0)), [call.input(0)], count)


@primitive("Split", "SplitV", operators="Split", arguments="input_x axis output_num")
def split(call: Call) -> Entry:
    sizes = call.integers("size_splits")
    axis = call.integer("axis", 0, "split_dim")
    count = call.integer("output_num", len(sizes or ()) or call.declared_outputs, "num_split")
    if not 0 < count <= 4096:
        raise call.block(f"it has {count} results", attribute="output_num")
    op = assembly.Split(output_num=count, size_splits=sizes, axis=axis)
    return call.emit_many(op, [call.input(0)], count)


@primitive("Slice", operators="SliceFusion")
def cut(call: Call) -> Value:
    begin, size = call.index_list(1), call.index_list(2)
    count = begin.data.size if begin.data is not None else len(call.require_shape(begin, "Slice")[:1])
    shape = call.shape(call.input(0))
    count = len(shape) if shape is not None else count
    return call.emit(assembly.SliceFusion(axes=tuple(range(count))), call.input(0), begin, size)


@primitive("Pad", "MirrorPad", operators="PadFusion", arguments="x paddings")
def pad(call: Call) -> Value:
    """Converts Pad and MirrorPad. The padding is an attribute or the second operand."""
    mode = PaddingMode.CONSTANT
    if call.operator == "MirrorPad":
        mode = call.choice("mode", PaddingMode, PaddingMode.REFLECT)
    borders = call.integers("paddings")
    if borders is None:
        return call.emit(assembly.PadFusion(padding_mode=mode), call.input(0), call.index_list(1))
    if len(borders) % 2:
        raise call.block(f"{list(borders)} is not a list of pairs", attribute="paddings")
    return call.emit(
        assembly.PadFusion(padding_mode=mode), call.input(0), call.ints(np.asarray(borders).reshape(-1, 2))
    )


@primitive(
    "StridedSlice",
    operators="StridedSlice",
    arguments="input_x begin end strides begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask",
)
def strided_slice(call: Call) -> Value:
    op = assembly.StridedSlice(
        begin_mask=call.integer("begin_mask", 0),
        end_mask=call.integer("end_mask", 0),
        ellipsis_mask=call.integer("ellipsis_mask", 0),
        new_axis_mask=call.integer("new_axis_mask", 0),
        shrink_axis_mask=call.integer("shrink_axis_mask", 0),
    )
    # With five tensors, the last four are begin, end, axes, strides; in the function form, operand 4 is a mask, a
    # scalar.
    count = 5 if len(call.entries) == 5 and isinstance(call.entries[4], Value) else min(4, len(call.entries))
    return call.emit(op, call.input(0), *(call.index_list(index) for index in range(1, count)))


@primitive("Gather", "GatherV2", "SparseGatherV2", operators="Gather", arguments="params indices axis batch_dims")
def gather(call: Call) -> Value:
    batch = call.integer("batch_dims", 0)
    axis = call.index_list(2) if len(call.entries) > 2 else call.ints(call.integer("axis", 0))
    if batch:
        number = call.flat_integers(call.constant(2, "the axis"))[0]
        return call.emit(indexing.BatchGather(axis=number, batch_dims=batch), call.input(0), call.input(1))
    return call.emit(indexing.Gather(), call.input(0), call.input(1), axis)


@primitive("TensorScatterUpdate", operators="ScatterNdUpdate")
def scatter_update(call: Call) -> Value:
    return call.emit(indexing.ScatterNdUpdate(), *(call.input(index) for index in range(3)))


@primitive("OneHot", operators="OneHot", arguments="indices depth on_value off_value axis")
def one_hot(call: Call) -> Value:
    op = indexing.OneHot(axis=call.integer("axis", -1))
    return call.emit(op, *(call.input(index) for index in range(min(4, len(call.entries)))))


@primitive("Fill", operators="Fill", arguments="type shape value")
def fill(call: Call) -> Value:
    """Converts Fill. MindSpore's operands are type, shape and value; mslite's are value and shape."""
    if len(call.entries) == 2:
        return call.emit(creation.Fill(), call.input(0), call.input(1))
    return call.emit(creation.Fill(), call.input(2), call.input(1))


@primitive("BroadcastTo", operators="BroadcastTo", arguments="input shape")
def broadcast_to(call: Call) -> Value:
    shape = call.integers("shape")
    if shape is not None:
        return call.emit(assembly.BroadcastTo(), call.input(0), call.ints(shape))
    return call.emit(assembly.BroadcastTo(), call.input(0), call.index_list(1))


@primitive("Range", operators="Range", arguments="start limit delta maxlen")
def numbers(call: Call) -> Entry:
    """Converts Range. In MindSpore 2.x, the fourth operand is the largest number of elements, which is ignored."""
    if len(call.entries) < 3:
        return convert_same_operator(call, creation.Range)
    first, last, step = (call.typed(index) for index in range(3))
    return call.emit(creation.Range(), first, last, step)


@primitive("StandardNormal", operators="RandomStandardNormal")
def standard_normal(call: Call) -> Value:
    op = creation.RandomStandardNormal(seed=call.integer("seed", 0), seed2=call.integer("seed2", 0))
    return call.emit(op, call.input(0))

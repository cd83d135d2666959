"""Operators on sequences of tensors. Their lengths must be known at conversion, so no sequence remains at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, FloorMod
from mslite.converter.mindir.ops.assembly import Concat, Split
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Squeeze, Unsqueeze

from .assembly import split_by_value
from .call import Call
from .casting import as_type
from .registry import onnx_operator
from .tensor_sequence import TensorSequence


def sequence(call: Call, items: list[Value]) -> TensorSequence:
    return TensorSequence(f"{call.name}/sequence", DataType.UNKNOWN, items=tuple(items))


def _items(call: Call, index: int = 0) -> list[Value]:
    return list(call.sequence(index).items)


def _position(call: Call, index: int, count: int) -> int:
    """Reads a constant position and returns it as a nonnegative index."""
    place = call.require_integers(index, "the position in a sequence")
    if len(place) != 1 or not -count <= place[0] < count:
        raise call.block(f"position {list(place)} is out of range: the sequence has {count} tensors", "Export again")
    return place[0] % count


@onnx_operator("SequenceEmpty")
def sequence_empty(call: Call) -> Value:
    call.ignore("dtype")
    return sequence(call, [])


@onnx_operator("SequenceConstruct")
def sequence_construct(call: Call) -> Value:
    return sequence(call, call.inputs())


@onnx_operator("SequenceInsert")
def sequence_insert(call: Call) -> Value:
    items, tensor = _items(call), call.input(1)
    place = len(items) if not call.has_input(2) else _position(call, 2, len(items) + 1)
    if call.has_input(2) and call.require_integers(2, "the position in a sequence")[0] < 0:
        place = _position(call, 2, len(items))  # a negative position counts from the old end
    return sequence(call, [*items[:place], tensor, *items[place:]])


@onnx_operator("SequenceErase")
def sequence_erase(call: Call) -> Value:
    items = _items(call)
    place = len(items) - 1 if not call.has_input(1) else _position(call, 1, len(items))
    return sequence(call, [*items[:place], *items[place + 1 :]])


@onnx_operator("SequenceAt")
def sequence_at(call: Call) -> Value:
    items = _items(call)
    item = _chosen(call, items) if call.constant(1) is None else items[_position(call, 1, len(items))]
    call.scope.types.tell(call.node.output, [item])  # ONNX cannot infer its rank if the sequence was created empty
    return item


def _chosen(call: Call, items: list[Value]) -> Value:
    """Selects a tensor by a position known only at run time. Stacks the tensors, which must have one shape."""
    shapes = {call.static_shape(item) for item in items}
    if len(shapes) != 1 or None in shapes:
        remedy = "Give --inputShape to make all shapes known, or make them equal"
        raise call.not_known(
            "the position (input 1) is computed at run time, and the tensors do not have a common known shape", remedy
        )
    stacked = call.emit(Concat(axis=0), *(call.emit(Unsqueeze(axis=(0,)), item) for item in items))
    count, place = call.ints(len(items)), as_type(call, call.input(1), DataType.INT32)
    place = call.emit(Reshape(), place, call.const((), np.int32))
    place = call.emit(FloorMod(), call.emit(AddFusion(), place, count), count)  # negative positions count from the end
    return call.emit(Gather(), stacked, place, call.ints(0))


@onnx_operator("SequenceLength")
def sequence_length(call: Call) -> Value:
    return call.const(len(_items(call)), "int64")


@onnx_operator("ConcatFromSequence")
def concat_from_sequence(call: Call) -> Value:
    """With new_axis, stacks the tensors."""
    items, axis, stacked = _items(call), call.integer("axis"), call.boolean("new_axis")
    if not items:
        raise call.block("the sequence is empty", "Export the model again")
    shapes = [call.shape(item) for item in items]
    if stacked:
        if axis < 0:
            axis += call.require_rank(items[0]) + 1
        items = [call.emit(Unsqueeze(axis=(axis,)), item) for item in items]
        shapes = [None if shape is None else (*shape[:axis], 1, *shape[axis:]) for shape in shapes]
    result = items[0] if len(items) == 1 else call.emit(Concat(axis=axis), *items)
    return call.told(result, call.sequence(0).items[0], _joined(call, shapes, axis))


def _joined(call: Call, shapes: Sequence[tuple[int | None, ...] | None], axis: int) -> tuple[int | None, ...] | None:
    """Returns the shape of the concatenated tensors; None if no rank is known."""
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return None
    axis = call.axis(axis, len(known[0]))
    sizes = [size for shape in known if (size := shape[axis]) is not None]
    total = sum(sizes) if len(sizes) == len(shapes) else None
    return (*known[0][:axis], total, *known[0][axis + 1 :])


@onnx_operator("SplitToSequence")
def split_to_sequence(call: Call) -> Value:
    """Parts of one size (a scalar), of listed sizes, or of size 1, with or without the split dimension (keepdims)."""
    x = call.input(0)
    axis = call.axis(call.integer("axis", 0), call.require_rank(x))
    shape = call.shape(x)
    total = None if shape is None else shape[axis]
    listed = call.constant_integers(1)
    if listed is None and call.has_input(1) and call.rank(call.input(1)) == 1:
        counted = call.require_shape(call.input(1), "a sequence of parts")[0]
        sizes_value = as_type(call, call.input(1), DataType.INT32)
        return sequence(call, list(split_by_value(call, x, axis, sizes_value, counted)))
    if total is None or (listed is None and call.has_input(1)):
        raise call.not_known("the number of parts is not known", "Give --inputShape, or constant sizes of the parts")
    if listed is None:
        sizes = [1] * total
    elif call.rank(call.input(1)) == 0 or (len(listed) == 1 and listed[0] != total):
        size = max(1, listed[0])
        sizes = [min(size, total - begin) for begin in range(0, total, size)]
    else:
        sizes = list(listed)
    if sum(sizes) != total or any(size < 0 for size in sizes):
        raise call.block(f"the sum of the sizes {sizes} is not {total}", "Export the model again")
    squeezed = not call.boolean("keepdims", True) and listed is None
    if not sizes:
        return sequence(call, [])
    split = Split(output_num=len(sizes), size_splits=tuple(sizes), axis=axis)
    parts = [x] if len(sizes) == 1 else list(call.emit_many(split, (x,), len(sizes)))
    rest = None if shape is None else (*shape[:axis], *shape[axis + 1 :])
    for part, size in zip(parts, sizes, strict=True):
        call.scope.types.note(part, call.dtype(x), None if rest is None else (*rest[:axis], size, *rest[axis:]))
    if not squeezed:
        return sequence(call, parts)
    slices = [call.emit(Squeeze(axis=(axis,)), part) for part in parts]
    for one in slices:
        call.scope.types.note(one, call.dtype(x), rest)
    return sequence(call, slices)

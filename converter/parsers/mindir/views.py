"""View primitives of `mint` and of methods of Tensor: transposed and merged dimensions, slices, splits."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Split, StridedSlice, Unstack
from mslite.converter.mindir.ops.creation import OnesLike, ZerosLike
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape, Shape, Transpose

from .call import Call
from .entries import Entry
from .registry import primitive

_END = (1 << 31) - 1
_MAX_PARTS = 4096


def _rank(call: Call) -> int:
    return call.rank(call.input(0))


def _axis(call: Call, name: str, default: int, more: int = 0) -> int:
    return call.axis(call.input(0), call.integer(name, default), name, more)


@primitive("TransposeView", operators="Transpose", arguments="input input_perm")
def transposed_view(call: Call) -> Value:
    return call.emit(Transpose(), call.input(0), call.index_list(1))


@primitive("TransposeExtView", operators="Transpose", arguments="input dim0 dim1")
def swapped(call: Call) -> Value:
    first, second = _axis(call, "dim0", 0), _axis(call, "dim1", 1)
    order = list(range(_rank(call)))
    order[first], order[second] = order[second], order[first]
    return call.emit(Transpose(), call.input(0), call.ints(order))


@primitive("TExt", operators="Transpose", arguments="input")
def reversed_dimensions(call: Call) -> Value:
    return call.emit(Transpose(), call.input(0), call.ints(range(_rank(call))[::-1]))


@primitive("ExpandDimsView", operators="ExpandDims", arguments="input dim")
def expanded(call: Call) -> Value:
    return call.emit(ExpandDims(), call.input(0), call.ints(_axis(call, "dim", 0, more=1)))


@primitive("View", operators="Reshape", arguments="input shape")
def viewed(call: Call) -> Value:
    return call.emit(Reshape(), call.input(0), call.index_list(1))


@primitive("ViewAs", operators="Reshape Shape", arguments="input other")
def viewed_as(call: Call) -> Value:
    return call.emit(Reshape(), call.input(0), call.emit(Shape(), call.input(1)))


@primitive("FlattenExt", operators="Reshape", arguments="input start_dim end_dim")
def flattened_dimensions(call: Call) -> Value:
    """Converts FlattenExt: merges dimensions `start_dim` to `end_dim`. A 0 in the new shape keeps a size."""
    rank = _rank(call)
    if rank == 0:
        return call.emit(Reshape(), call.input(0), call.ints((1,)))
    first, last = _axis(call, "start_dim", 0), _axis(call, "end_dim", -1)
    shape = call.shape(call.input(0)) or ()
    if any(size < 0 for size in shape[last + 1 :]):
        raise call.block("the sizes after the merged dimensions are not fixed", "Export with fixed shapes")
    return call.emit(Reshape(), call.input(0), call.ints((0,) * first + (-1,) + shape[last + 1 :]))


# ---- slices ----


def _cut(call: Call, axis: int, begin: int, end: int, step: int = 1) -> Value:
    numbers = ((begin,), (end,), (axis,), (step,))
    return call.emit(StridedSlice(), call.input(0), *(call.ints(each) for each in numbers))


@primitive("SelectExtView", operators="Gather", arguments="input dim index")
def selected(call: Call) -> Value:
    index = call.integer("index", 0)
    return call.emit(Gather(), call.input(0), call.ints(index), call.ints(_axis(call, "dim", 0)))


@primitive("IndexSelect", operators="Gather", arguments="input dim index")
def index_selected(call: Call) -> Value:
    return call.emit(Gather(), call.input(0), call.input(2), call.ints(_axis(call, "dim", 0)))


@primitive("Narrow", "NarrowView", operators="StridedSlice", arguments="input dim start length")
def narrowed(call: Call) -> Value:
    start, length = call.integer("start", 0), call.integer("length", 0)
    end = start + length
    return _cut(call, _axis(call, "dim", 0), start, _END if start < 0 and end == 0 else end)


@primitive("SliceExt", "SliceExtView", operators="StridedSlice", arguments="input dim start end step")
def sliced(call: Call) -> Value:
    end = min(call.integer("end", _END), _END)
    return _cut(call, _axis(call, "dim", 0), call.integer("start", 0), end, call.integer("step", 1))


def _parts(call: Call, axis: int, sizes: tuple[int, ...]) -> Entry:
    if not 0 < len(sizes) <= _MAX_PARTS:
        raise call.block(f"it has {len(sizes)} results")
    return call.emit_many(Split(output_num=len(sizes), size_splits=sizes, axis=axis), [call.input(0)], len(sizes))


def _size(call: Call, axis: int) -> int:
    return call.size(call.input(0), axis, "a split of a dimension")


def _equal_parts(whole: int, part: int) -> tuple[int, ...]:
    """Returns the sizes of equal parts of a dimension; the last one may be smaller."""
    return tuple(min(part, whole - begin) for begin in range(0, whole, part)) if part > 0 else ()


@primitive("Chunk", "ChunkView", operators="Split", arguments="input chunks dim")
def chunked(call: Call) -> Entry:
    axis, count = _axis(call, "dim", 0), call.integer("chunks", 1)
    whole = _size(call, axis)
    return _parts(call, axis, _equal_parts(whole, -(-whole // count)) if count > 0 else ())


@primitive("SplitTensor", "SplitTensorView", operators="Split", arguments="input split_size dim")
def split_evenly(call: Call) -> Entry:
    axis = _axis(call, "dim", 0)
    return _parts(call, axis, _equal_parts(_size(call, axis), call.integer("split_size", 0)))


@primitive("SplitWithSize", "SplitWithSizeView", operators="Split", arguments="input split_size dim")
def split_by_sizes(call: Call) -> Entry:
    return _parts(call, _axis(call, "dim", 0), call.integers("split_size") or ())


@primitive("UnstackExtView", operators="Unstack", arguments="input dim")
def unstacked(call: Call) -> Entry:
    axis = _axis(call, "dim", 0)
    count = _size(call, axis)
    if not 0 < count <= _MAX_PARTS:
        raise call.block(f"it has {count} results")
    return call.emit_many(Unstack(axis=axis), [call.input(0)], count)


@primitive("OnesLikeExt", "ZerosLikeExt", operators="OnesLike ZerosLike", arguments="input dtype")
def filled_like(call: Call) -> Value:
    kind = OnesLike if call.operator == "OnesLikeExt" else ZerosLike
    return call.emit(kind(), call.cast(call.input(0), call.declared_type))

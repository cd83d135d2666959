"""Gathers and scatters by index tensors and masks; unique and nonzero elements."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import indexing as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, SubFusion
from mslite.converter.mindir.ops.assembly import BroadcastTo, Concat, SliceFusion, Split, Stack
from mslite.converter.mindir.ops.comparison import Equal, Less, NonZero, Where
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape, Shape, Squeeze
from mslite.converter.mindir.ops.reduction import CumSum

from .call import Call
from .entries import Entry, Immediate, Sequence, flattened
from .registry import primitive
from .scatter import placed
from .statistics import reduced


@primitive("Index", "InnerIndex", operators="Stack GatherNd Reshape", arguments="input indices")
def picked(call: Call) -> Value:
    """Converts x[i, j, ...]: the index tensors are for the first dimensions, and broadcast."""
    return call.emit(ops.GatherNd(), call.input(0), _joined(call, call.entries[1])[0])


@primitive("IndexPut", operators="Stack ScatterNdUpdate TensorScatterAdd", arguments="x1 x2 indices")
@primitive("InplaceIndexPut", "InnerInplaceIndexPut", operators="Stack ScatterNdUpdate TensorScatterAdd",
           arguments="input indices values accumulate")  # fmt: skip
def put(call: Call) -> Value:
    """Converts x[i, j, ...] = y (or +=): the index tensors are for the first dimensions, and broadcast."""
    at, given = (2, 1) if call.operator == "IndexPut" else (1, 2)
    x, values = call.input(0), call.input(given)
    tuples, sizes = _joined(call, call.entries[at])
    wanted = (*sizes[:-1], *call.require_shape(x, "placing values")[sizes[-1] :])
    if call.shape(values) != wanted:
        values = call.emit(BroadcastTo(), values, call.ints(wanted))
    return placed(call, "Add" if call.boolean("accumulate") else "Update", x, tuples, values)


def _joined(call: Call, entry: Entry) -> tuple[Value, tuple[int, ...]]:
    """Returns the index tensors as one tensor of index tuples, and its shape. Negative indices count from the end."""
    if isinstance(entry, Sequence) and any(isinstance(each, Immediate) for each in entry.items):
        raise call.block("some of its dimensions have no index tensor", "Use ops.gather or slices")
    values = [call.value(each) for each in flattened([entry])]
    shapes = [call.require_shape(value, "an index") for value in values]
    whole = np.broadcast_shapes(*shapes)
    sizes = call.require_shape(call.input(0), "an index")
    columns = []
    for value, shape, size in zip(values, shapes, sizes, strict=False):
        if call.dtype(value) is DataType.BOOL:
            raise call.block("one of its indices is a mask", "Use ops.masked_fill or ops.where")
        own = call.cast(value, DataType.INT32)
        own = own if shape == whole else call.emit(BroadcastTo(), own, call.ints(whole))
        behind = call.emit(AddFusion(), own, call.ints(size))
        columns.append(call.emit(Where(), call.emit(Less(), own, call.ints(0)), behind, own))
    if len(columns) > len(sizes):
        raise call.block(f"it has {len(columns)} indices for {len(sizes)} dimensions")
    return call.emit(Stack(axis=len(whole)), *columns), (*whole, len(columns))


@primitive("Take", operators="Reshape Gather", arguments="input index")
def taken(call: Call) -> Value:
    """Converts Take: the indices are for the flattened tensor."""
    return call.emit(ops.Gather(), call.emit(Reshape(), call.input(0), call.ints((-1,))), call.input(1), call.ints(0))


@primitive(
    "InplacePut", operators="Reshape ScatterNdUpdate TensorScatterAdd", arguments="input index source accumulate"
)
def put_in_order(call: Call) -> Value:
    x = call.input(0)
    flat, index, source = (call.emit(Reshape(), each, call.ints((-1,))) for each in (x, call.input(1), call.input(2)))
    rows = call.emit(ExpandDims(), index, call.ints(1))
    kind = "Add" if call.boolean("accumulate") else "Update"
    return call.emit(Reshape(), placed(call, kind, flat, rows, source), call.emit(Shape(), x))


# ---- masks ----


def _same_shape(call: Call, first: Value, second: Value) -> tuple[Value, Value]:
    shapes = [call.require_shape(each, "a mask") for each in (first, second)]
    whole = np.broadcast_shapes(*shapes)
    one, two = (
        each if shape == whole else call.emit(BroadcastTo(), each, call.ints(whole))
        for each, shape in zip((first, second), shapes, strict=True)
    )
    return one, two


@primitive("MaskedSelect", operators="Where GatherNd", arguments="input mask")
def selected(call: Call) -> Value:
    """Converts MaskedSelect: a vector of the elements for which the mask is true."""
    x, mask = _same_shape(call, call.input(0), call.input(1))
    return call.emit(ops.GatherNd(), x, call.emit(Where(), mask))


@primitive("MaskedScatter", "InplaceMaskedScatter", operators="CumSum Gather Where", arguments="input mask source")
def scattered(call: Call) -> Value:
    """Converts MaskedScatter: replaces the elements for which the mask is true by those of `source`, in order."""
    x = call.input(0)
    shape = call.require_shape(x, "a mask")
    mask = call.input(1)
    mask = mask if call.shape(mask) == shape else call.emit(BroadcastTo(), mask, call.ints(shape))
    number = call.cast(call.emit(Reshape(), mask, call.ints((-1,))), DataType.INT32)
    place = call.emit(SubFusion(), call.emit(CumSum(), number, call.ints(0)), call.ints(1))
    place = call.emit(Maximum(), place, call.ints(0))
    source = call.emit(Reshape(), call.cast(call.input(2), call.dtype(x)), call.ints((-1,)))
    picked = call.emit(Reshape(), call.emit(ops.Gather(), source, place, call.ints(0)), call.ints(shape))
    return call.emit(Where(), mask, picked, x)


@primitive("ListDiff", operators="Equal ReduceFusion Where Gather", arguments="x y")
def difference(call: Call) -> Entry:
    """Converts ListDiff: the elements of the first vector that are not in the second, and their indices."""
    x = call.input(0)
    same = call.emit(Equal(), call.emit(ExpandDims(), x, call.ints(1)), call.input(1))
    found = reduced(call, ReduceMode.ReduceMax, call.cast(same, DataType.INT32), (1,), False)
    places = call.emit(Squeeze(axis=(1,)), call.emit(Where(), call.emit(Equal(), found, call.ints(0))))
    wanted = call.attribute("out_idx")
    places = call.cast(places, wanted if isinstance(wanted, DataType) else DataType.INT32)
    return Sequence((call.emit(ops.Gather(), x, places, call.ints(0)), places))


@primitive("Unique", operators="Unique Cast", arguments="x")
def unique(call: Call) -> Entry:
    """Converts Unique: the distinct elements of a vector, and for each element its index among them."""
    made = call.emit_many(ops.Unique(), [call.input(0)], 2).items
    types = call.declared_types if len(call.declared_types) == len(made) else (DataType.UNKNOWN,) * len(made)
    return Sequence(tuple(call.cast(call.value(each), wanted) for each, wanted in zip(made, types, strict=True)))


@primitive("UniqueWithPad", operators="Unique Concat SliceFusion", arguments="x pad_num")
def unique_padded(call: Call) -> Entry:
    """Converts UniqueWithPad: as Unique, with the distinct elements padded to the size of the vector."""
    x = call.input(0)
    size = call.size(x, 0, "filling up")
    values, places = (call.value(each) for each in call.emit_many(ops.Unique(), [x], 2).items)
    rest = call.emit(Fill(), call.cast(call.input(1), call.dtype(x)), call.ints((size,)))
    longer = call.emit(Concat(axis=0), values, rest)
    cut = call.emit(SliceFusion(axes=(0,)), longer, call.ints((0,)), call.ints((size,)))
    return Sequence((cut, call.cast(places, call.dtype(x))))


@primitive("Unique2", operators="UniqueSlices Reshape", arguments="input sorted return_inverse return_counts")
@primitive("UniqueDim", operators="UniqueSlices", arguments="input sorted return_inverse dim")
def distinct(call: Call) -> Entry:
    """Converts Unique2 and UniqueDim: the sorted distinct elements or slices, inverse indices, and counts."""
    x = call.input(0)
    of_slices = call.operator == "UniqueDim"
    op = ops.UniqueSlices(has_axis=of_slices, axis=call.integer("dim", 0) if of_slices else 0, sorted_=True)
    values, _, inverse, counts = (call.value(each) for each in call.emit_many(op, [x], 4).items)
    shape = call.shape(x)
    if not of_slices and shape is not None and len(shape) != 1 and call.boolean("return_inverse"):
        inverse = call.emit(Reshape(), inverse, call.ints(call.require_shape(x, "the indices of elements")))
    return Sequence((values, inverse, counts))


@primitive("NonZero", operators="NonZero Cast", arguments="input")
def places(call: Call) -> Value:
    return call.cast(call.emit(NonZero(), call.input(0)), call.declared_type)


@primitive("NonZeroExt", operators="NonZero Cast Split Squeeze", arguments="input")
def places_by_dimension(call: Call) -> Entry:
    """Converts NonZeroExt: a vector of indices for each dimension."""
    x = call.input(0)
    rank = call.rank(x)
    found = call.cast(call.emit(NonZero(), x), call.declared_type)
    columns = [found] if rank == 1 else call.emit_many(Split(output_num=rank, axis=1), [found], rank).items
    return Sequence(tuple(call.emit(Squeeze(axis=(1,)), call.value(each)) for each in columns))

"""Elements placed into tensors and parameters, and picked by masks."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import indexing as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import BroadcastTo, Stack, StridedSlice
from mslite.converter.mindir.ops.comparison import Equal, Less, Where
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape, Shape, Transpose
from mslite.converter.mindir.ops.reduction import CumSum
from mslite.converter.mindir.ops.sparse import SparseToDense
from mslite.converter.mindir.ops.unary import Neg, Reciprocal
from mslite.converter.parsers.segments import reduced_segments

from .call import Call
from .entries import Entry, Immediate, Sequence, flattened
from .registry import primitive
from .statistics import reduced

_OPERATIONS = ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min")
_REDUCTIONS = {"Mul": "mul", "Div": "mul", "Max": "max", "Min": "min"}


def _placed(call: Call, kind: str, x: Value, tuples: Value, updates: Value) -> Value:
    """x with updates placed, or reduced, at index tuples."""
    updates = call.cast(updates, call.dtype(x))
    if kind == "Update":
        return call.emit(ops.ScatterNdUpdate(), x, tuples, updates)
    if kind in ("Add", "Sub"):
        return call.emit(ops.TensorScatterAdd(), x, tuples, call.emit(Neg(), updates) if kind == "Sub" else updates)
    if kind == "Div":
        known = call.dtype(x)
        if known is not DataType.UNKNOWN and numpy_type(known).kind != "f":
            raise call.block("integers are not divided at places", "Cast the tensor to float32 in the model")
        updates = call.emit(Reciprocal(), updates)
    return call.emit(ops.ScatterReduceNd(reduction=_REDUCTIONS[kind]), x, tuples, updates)


def _kind(call: Call) -> str:
    return next(each for each in _OPERATIONS if call.operator.endswith(each))


@primitive(*(f"ScatterNd{each}" for each in _OPERATIONS), "ScatterNonAliasingAdd", "TensorScatterDiv",
           operators="ScatterNdUpdate TensorScatterAdd ScatterReduceNd", arguments="input_x indices updates use_locking")  # fmt: skip
def scatter_tuples(call: Call) -> Value:
    return _placed(call, _kind(call), call.input(0), call.input(1), call.input(2))


@primitive(*(f"Scatter{each}" for each in _OPERATIONS),
           operators="ScatterNdUpdate TensorScatterAdd ScatterReduceNd ExpandDims", arguments="input_x indices updates use_locking")  # fmt: skip
def scatter_rows(call: Call) -> Value:
    return _placed(call, _kind(call), call.input(0), _tuples(call, call.input(1)), call.input(2))


def _tuples(call: Call, rows: Value) -> Value:
    return call.emit(ExpandDims(), rows, call.ints(-1))


_OLD_ROWS = {"InplaceAdd": "Add", "InplaceSub": "Sub", "InplaceUpdate": "Update", "InplaceUpdateV2": "Update"}


@primitive("InplaceAdd", "InplaceSub", "InplaceUpdate", operators="ScatterNdUpdate TensorScatterAdd", arguments="x v")
@primitive("InplaceUpdateV2", operators="ScatterNdUpdate", arguments="x indices v")
def rows_of_list(call: Call) -> Value:
    """The rows that `indices` lists."""
    rows = np.asarray(call.integers("indices") or (), np.int32).reshape(-1, 1)
    return _placed(call, _OLD_ROWS[call.operator], call.input(0), call.ints(rows), call.input(len(call.entries) - 1))


# ---- along one dimension ----


@primitive(
    "IndexAddExt",
    "InplaceIndexAddExt",
    operators="TensorScatterAdd Transpose",
    arguments="input dim index source alpha",
)
@primitive("IndexAdd", "InplaceIndexAdd", operators="TensorScatterAdd Transpose", arguments="x indices y axis")
def add_slices(call: Call) -> Value:
    """Slices along a dimension are added at indices."""
    if call.operator in ("IndexAdd", "InplaceIndexAdd"):
        axis, index, source = call.integer("axis", 0), call.input(1), call.input(2)
    else:
        axis, index, source = call.integer("dim", 0), call.input(2), call.input(3)
        alpha = call.real("alpha", 1.0)
        source = source if alpha == 1 else call.emit(MulFusion(), source, call.like(alpha, source))
    return _slices(call, "Add", axis, index, source)


@primitive("InplaceIndexCopy", operators="ScatterNdUpdate Transpose", arguments="input dim index tensor")
def copy_slices(call: Call) -> Value:
    return _slices(call, "Update", call.integer("dim", 0), call.input(2), call.input(3))


@primitive(*("IndexFill", "IndexFillScalar", "IndexFillTensor", "InplaceIndexFillScalar", "InplaceIndexFillTensor"),
           operators="Fill ScatterNdUpdate Transpose", arguments="input dim index value")  # fmt: skip
def fill_slices(call: Call) -> Value:
    x, index = call.input(0), call.input(2)
    axis = call.axis(x, call.integer("dim", 0), "dim")
    shape = list(call.require_shape(x, "filling slices"))
    shape[axis] = prod(call.require_shape(index, "filling slices"))
    filled = call.emit(Fill(), call.cast(call.input(3), call.dtype(x)), call.ints(shape))
    return _slices(call, "Update", axis, call.emit(Reshape(), index, call.ints((-1,))), filled)


def _slices(call: Call, kind: str, axis: int, index: Value, source: Value) -> Value:
    x = call.input(0)
    axis = call.axis(x, axis, "axis")
    if axis == 0:
        return _placed(call, kind, x, _tuples(call, index), source)
    order = list(range(call.rank(x)))
    order[0], order[axis] = order[axis], order[0]
    first, given = (call.emit(Transpose(), each, call.ints(order)) for each in (x, source))
    return call.emit(Transpose(), _placed(call, kind, first, _tuples(call, index), given), call.ints(order))


_BY_NAME = {"none": "none", "add": "add", "multiply": "mul", 0: "none", 1: "add", 2: "mul"}


@primitive(
    "Scatter", "ScatterValue", operators="ScatterElements ScatterReduceElements", arguments="input dim index src reduce"
)
@primitive(*("InplaceScatterSrc", "InplaceScatterSrcReduce", "InplaceScatterValue", "InplaceScatterValueReduce"),
           operators="ScatterElements ScatterReduceElements", arguments="input dim index src reduce")  # fmt: skip
@primitive("ScatterAddExt", "InplaceScatterAdd", operators="ScatterReduceElements", arguments="input dim index src")
def scatter_elements(call: Call) -> Value:
    """Elements of `src`, or one value, at the places along a dimension; what lies behind the indices does not count."""
    x, axis, index, source = call.input(0), call.integer("dim", 0), call.input(2), call.input(3)
    given = call.attribute("reduce")
    kind = (
        "add" if call.operator.endswith(("AddExt", "ScatterAdd")) else _BY_NAME.get("none" if given is None else given)
    )
    if kind is None:
        raise call.block(f"{given!r} is not none, add or multiply", attribute="reduce")
    source = call.cast(source, call.dtype(x))
    sizes, own = call.require_shape(index, "placing elements"), call.shape(source)
    if not own:
        source = call.emit(Fill(), source, call.ints(sizes))
    elif own != sizes:
        begin, step = call.ints((0,) * len(sizes)), call.ints((1,) * len(sizes))
        source = call.emit(StridedSlice(), source, begin, call.ints(sizes), step)
    if kind == "none":
        return call.emit(ops.ScatterElements(axis=axis), x, index, source)
    return call.emit(ops.ScatterReduceElements(axis=axis, reduction=kind), x, index, source)


@primitive("ScatterAddWithAxis", operators="ScatterReduceElements", arguments="x indices updates axis")
def add_elements(call: Call) -> Value:
    op = ops.ScatterReduceElements(axis=call.integer("axis", 0), reduction="add")
    return call.emit(op, call.input(0), call.input(1), call.input(2))


# ---- by index tensors ----


@primitive("Index", "InnerIndex", operators="Stack GatherNd Reshape", arguments="input indices")
def picked(call: Call) -> Value:
    """Indices of the first dimensions, which broadcast."""
    return call.emit(ops.GatherNd(), call.input(0), _joined(call, call.entries[1])[0])


@primitive("IndexPut", operators="Stack ScatterNdUpdate TensorScatterAdd", arguments="x1 x2 indices")
@primitive("InplaceIndexPut", "InnerInplaceIndexPut", operators="Stack ScatterNdUpdate TensorScatterAdd",
           arguments="input indices values accumulate")  # fmt: skip
def put(call: Call) -> Value:
    """Values at indices of the first dimensions, which broadcast."""
    at, given = (2, 1) if call.operator == "IndexPut" else (1, 2)
    x, values = call.input(0), call.input(given)
    tuples, sizes = _joined(call, call.entries[at])
    wanted = (*sizes[:-1], *call.require_shape(x, "placing values")[sizes[-1] :])
    if call.shape(values) != wanted:
        values = call.emit(BroadcastTo(), values, call.ints(wanted))
    return _placed(call, "Add" if call.boolean("accumulate") else "Update", x, tuples, values)


def _joined(call: Call, entry: Entry) -> tuple[Value, tuple[int, ...]]:
    """Index tensors as tuples of indices, negative ones counted from the end, and the shape of that."""
    if isinstance(entry, Sequence) and any(isinstance(each, Immediate) for each in entry.items):
        raise call.block("some of its dimensions have no index", "Use ops.gather, or slices")
    values = [call.value(each) for each in flattened([entry])]
    shapes = [call.require_shape(value, "an index") for value in values]
    whole = np.broadcast_shapes(*shapes)
    sizes = call.require_shape(call.input(0), "an index")
    columns = []
    for value, shape, size in zip(values, shapes, sizes, strict=False):
        if call.dtype(value) is DataType.BOOL:
            raise call.block("one of its indices is a mask", "Use ops.masked_fill, or ops.where")
        own = call.cast(value, DataType.INT32)
        own = own if shape == whole else call.emit(BroadcastTo(), own, call.ints(whole))
        behind = call.emit(AddFusion(), own, call.ints(size))
        columns.append(call.emit(Where(), call.emit(Less(), own, call.ints(0)), behind, own))
    if len(columns) > len(sizes):
        raise call.block(f"it has {len(columns)} indices for {len(sizes)} dimensions")
    return call.emit(Stack(axis=len(whole)), *columns), (*whole, len(columns))


@primitive("Take", operators="Reshape Gather", arguments="input index")
def taken(call: Call) -> Value:
    """Elements in order, whatever the dimensions."""
    return call.emit(ops.Gather(), call.emit(Reshape(), call.input(0), call.ints((-1,))), call.input(1), call.ints(0))


@primitive(
    "InplacePut", operators="Reshape ScatterNdUpdate TensorScatterAdd", arguments="input index source accumulate"
)
def put_in_order(call: Call) -> Value:
    x = call.input(0)
    flat, index, source = (call.emit(Reshape(), each, call.ints((-1,))) for each in (x, call.input(1), call.input(2)))
    rows = call.emit(ExpandDims(), index, call.ints(1))
    kind = "Add" if call.boolean("accumulate") else "Update"
    return call.emit(Reshape(), _placed(call, kind, flat, rows, source), call.emit(Shape(), x))


# ---- copies ----


@primitive("InplaceCopy", operators="BroadcastTo Cast", arguments="input src non_blocking")
def copy_over(call: Call) -> Value:
    return _like_first(call, call.input(1))


@primitive("InplaceFillScalar", "InplaceFillTensor", operators="Fill", arguments="input value")
@primitive("InplaceZero", operators="Fill", arguments="input")
def fill_over(call: Call) -> Value:
    x = call.input(0)
    value = call.input(1) if len(call.entries) > 1 else call.like(0, x)
    return call.emit(Fill(), call.cast(value, call.dtype(x)), call.emit(Shape(), x))


def _like_first(call: Call, source: Value) -> Value:
    """In the shape and type of the first operand."""
    x = call.input(0)
    source = call.cast(source, call.dtype(x))
    if call.shape(x) is not None and call.shape(source) == call.shape(x):
        return source
    return call.emit(BroadcastTo(), source, call.emit(Shape(), x))


@primitive("TensorCopySlices", operators="ScatterNdUpdate Fill", arguments="x value begin end strides")
def copy_slice(call: Call) -> Value:
    """The box from begin to end, whose trailing dimensions are whole, gets the values."""
    x = call.input(0)
    shape = call.require_shape(x, "a slice")
    ends = [call.flat_integers(call.constant(index, "the slice")) for index in (2, 3, 4)]
    ranges = [range(shape[axis])[slice(*numbers)] for axis, numbers in enumerate(zip(*ends, strict=True))]
    sizes = tuple(len(each) for each in ranges)
    places = np.stack(np.meshgrid(*ranges, indexing="ij"), -1).reshape(-1, len(ranges))
    values = call.emit(
        BroadcastTo(), call.cast(call.input(1), call.dtype(x)), call.ints((*sizes, *shape[len(sizes) :]))
    )
    flat = call.emit(Reshape(), values, call.ints((len(places), *shape[len(sizes) :])))
    return call.emit(ops.ScatterNdUpdate(), x, call.ints(places), flat)


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
    """The elements where the mask is true, one after the other."""
    x, mask = _same_shape(call, call.input(0), call.input(1))
    return call.emit(ops.GatherNd(), x, call.emit(Where(), mask))


@primitive("MaskedScatter", "InplaceMaskedScatter", operators="CumSum Gather Where", arguments="input mask source")
def scattered(call: Call) -> Value:
    """The elements of the source, one after the other, where the mask is true."""
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


_SEGMENTS = {"UnsortedSegmentMax": "max", "UnsortedSegmentMin": "min", "UnsortedSegmentProd": "mul"}


@primitive(*_SEGMENTS, operators="ScatterReduceNd Fill Where Less", arguments="x segment_ids num_segments")
def segments(call: Call) -> Value:
    x, ids = call.input(0), call.cast(call.input(1), DataType.INT32)
    count, kind = int(call.constant(2, "the number of segments").reshape(-1)[0]), call.dtype(x)
    if kind is DataType.UNKNOWN:
        raise call.block(f"the element type of '{x.name}' is not known")
    row = call.require_shape(x, "segments")[call.rank(call.input(1)) :]
    return reduced_segments(call, _SEGMENTS[call.operator], x, ids, count, row, numpy_type(kind))


@primitive("EqualCount", operators="Equal Cast ReduceFusion", arguments="x y")
def count_equal(call: Call) -> Value:
    same = call.cast(call.emit(Equal(), call.input(0), call.input(1)), DataType.INT32)
    counted = reduced(call, ReduceMode.ReduceSum, same, None, False)
    return call.emit(Reshape(), call.cast(counted, call.declared_type), call.ints((1,)))


# ---- sparse tensors, whose places and elements stand apart ----


@primitive("SparseToDense", operators="SparseToDense", arguments="indices values sparse_shape")
def dense(call: Call) -> Value:
    """Zeros elsewhere; ours has a fourth operand for that."""
    if len(call.entries) == 4:
        return call.emit(SparseToDense(), *(call.input(index) for index in range(4)))
    return _dense(call, call.index_list(2))


def _dense(call: Call, shape: Value) -> Value:
    values = call.input(1)
    places = call.cast(call.input(0), DataType.INT32)
    return call.emit(SparseToDense(), places, shape, values, call.like(0, values))


@primitive(
    "SparseTensorDenseMatmul", operators="SparseToDense MatMulFusion", arguments="indices values sparse_shape dense"
)
def sparse_product(call: Call) -> Value:
    op = MatMulFusion(
        transpose_a=call.boolean("adjoint_st", False, "adjoint_a"),
        transpose_b=call.boolean("adjoint_dt", False, "adjoint_b"),
    )
    return call.emit(op, _dense(call, call.index_list(2)), call.input(3))


@primitive("SparseTensorDenseAdd", operators="SparseToDense AddFusion", arguments="x1_indices x1_values x1_shape x2")
def sparse_sum(call: Call) -> Value:
    return call.emit(AddFusion(), _dense(call, call.emit(Shape(), call.input(3))), call.input(3))

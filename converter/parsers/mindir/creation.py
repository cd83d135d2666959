"""Creates tensors: filled tensors, ranges, window functions, grids; and repeats or pads tensors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.arithmetic import FloorDiv, FloorMod, PowFusion
from mslite.converter.mindir.ops.assembly import BroadcastTo, PadFusion, Stack, TileFusion
from mslite.converter.mindir.ops.creation import Fill, LinSpace, Range
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Transpose

from .call import Call
from .entries import Entry, Immediate, Sequence, flattened
from .registry import primitive


def _wanted(call: Call, default: DataType = DataType.FLOAT32) -> DataType:
    return default if call.declared_type is DataType.UNKNOWN else call.declared_type


def _filled(call: Call, value: Value, size: int) -> Value:
    """Returns a tensor filled with `value`; its shape is operand `size`."""
    return call.emit(Fill(), call.cast(value, _wanted(call)), call.index_list(size))


@primitive("FillScalar", "FillTensor", operators="Fill", arguments="size fill_value dtype")
def filled(call: Call) -> Value:
    return _filled(call, call.input(1), 0)


@primitive("NewFull", operators="Fill", arguments="input size fill_value dtype")
def new_filled(call: Call) -> Value:
    return _filled(call, call.input(2), 1)


@primitive("FullLike", operators="Fill Shape", arguments="input fill_value dtype")
def filled_like(call: Call) -> Value:
    return call.emit(Fill(), call.cast(call.input(1), _wanted(call)), call.emit(Shape(), call.input(0)))


@primitive("Ones", "Zeros", "Empty", operators="Fill", arguments="shape dtype")
@primitive("NewOnes", "NewZeros", "NewEmpty", operators="Fill", arguments="input size dtype")
def constant(call: Call) -> Value:
    """Converts Ones, Zeros and Empty. Empty tensors are filled with zeros."""
    value = call.const(int(call.operator.endswith("Ones")), numpy_type(_wanted(call)))
    return _filled(call, value, int(call.operator.startswith("New")))


@primitive("EmptyLike", operators="Fill Shape", arguments="input dtype device pin_memory")
def empty_like(call: Call) -> Value:
    return call.emit(Fill(), call.const(0, numpy_type(_wanted(call))), call.emit(Shape(), call.input(0)))


@primitive("Eye", operators="", arguments="n m dtype")
def identity(call: Call) -> Value:
    rows, columns = call.integer("n", 0), call.integer("m", 0)
    if not (0 <= rows <= 1 << 13 and 0 <= columns <= 1 << 13):
        raise call.block(f"a matrix of {rows} x {columns} is unsupported")
    return call.const(np.eye(rows, columns), numpy_type(_wanted(call)))


@primitive("Arange", operators="Range", arguments="start end step dtype")
def steps(call: Call) -> Value:
    """Converts Arange: to a constant if all operands are constant, else to Range."""
    if all(isinstance(entry, Immediate) for entry in call.entries[:3]):
        numbers = [float(call.real(name, default)) for name, default in (("start", 0), ("end", 0), ("step", 1))]
        wanted = _wanted(call, DataType.INT64)
        if numbers[2] == 0 or (numbers[1] - numbers[0]) / numbers[2] > 1 << 24:
            raise call.block(f"{numbers} is not a valid [start, end, step]")
        return call.const(np.arange(*numbers).astype(numpy_type(wanted)))
    return call.emit(Range(), *(call.typed(index) for index in range(3)))


@primitive("LinSpaceExt", operators="LinSpace Cast", arguments="start end steps dtype")
def even_steps(call: Call) -> Value:
    count = call.integer("steps", 0)
    ends = [call.emit(Reshape(), call.cast(call.input(i), DataType.FLOAT32), call.ints(())) for i in (0, 1)]
    return call.cast(call.emit(LinSpace(), *ends, call.ints(count)), call.declared_type)


@primitive("LogSpace", operators="LinSpace PowFusion", arguments="start end")
def powers(call: Call) -> Value:
    """Converts LogSpace: base^x for evenly spaced x."""
    ends = [call.emit(Reshape(), call.cast(call.input(i), DataType.FLOAT32), call.ints(())) for i in (0, 1)]
    exponents = call.emit(LinSpace(), *ends, call.ints(call.integer("steps", 10)))
    base = call.const(call.real("base", 10.0), np.float32)
    return call.cast(call.emit(PowFusion(scale=1.0, shift=0.0), base, exponents), call.declared_type)


_WINDOWS: dict[str, Callable[[int], np.ndarray[tuple[int], np.dtype[np.float64]]]] = {
    "BartlettWindow": np.bartlett,
    "BlackmanWindow": np.blackman,
    "HannWindow": np.hanning,
}


def _cosine(count: int, alpha: float, beta: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return alpha - beta * np.cos(2 * np.pi * np.arange(count) / max(count - 1, 1))


@primitive(*_WINDOWS, "HammingWindow", operators="", arguments="window_length")
def window(call: Call) -> Value:
    """Converts window functions to constants. A periodic window is the symmetric window of length + 1 without its
    end."""
    length = int(call.constant(0, "the length of the window").reshape(-1)[0])
    if not 0 <= length <= 1 << 24:
        raise call.block(f"a window of {length} elements is unsupported")
    if length < 2:
        return call.const(np.ones(length), numpy_type(_wanted(call)))
    longer = length + int(call.boolean("periodic", True))
    if call.operator in _WINDOWS:
        made = _WINDOWS[call.operator](longer)
    else:
        made = _cosine(longer, call.real("alpha", 0.54), call.real("beta", 0.46))
    return call.const(made[:length], numpy_type(_wanted(call)))


# ---- repetitions ----


@primitive("Meshgrid", operators="Reshape BroadcastTo", arguments="inputs indexing")
def grid(call: Call) -> Entry:
    """Converts Meshgrid: each vector has its own dimension; `xy` exchanges the first two dimensions."""
    indexing = call.attribute("indexing")
    exchanged = indexing in ("xy", 1)
    values = [call.value(entry) for entry in flattened(call.entries[:1])]
    sizes = [int(np.prod(call.require_shape(value, "a grid"))) for value in values]
    order = list(range(len(values)))
    if exchanged and len(values) > 1:
        order[0], order[1] = 1, 0
    whole = [0] * len(values)
    for place, size in zip(order, sizes, strict=True):
        whole[place] = size
    made = []
    for value, place in zip(values, order, strict=True):
        line = [1] * len(values)
        line[place] = -1
        made.append(call.emit(BroadcastTo(), call.emit(Reshape(), value, call.ints(line)), call.ints(whole)))
    return Sequence(tuple(made))


@primitive("ExpandAs", operators="BroadcastTo Shape", arguments="input other")
def expanded_as(call: Call) -> Value:
    return call.emit(BroadcastTo(), call.input(0), call.emit(Shape(), call.input(1)))


@primitive("Repeat", operators="TileFusion Reshape", arguments="input repeats")
def repeated(call: Call) -> Value:
    """Converts Repeat: tiles the tensor; if `repeats` is longer than the rank, dimensions are added in front."""
    x, counts = call.input(0), call.integers("repeats") or ()
    missing = len(counts) - call.rank(x)
    if missing > 0:
        x = call.emit(Reshape(), x, call.ints((1,) * missing + call.require_shape(x, "a repetition")))
    return call.emit(TileFusion(), x, call.ints((1,) * max(-missing, 0) + counts))


@primitive(
    "RepeatInterleaveInt",
    "RepeatInterleaveTensor",
    operators="Gather Reshape",
    arguments="input repeats dim output_size",
)
def interleaved(call: Call) -> Value:
    """Converts RepeatInterleave: repeats each element along a dimension."""
    x, dim = call.input(0), call.integers("dim")
    if dim is None:
        size = int(np.prod(call.require_shape(x, "a repetition")))
        x, axis = call.emit(Reshape(), x, call.ints((-1,))), 0
    else:
        axis = call.axis(x, dim[0], "dim")
        size = call.size(x, axis, "a repetition")
    counts = call.integers("repeats")
    if counts is None:
        raise call.block("the number of repetitions is computed at run time", "Use constant repetitions", "repeats")
    counts = counts * size if len(counts) == 1 else counts
    if len(counts) != size or min(counts, default=0) < 0 or sum(counts) > 1 << 24:
        raise call.block(f"{len(counts)} repetitions do not match {size} elements", attribute="repeats")
    return call.emit(Gather(), x, call.ints(np.repeat(np.arange(size), counts)), call.ints(axis))


@primitive("Padding", operators="PadFusion", arguments="x")
def padded(call: Call) -> Value:
    """Converts Padding: appends zeros to the last dimension, which has one element."""
    x = call.input(0)
    borders = [(0, 0)] * (call.rank(x) - 1) + [(0, call.integer("pad_dim_size", 8) - 1)]
    return call.emit(PadFusion(), x, call.ints(borders))


@primitive("ChannelShuffle", operators="Reshape Transpose", arguments="input group")
def shuffled(call: Call) -> Value:
    """Converts ChannelShuffle: transposes the channels [group, channels / group]."""
    x, group = call.input(0), call.integer("group", 1)
    shape = call.require_shape(x, "a shuffle")
    parts = call.emit(Reshape(), x, call.ints((shape[0], group, shape[1] // group, *shape[2:])))
    turned = call.emit(Transpose(), parts, call.ints((0, 2, 1, *range(3, len(shape) + 1))))
    return call.emit(Reshape(), turned, call.ints(shape))


@primitive("AffineGrid", operators="MatMulFusion", arguments="theta output_size align_corners")
def affine_grid(call: Call) -> Value:
    """Converts AffineGrid: pixel coordinates in [-1, 1], transformed by the matrices theta. With align_corners, -1 and
    1 are the centers of the outer pixels, else their edges."""
    sizes = call.integers("output_size")
    if sizes is None:
        raise call.block("its size is computed at run time", "Use a constant output_size")
    spatial = sizes[2:]
    if call.boolean("align_corners"):
        lines = [np.linspace(-1, 1, size) if size > 1 else np.zeros(1) for size in spatial]
    else:
        lines = [(2 * np.arange(size) + 1) / size - 1 for size in spatial]
    places = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(spatial)], -1)
    flat = call.const(np.broadcast_to(places.reshape(1, -1, len(spatial) + 1), (sizes[0], places[..., 0].size, len(spatial) + 1)), np.float32)  # fmt: skip
    moved = call.emit(MatMulFusion(transpose_b=True), flat, call.input(0))
    return call.emit(Reshape(), moved, call.ints((sizes[0], *spatial, len(spatial))))


@primitive("UnravelIndex", operators="FloorMod FloorDiv Stack", arguments="indices dims")
def unravelled(call: Call) -> Value:
    """Converts UnravelIndex: flat indices to the index in each dimension; the result is [dimensions, indices]."""
    dims = call.flat_integers(call.constant(1, "the shape"))
    rest, rows = call.input(0), []
    for size in reversed(dims):
        rows.append(call.emit(FloorMod(), rest, call.like(size, call.input(0))))
        rest = call.emit(FloorDiv(), rest, call.like(size, call.input(0)))
    return call.emit(Stack(axis=0), *reversed(rows))

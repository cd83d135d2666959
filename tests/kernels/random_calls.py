"""Random calls of operators: ranks 0 to 5, sizes 0 and 1, broadcasting, negative axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import (
    OPERATORS,
    Operator,
    activation,
    assembly,
    indexing,
    matmul,
    normalization,
    rearrange,
    reduction,
)
from mslite.converter.mindir.ops.enums import ActivationType, PaddingMode, ReduceMode
from mslite.converter.mindir.reference import Array

Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True)
class Call:
    """A call of an operator; `constants`: inputs that are known when a kernel is prepared."""

    op: Operator
    inputs: tuple[Array, ...] = field(repr=False)
    constants: tuple[int, ...] = ()
    tolerance: float = 1e-5

    def __repr__(self) -> str:
        shapes = ", ".join(f"{array.dtype}{list(array.shape)}" for array in self.inputs)
        small = [array.tolist() for array in self.inputs[1:] if array.dtype.kind == "i" and array.size < 16]
        return f"{self.op}({shapes}) {small}"


def shapes(
    least_rank: int = 0, most_rank: int = 5, least: int = 0, most: int = 6
) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.integers(least, most), min_size=least_rank, max_size=most_rank).map(tuple)


def normal(draw: Draw, shape: tuple[int, ...], low: float = -2.0, high: float = 2.0) -> Array:
    """float32 values in the range, from a random seed."""
    return np.random.default_rng(draw(st.integers(0, 99))).uniform(low, high, shape).astype(np.float32)


def typed(draw: Draw, shape: tuple[int, ...], kinds: tuple[str, ...]) -> Array:
    """Values of one of the data types; integers are small."""
    dtype = draw(st.sampled_from(kinds))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    if np.dtype(dtype).kind == "f":
        return generator.uniform(-2, 2, shape).astype(dtype)
    return generator.integers(0 if dtype == "bool" else -9, 2 if dtype == "bool" else 10, shape).astype(dtype)


def axes_of(draw: Draw, rank: int, least: int = 0) -> tuple[int, ...]:
    """Different axes, counted from the front or the back."""
    chosen = draw(st.lists(st.integers(0, rank - 1), unique=True, min_size=least, max_size=rank)) if rank else []
    return tuple(axis - rank if draw(st.booleans()) else axis for axis in chosen)


def axis_of(draw: Draw, rank: int) -> int:
    return int(draw(st.integers(-rank, rank - 1)))


def broadcast_pair(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast: some sizes are 1, some leading dimensions are missing."""
    whole = draw(shapes())
    pair = []
    for _ in range(2):
        cut = draw(st.integers(0, len(whole)))
        pair.append(tuple(1 if draw(st.integers(0, 3)) == 0 else size for size in whole[cut:]))
    return pair[0], pair[1]


def ints(*numbers: int, dtype: str = "int32") -> Array:
    return np.array(numbers, dtype)


# ---- element-wise ----

_DOMAINS = {"Log": (0.1, 3), "Sqrt": (0, 3), "Rsqrt": (0.1, 3), "Acos": (-1, 1), "Asin": (-1, 1), "Atanh": (-0.9, 0.9)}
_DOMAINS |= {"Acosh": (1, 3), "Log1p": (-0.5, 3), "Reciprocal": (0.5, 3), "Tan": (-1, 1)}
UNARY = (
    *("Abs", "Ceil", "Cos", "Erf", "Floor", "Log", "Log1p", "Neg", "Reciprocal", "Round", "Rsqrt", "Sin", "Sqrt"),
    *("Square", "Sinh", "Cosh", "Tan", "Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh", "Sign", "Mish"),
)
FLOAT_BINARY = ("AddFusion", "SubFusion", "MulFusion", "Maximum", "Minimum", "SquaredDifference", "FloorMod", "Atan2")
COMPARISONS = ("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual")


@st.composite
def unary(draw: Draw) -> Call:
    name = draw(st.sampled_from(UNARY))
    return Call(OPERATORS[name](), (normal(draw, draw(shapes()), *_DOMAINS.get(name, (-2, 2))),))


@st.composite
def activations(draw: Draw) -> Call:
    known = [kind for kind in ActivationType if kind.name in _ACTIVATIONS]
    op = activation.Activation(activation_type=draw(st.sampled_from(known)), alpha=0.3, min_val=-0.5, max_val=0.75)
    return Call(op, (normal(draw, draw(shapes()), -4, 4),))


_ACTIVATIONS = {
    "RELU",
    "RELU6",
    "SIGMOID",
    "TANH",
    "ELU",
    "LEAKY_RELU",
    "HSWISH",
    "HSIGMOID",
    "SOFTPLUS",
    "SWISH",
    "GELU",
}


@st.composite
def binary(draw: Draw) -> Call:
    a, b = broadcast_pair(draw)
    kinds = ("float32", "int32", "int64")
    name = draw(st.sampled_from(FLOAT_BINARY + COMPARISONS))
    first = typed(draw, a, ("float32",) if name == "Atan2" else kinds)
    second = typed(draw, b, (str(first.dtype),))
    if name == "FloorMod":
        second = np.where(np.abs(second) < 0.25, second.dtype.type(1), second)
    return Call(OPERATORS[name](), (first, second))


@st.composite
def where(draw: Draw) -> Call:
    a, b = broadcast_pair(draw)
    condition = typed(draw, draw(st.sampled_from((a, b, ()))), ("bool",))
    first = typed(draw, a, ("float32", "int32", "int64"))
    return Call(OPERATORS["Where"](), (condition, first, typed(draw, b, (str(first.dtype),))))


# ---- along axes ----


@st.composite
def reductions(draw: Draw) -> Call:
    mode = draw(st.sampled_from([ReduceMode.ReduceSum, ReduceMode.ReduceProd, ReduceMode.ReduceMean, *_REST]))
    least = 0 if mode in (ReduceMode.ReduceSum, ReduceMode.ReduceProd) else 1
    x = normal(draw, draw(shapes(1, 5, least, 5)))
    op = reduction.ReduceFusion(keep_dims=draw(st.booleans()), mode=mode, coeff=1.0)
    axes = axes_of(draw, x.ndim)
    return Call(op, (x, ints(*axes)), (1,)) if axes else Call(op, (x,))


_REST = (
    ReduceMode.ReduceMax,
    ReduceMode.ReduceMin,
    ReduceMode.ReduceSumSquare,
    ReduceMode.ReduceASum,
    ReduceMode.ReduceL2,
)


@st.composite
def along_one_axis(draw: Draw) -> Call:
    x = normal(draw, draw(shapes(1, 5, 1, 7)))
    axis = axis_of(draw, x.ndim)
    kind = draw(st.sampled_from(("Softmax", "LogSoftmax", "ArgMaxFusion", "ArgMinFusion", "CumSum", "TopKFusion")))
    if kind == "Softmax":
        return Call(activation.Softmax(axis=(axis,)), (x,))
    if kind == "LogSoftmax":
        return Call(activation.LogSoftmax(axis=axis), (x,))
    if kind == "CumSum":
        op = reduction.CumSum(exclusive=draw(st.booleans()), reverse=draw(st.booleans()))
        return Call(op, (x, ints(axis)[0].reshape(())), (1,))
    if kind == "TopKFusion":
        count = draw(st.integers(1, x.shape[axis]))
        return Call(reduction.TopKFusion(axis=axis, largest=draw(st.integers(-1, 1))), (x, ints(count)), (1,))
    op = OPERATORS[kind](axis=axis, top_k=1, keep_dims=draw(st.booleans()))
    return Call(op, (x,))


@st.composite
def normalizations(draw: Draw) -> Call:
    x = normal(draw, draw(shapes(2, 5, 1, 6)))
    kind = draw(st.sampled_from(("LayerNormFusion", "L2NormalizeFusion", "RmsNorm")))
    if kind == "L2NormalizeFusion":
        return Call(normalization.L2NormalizeFusion(axis=axes_of(draw, x.ndim, 1), epsilon=1e-4), (x,))
    begin = draw(st.integers(1, x.ndim - 1)) - (x.ndim if draw(st.booleans()) else 0)
    if kind == "RmsNorm":
        return Call(normalization.RmsNorm(axis=begin, epsilon=1e-3), (x, normal(draw, x.shape[begin:])), tolerance=3e-5)
    parameters = tuple(normal(draw, x.shape[begin:]) for _ in range(2))
    op = normalization.LayerNormFusion(
        begin_norm_axis=begin, begin_params_axis=begin, epsilon=1e-2, elementwise_affine=True
    )
    return Call(op, (x, *parameters), tolerance=3e-5)


# ---- moving elements ----


@st.composite
def joins(draw: Draw) -> Call:
    base = draw(shapes(1, 5, 0, 4))
    axis = axis_of(draw, len(base))
    dtype = draw(st.sampled_from(("float32", "int64", "int8")))
    count = draw(st.integers(1, 4))
    if draw(st.booleans()):
        return Call(
            assembly.Stack(axis=draw(st.integers(-len(base) - 1, len(base)))),
            tuple(typed(draw, base, (dtype,)) for _ in range(count)),
        )
    parts = []
    for _ in range(count):
        shape = list(base)
        shape[axis] = draw(st.integers(0, 4))
        parts.append(typed(draw, tuple(shape), (dtype,)))
    return Call(assembly.Concat(axis=axis), tuple(parts))


@st.composite
def cuts(draw: Draw) -> Call:
    shape = draw(shapes(1, 5, 1, 6))
    axis = axis_of(draw, len(shape))
    x = typed(draw, shape, ("float32", "int32"))
    kind = draw(st.sampled_from(("Split", "Unstack", "SliceFusion", "StridedSlice")))
    if kind == "Unstack":
        return Call(assembly.Unstack(axis=axis), (x,))
    if kind == "Split":
        points = sorted(draw(st.lists(st.integers(0, shape[axis]), max_size=3)))
        sizes = np.diff([0, *points, shape[axis]])
        op = assembly.Split(output_num=len(sizes), size_splits=tuple(int(size) for size in sizes), axis=axis)
        return Call(op, (x,))
    begin = [draw(st.integers(0, size - 1)) for size in shape]
    if kind == "SliceFusion":
        size = [-1 if draw(st.booleans()) else draw(st.integers(0, s - b)) for s, b in zip(shape, begin, strict=True)]
        return Call(assembly.SliceFusion(axes=tuple(range(len(shape)))), (x, ints(*begin), ints(*size)), (1, 2))
    bounds = [(draw(st.integers(-s - 1, s + 1)), draw(st.integers(-s - 1, s + 1))) for s in shape]
    steps = [draw(st.sampled_from((1, 2, 3, -1, -2))) for _ in shape]
    masks = {f"{name}_mask": draw(st.integers(0, 2 ** len(shape) - 1)) for name in ("begin", "end")}
    operands = (ints(*(b for b, _ in bounds)), ints(*(e for _, e in bounds)), ints(*steps))
    return Call(assembly.StridedSlice(**masks), (x, *operands), (1, 2, 3))


@st.composite
def moves(draw: Draw) -> Call:
    shape = draw(shapes(1, 5, 0, 5))
    x = typed(draw, shape, ("float32", "int8", "int64"))
    kind = draw(st.sampled_from(("Transpose", "TileFusion", "PadFusion", "ReverseV2", "BroadcastTo", "ExpandDims")))
    if kind == "Transpose":
        return Call(rearrange.Transpose(), (x, ints(*draw(st.permutations(range(len(shape)))))), (1,))
    if kind == "TileFusion":
        return Call(assembly.TileFusion(), (x, ints(*(draw(st.integers(0, 3)) for _ in shape))), (1,))
    if kind == "ReverseV2":
        return Call(rearrange.ReverseV2(axis=axes_of(draw, len(shape), 1)), (normal(draw, shape),))
    if kind == "ExpandDims":
        axis = draw(st.integers(-len(shape) - 1, len(shape)))
        return Call(rearrange.ExpandDims(), (normal(draw, shape), ints(axis)), (1,))
    if kind == "BroadcastTo":
        small = tuple(1 if draw(st.booleans()) else size for size in shape)
        return Call(assembly.BroadcastTo(), (normal(draw, small), ints(*shape)), (1,))
    mode = draw(st.sampled_from((PaddingMode.CONSTANT, PaddingMode.REFLECT, PaddingMode.SYMMETRIC)))
    room = {PaddingMode.CONSTANT: 3, PaddingMode.REFLECT: -1, PaddingMode.SYMMETRIC: 0}[mode]
    limits = [3 if mode is PaddingMode.CONSTANT else max(0, size + room) for size in shape]
    borders = [[draw(st.integers(0, limit)) for _ in range(2)] for limit in limits]
    op = assembly.PadFusion(padding_mode=mode, constant_value=0.5)
    return Call(op, (normal(draw, shape), np.array(borders, np.int32)), (1,))


@st.composite
def lookups(draw: Draw) -> Call:
    shape = draw(shapes(1, 4, 1, 6))
    axis = axis_of(draw, len(shape))
    x = typed(draw, shape, ("float32", "int32"))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    kind = draw(st.sampled_from(("Gather", "GatherNd", "GatherD", "ScatterNdUpdate", "Tril", "Triu")))
    if kind in ("Tril", "Triu"):
        k = np.array(draw(st.integers(-4, 4)), np.int64)
        return Call(OPERATORS[kind](), (normal(draw, draw(shapes(2, 4, 0, 5))), k), (1,))
    where_shape = draw(shapes(0, 3, 0, 4))
    if kind == "Gather":
        indices = generator.integers(0, shape[axis], where_shape).astype(np.int32)
        return Call(indexing.Gather(), (x, indices, ints(axis)[0].reshape(())), (2,))
    if kind == "GatherD":
        index_shape = tuple(draw(st.integers(0, size)) for size in shape)
        indices = generator.integers(0, shape[axis], index_shape).astype(np.int64)
        return Call(indexing.GatherD(), (normal(draw, shape), ints(axis)[0].reshape(()), indices), (1,))
    depth = draw(st.integers(1, len(shape)))
    rows = [generator.integers(0, size, where_shape) for size in shape[:depth]]
    indices = np.stack(rows, -1).astype(np.int32)
    if kind == "GatherNd":
        return Call(indexing.GatherNd(), (x, indices))
    flat = indices.reshape(-1, depth)
    if len(np.unique(flat, axis=0)) < len(flat):  # the order of writes to one position is undefined
        flat = np.unique(flat, axis=0).astype(np.int32)
        indices = flat
    updates = normal(draw, indices.shape[:-1] + shape[depth:])
    return Call(indexing.ScatterNdUpdate(), (normal(draw, shape), indices, updates))


@st.composite
def products(draw: Draw) -> Call:
    batch_a, batch_b = broadcast_pair(draw)
    batch_a, batch_b = batch_a[-3:], batch_b[-3:]
    m, k, n = (draw(st.integers(low, 20)) for low in (0, 1, 0))
    turn_a, turn_b = draw(st.booleans()), draw(st.booleans())
    a = normal(draw, batch_a + ((k, m) if turn_a else (m, k)))
    b = normal(draw, batch_b + ((n, k) if turn_b else (k, n)))
    op = matmul.MatMulFusion(transpose_a=turn_a, transpose_b=turn_b)
    if draw(st.booleans()):
        return Call(op, (a, b, normal(draw, (n,))), draw(st.sampled_from(((), (1, 2)))), 2e-5)
    return Call(op, (a, b), draw(st.sampled_from(((), (1,)))), 2e-5)

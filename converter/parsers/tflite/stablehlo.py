"""StableHLO operators in TensorFlow Lite files that correspond to other operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import arithmetic, comparison, unary
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.assembly import BroadcastTo, Concat, PadFusion, SliceFusion, StridedSlice
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.indexing import DynamicUpdateSlice
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose

from .call import Call
from .matrices import TO_THE_END, spread
from .registry import tflite_operator

_UNARY = {
    "STABLEHLO_ABS": unary.Abs(),
    "STABLEHLO_COSINE": unary.Cos(),
    "STABLEHLO_EXPONENTIAL": unary.ExpFusion(),
    "STABLEHLO_FLOOR": unary.Floor(),
    "STABLEHLO_LOG": unary.Log(),
    "STABLEHLO_LOGISTIC": Activation(activation_type=ActivationType.SIGMOID),
    "STABLEHLO_NEGATE": unary.Neg(),
    "STABLEHLO_RSQRT": unary.Rsqrt(),
    "STABLEHLO_TANH": Activation(activation_type=ActivationType.TANH),
}
_BINARY = {
    "STABLEHLO_ADD": arithmetic.AddFusion(),
    "STABLEHLO_DIVIDE": arithmetic.DivFusion(),
    "STABLEHLO_MAXIMUM": arithmetic.Maximum(),
    "STABLEHLO_MINIMUM": arithmetic.Minimum(),
    "STABLEHLO_MULTIPLY": arithmetic.MulFusion(),
    "STABLEHLO_POWER": arithmetic.PowFusion(scale=1.0, shift=0.0),
    "STABLEHLO_SHIFT_LEFT": arithmetic.ShiftLeft(),
    "STABLEHLO_SUBTRACT": arithmetic.SubFusion(),
}
_BITS = {
    "STABLEHLO_AND": (comparison.LogicalAnd(), arithmetic.BitwiseAnd()),
    "STABLEHLO_OR": (comparison.LogicalOr(), arithmetic.BitwiseOr()),
}
_COMPARISONS = (
    comparison.Equal(),
    comparison.NotEqual(),
    comparison.GreaterEqual(),
    comparison.Greater(),
    comparison.LessEqual(),
    comparison.Less(),
)


@tflite_operator(*_UNARY)
def one_operand(call: Call) -> Value:
    return call.emit(_UNARY[call.node.name], call.input(0))


@tflite_operator(*_BINARY)
def two_operands(call: Call) -> Value:
    return call.emit(_BINARY[call.node.name], call.weight(0), call.weight(1))


@tflite_operator("STABLEHLO_CBRT")
def cube_root(call: Call) -> Value:
    """Converts cbrt to sign(x) |x|^(1/3)."""
    x = call.input(0)
    power = arithmetic.PowFusion(scale=1.0, shift=0.0)
    size = call.emit(power, call.emit(unary.Abs(), x), call.const(1 / 3, np.float32))
    return call.emit(arithmetic.MulFusion(), call.emit(unary.Sign(), x), size)


@tflite_operator("STABLEHLO_REMAINDER")
def remainder(call: Call) -> Value:
    """Converts remainder, which has the sign of the dividend."""
    a, b = call.input(0), call.input(1)
    rest = call.emit(arithmetic.FloorMod(), call.emit(unary.Abs(), a), call.emit(unary.Abs(), b))
    return call.emit(arithmetic.MulFusion(), call.emit(unary.Sign(), a), rest)


@tflite_operator(*_BITS)
def bits(call: Call) -> Value:
    logical, bitwise = _BITS[call.node.name]
    op = logical if call.output().dtype is DataType.BOOL else bitwise
    return call.emit(op, call.input(0), call.input(1))


@tflite_operator("STABLEHLO_COMPARE")
def compare(call: Call) -> Value:
    direction = call.options.integer("direction")
    if not 0 <= direction < len(_COMPARISONS):
        raise call.block(f"{direction} is unknown", attribute="comparison_direction")
    return call.emit(_COMPARISONS[direction], call.input(0), call.input(1))


@tflite_operator("STABLEHLO_SELECT")
def select(call: Call) -> Value:
    return call.emit(comparison.Where(), call.input(0), call.input(1), call.input(2))


@tflite_operator("STABLEHLO_CLAMP")
def clamp(call: Call) -> Value:
    """Converts clamp. Its inputs are min, x, max."""
    above = call.emit(arithmetic.Maximum(), call.input(1), call.input(0))
    return call.emit(arithmetic.Minimum(), above, call.input(2))


@tflite_operator("STABLEHLO_CONVERT")
def convert(call: Call) -> Value:
    return call.emit(unary.Cast(), call.input(0), call.ints(int(call.output().dtype)))


@tflite_operator("STABLEHLO_RESHAPE")
def reshape(call: Call) -> Value:
    return call.emit(Reshape(), call.input(0), call.ints(call.output().shape))


def _list(call: Call, name: str, count: int) -> tuple[int, ...]:
    values = call.options.integers(name) or ()
    if len(values) != count:
        raise call.block(f"{len(values)} numbers are given, not {count}", attribute=name)
    return values


@tflite_operator("STABLEHLO_TRANSPOSE")
def transpose(call: Call) -> Value:
    return call.emit(Transpose(), call.input(0), call.ints(_list(call, "permutation", call.rank(0))))


@tflite_operator("STABLEHLO_CONCATENATE")
def concatenate(call: Call) -> Value:
    axis = call.axis(call.options.integer("dimension"), call.rank(0))
    return call.emit(Concat(axis=axis), *call.inputs())


@tflite_operator("STABLEHLO_BROADCAST_IN_DIM")
def broadcast_in_dim(call: Call) -> Value:
    """Converts broadcast_in_dim: dimension i of x becomes dimension `dimensions[i]` of the result."""
    dimensions, target = _list(call, "dimensions", call.rank(0)), call.output().shape
    if list(dimensions) != sorted(set(dimensions)) or any(not 0 <= axis < len(target) for axis in dimensions):
        raise call.block(
            f"{dimensions} are not ascending dimensions of the shape {target}", attribute="broadcast_dimensions"
        )
    shape = [1] * len(target)
    for axis, size in zip(dimensions, call.shape(0), strict=True):
        shape[axis] = size
    return call.emit(BroadcastTo(), call.emit(Reshape(), call.input(0), call.ints(shape)), call.ints(target))


@tflite_operator("STABLEHLO_SLICE")
def cut(call: Call) -> Value:
    bounds = (_list(call, name, call.rank(0)) for name in ("start", "limit", "strides"))
    return call.emit(StridedSlice(), call.input(0), *(call.ints(values) for values in bounds))


def _starts(call: Call, first: int, sizes: Sequence[int]) -> Value:
    """Returns the scalar inputs `first` and following as one vector of starts, clamped so that a slice of these sizes
    is inside the tensor. Raises Blocked."""
    rank = call.rank(0)
    if call.input_count != first + rank:
        raise call.block(f"{call.input_count - first} start indices are given for {rank} dimensions")
    parts = [call.emit(Reshape(), call.int32(first + axis), call.ints((1,))) for axis in range(rank)]
    starts = parts[0] if rank == 1 else call.emit(Concat(axis=0), *parts)
    last = [size - box for size, box in zip(call.shape(0), sizes, strict=True)]
    above = call.emit(arithmetic.Maximum(), starts, call.ints((0,) * rank))
    result = call.emit(arithmetic.Minimum(), above, call.ints(last))
    result.dtype = DataType.INT32
    return result


@tflite_operator("STABLEHLO_DYNAMIC_SLICE")
def dynamic_slice(call: Call) -> Value:
    sizes = _list(call, "sizes", call.rank(0))
    op = SliceFusion(axes=tuple(range(call.rank(0))))
    return call.emit(op, call.input(0), _starts(call, 1, sizes), call.ints(sizes))


@tflite_operator("STABLEHLO_DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(call: Call) -> Value:
    return call.emit(DynamicUpdateSlice(), call.input(0), call.input(1), _starts(call, 2, call.shape(1)))


@tflite_operator("STABLEHLO_PAD")
def pad(call: Call) -> Value:
    """Converts pad, with inputs x and padding value: pads the edges (crops if negative), and between neighbors
    (dilation)."""
    rank = call.rank(0)
    low, high, interior = (_list(call, name, rank) for name in ("low", "high", "interior"))
    if min(interior, default=0) < 0:
        raise call.block(f"{interior} is negative", attribute="interior_padding")
    fill = call.input(1)
    x = spread(call, call.input(0), call.shape(0), [count + 1 for count in interior], fill)
    sizes = [size + max(size - 1, 0) * count for size, count in zip(call.shape(0), interior, strict=True)]
    if min((*low, *high), default=0) < 0:
        begin = [max(-before, 0) for before in low]
        end = [size + after if after < 0 else TO_THE_END for size, after in zip(sizes, high, strict=True)]
        x = call.emit(StridedSlice(), x, call.ints(begin), call.ints(end), call.ints((1,) * rank))
    pads = [(max(before, 0), max(after, 0)) for before, after in zip(low, high, strict=True)]
    if not any(map(any, pads)):
        return x
    if max(map(max, pads)) >= 1 << 31:
        raise call.block(f"a padding of {pads} is too large")
    return call.emit(PadFusion(), x, call.const(pads, np.int32), fill)


@tflite_operator("STABLEHLO_IOTA")
def iota(call: Call) -> Value:
    """Converts iota: the index along one dimension."""
    tensor = call.output()
    axis = call.axis(call.options.integer("dimension"), len(tensor.shape))
    if tensor.shape[axis] > 1 << 26:
        raise call.block(f"{tensor.shape[axis]} elements are too many")
    row = np.arange(tensor.shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(tensor.shape))])
    return call.emit(BroadcastTo(), call.const(row, numpy_type(tensor.dtype)), call.ints(tensor.shape))

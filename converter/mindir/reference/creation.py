"""References of operators that create tensors."""

from __future__ import annotations

import numpy as np

from ..graph import numpy_type
from ..ops import creation as ops
from ..ops.enums import DataType
from ._declare import Array, Inputs, case, float32, int32, int64, integers, normal, reference


@reference("ConstantOfShape")
def constant_of_shape(op: ops.ConstantOfShape, inputs: Inputs) -> list[Array]:
    """`value` in the given shape and type; negative values wrap in unsigned types."""
    assert inputs[0] is not None
    value, dtype = np.asarray(op.value[0] if op.value else 0.0), numpy_type(DataType(op.data_type))
    return [np.full(inputs[0], (value.astype(np.int64) if np.dtype(dtype).kind in "iu" else value).astype(dtype))]


@reference("Fill")
def fill(op: ops.Fill, inputs: Inputs) -> list[Array]:
    """The value in the given shape."""
    value, shape = inputs
    assert value is not None
    assert shape is not None
    return [np.full(shape, value, value.dtype)]


@reference("FillV2")
def fill_v2(op: ops.FillV2, inputs: Inputs) -> list[Array]:
    """Fill with swapped inputs."""
    shape, value = inputs
    assert value is not None
    assert shape is not None
    return [np.full(shape, value, value.dtype)]


@reference("OnesLike", "ZerosLike")
def constant_like(op: ops.OnesLike | ops.ZerosLike, inputs: Inputs) -> list[Array]:
    """Ones or zeros in the shape and type of x."""
    assert inputs[0] is not None
    return [np.full_like(inputs[0], op.name == "OnesLike")]


@reference("EyeLike")
def eye_like(op: ops.EyeLike, inputs: Inputs) -> list[Array]:
    """Ones on diagonal k."""
    assert inputs[0] is not None
    dtype = numpy_type(DataType(op.data_type)) if op.data_type else inputs[0].dtype
    rows, columns = inputs[0].shape
    return [np.eye(rows, columns, op.k, dtype)]


@reference("Range")
def arrange(op: ops.Range, inputs: Inputs) -> list[Array]:
    """start + i * delta below limit, from three inputs or attributes."""
    if len(inputs) < 3:
        dtype: np.dtype[np.generic] = np.dtype(np.float32 if op.d_type == DataType.FLOAT32 else np.int32)
        return [np.arange(op.start, op.limit, op.delta).astype(dtype)]
    assert inputs[0] is not None
    start, limit, delta = (x.item() for x in inputs if x is not None)
    return [np.arange(start, limit, delta).astype(inputs[0].dtype)]


@reference("LinSpace")
def lin_space(op: ops.LinSpace, inputs: Inputs) -> list[Array]:
    """Evenly spaced numbers, both ends included."""
    start, stop, count = (x.item() for x in inputs if x is not None)
    return [np.linspace(start, stop, count).astype(np.float32)]


@reference("RaggedRange")
def ragged_range(op: ops.RaggedRange, inputs: Inputs) -> list[Array]:
    """One range per row; splits are the positions of the rows in values."""
    rows = [np.arange(*row, dtype=np.int32) for row in zip(*np.broadcast_arrays(*inputs), strict=True)]  # type: ignore[arg-type]
    return [np.cumsum([0, *map(len, rows)]).astype(np.int32), np.concatenate(rows)]


def _mix(value: Array) -> Array:
    value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ value >> np.uint64(31))


_STEP = 0x9E3779B97F4A7C15


def _uniform(seed: int, counter: Array) -> Array:
    """Returns uniform numbers in [0, 1): 24 bits of a counter mixed with the seed."""
    mixed = _mix(np.array([seed % 2**64], np.uint64)) + (counter + np.uint64(1)) * np.uint64(_STEP)
    return np.asarray((_mix(mixed) >> np.uint64(40)).astype(np.float64) / 2**24)


def _normal(seed: int, count: int) -> Array:
    counter = np.arange(count, dtype=np.uint64) * np.uint64(2)
    length = np.sqrt(-2 * np.log(1 - _uniform(seed, counter)))
    return np.asarray(length * np.cos(2 * np.pi * _uniform(seed, counter + np.uint64(1))))


@reference("RandomNormal", "RandomStandardNormal", "UniformReal")
def random(op: ops.RandomNormal | ops.RandomStandardNormal | ops.UniformReal, inputs: Inputs) -> list[Array]:
    """Random numbers that depend on the seed and their position only."""
    assert inputs[0] is not None
    count = int(np.prod(inputs[0]))
    if isinstance(op, ops.RandomNormal):
        y = _normal(int(float32(op.seed).view(np.uint32)), count) * op.scale + op.mean
    elif isinstance(op, ops.UniformReal):
        y = _uniform(op.seed * _STEP + op.seed2, np.arange(count, dtype=np.uint64))
    else:
        y = _normal(op.seed * _STEP + op.seed2, count)
    return [y.reshape(inputs[0]).astype(np.float32)]


_SHAPE = int32([3, 1, 7])
for _type in (DataType.BOOL, DataType.INT8, DataType.UINT8, DataType.INT16, DataType.INT32, DataType.INT64,
              DataType.FLOAT16, DataType.FLOAT32, DataType.FLOAT64, DataType.UINT32, DataType.UINT64):  # fmt: skip
    case(_type.name, ops.ConstantOfShape(data_type=int(_type), value=(1.0,)), [_SHAPE], (0,))
for _type in (DataType.UINT8, DataType.UINT16, DataType.UINT32, DataType.UINT64):
    case(f"negative-{_type.name}", ops.ConstantOfShape(data_type=int(_type), value=(-2e9,)), [_SHAPE], (0,))
for _type in (DataType.FLOAT16, DataType.FLOAT32, DataType.FLOAT64):
    case(f"infinite-{_type.name}", ops.ConstantOfShape(data_type=int(_type), value=(-np.inf,)), [_SHAPE], (0,))
case("absent-value", ops.ConstantOfShape(data_type=int(DataType.FLOAT32)), [int64([70000])], (0,))
case("scalar", ops.ConstantOfShape(data_type=int(DataType.INT64), value=(-5.0,)), [np.zeros(0, np.int64)], (0,))
for _dtype in ("bool", "int8", "float16", "int32", "float32", "int64"):
    case(_dtype, ops.Fill(), [np.asarray(1, _dtype), _SHAPE], (0, 1))
    case(_dtype, ops.FillV2(), [_SHAPE, np.asarray(1, _dtype)], (0, 1))
    case(_dtype, ops.OnesLike(), [integers(0, 2, 3, 5).astype(_dtype)])
    case(_dtype, ops.ZerosLike(), [integers(0, 2, 3, 5).astype(_dtype)])
case("square", ops.EyeLike(), [normal(5, 5)])
case("int64-above", ops.EyeLike(data_type=int(DataType.INT64), k=2), [normal(3, 6)])
case("below", ops.EyeLike(k=-1), [integers(0, 9, 6, 3)])
case("attributes", ops.Range(start=2, limit=17, delta=4), [int32([0])])
case("attributes-float", ops.Range(d_type=int(DataType.FLOAT32), start=0, limit=5), [int32([0])])
for _dtype in ("int32", "int64", "float32", "float64"):
    case(_dtype, ops.Range(), [np.asarray(v, _dtype) for v in (3, 40, 5)], (0, 1, 2))
    case(f"{_dtype}-down", ops.Range(), [np.asarray(v, _dtype) for v in (9, -4, -2)], (0, 1, 2))
    case(f"{_dtype}-run-time", ops.Range(), [np.asarray(v, _dtype) for v in (1, 6, 1)])
case("nothing", ops.Range(), [int32(5), int32(5), int32(1)], (0, 1, 2))
case("eleven", ops.LinSpace(), [float32(-1), float32(2), int32(11)], (0, 1, 2))
case("one", ops.LinSpace(), [float32(-1), float32(2), int32(1)], (0, 1, 2))
case("rows", ops.RaggedRange(), [int32([0, 5, 8]), int32([4, 5, 2]), int32([1, 1, -3])])
case("shared-step", ops.RaggedRange(), [int32([0, 5]), int32([4, 9]), int32([2, 2])[:1].repeat(2)])
case("tensor", ops.RandomNormal(seed=7.0, mean=2.0, scale=3.0), [int32([3, 5000])], (0,))
case("tensor", ops.RandomStandardNormal(seed=3, seed2=4), [int32([3, 5])], (0,))
case("tensor", ops.UniformReal(seed=3, seed2=-4), [int32([3, 5000])], (0,))

"""Functions, reductions and moves of stored int8 on microcontrollers give the bits of the portable kernels."""

from __future__ import annotations

import numpy as np
import pytest

from mslite import _codegen, _native
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation, Elu, LeakyRelu
from mslite.converter.mindir.ops.assembly import Concat, Split, Stack, Unstack
from mslite.converter.mindir.ops.enums import ActivationType, DataType, ReduceMode
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Abs, ExpFusion, Log, Rsqrt
from mslite.converter.mindir.serialization import primitive_bytes

ISAS = ("micro", "dsp", "mve")
SIGNED, UNSIGNED = int(DataType.INT8), int(DataType.UINT8)
FUNCTIONS: tuple[Operator, ...] = (
    *(Activation(activation_type=kind) for kind in (
        ActivationType.SIGMOID, ActivationType.TANH, ActivationType.HSWISH, ActivationType.RELU6, ActivationType.GELU,
    )),
    LeakyRelu(negative_slope=0.2), Elu(alpha=1.0), Abs(), ExpFusion(base=-1.0, scale=1.0), Log(), Rsqrt(),
)  # fmt: skip


def stored(array: np.ndarray, record: tuple[float, int, int], rounds_even: bool = False) -> _native.TensorInfo:
    return _native.TensorInfo(SIGNED, list(array.shape), None, array, [record], rounds_even)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: f"{op.name}-{getattr(op, 'activation_type', '')}")
@pytest.mark.parametrize("rounds_even", [False, True])
def test_functions(op: Operator, isa: str, rounds_even: bool) -> None:
    x = np.arange(-128, 128).astype(np.int8)
    compared = 0
    for to in ((1 / 256, -128, SIGNED), (0.03, 7, UNSIGNED), (0.11, -3, SIGNED)):
        inputs = [stored(x, (0.05, -9, SIGNED))]
        outputs = [_native.TensorInfo(SIGNED, [256], None, None, [to], rounds_even)]
        call = (primitive_bytes(op), inputs, [False], outputs)
        if not _codegen.supports(f"unary_int8_{op.name}_{isa}", *call):
            continue
        compared += 1
        (got,) = _codegen.run_kernel(f"unary_int8_{op.name}_{isa}", *call)
        (wanted,) = _codegen.run_kernel(f"unary_int8_{op.name}_scalar", *call)
        assert np.array_equal(np.asarray(got), np.asarray(wanted))
        assert len(np.unique(np.asarray(got))) > 2
    assert compared > 0 or rounds_even


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize(
    ("mode", "kernel"),
    [
        (ReduceMode.ReduceMean, "sum"),
        (ReduceMode.ReduceSum, "sum"),
        (ReduceMode.ReduceMax, "maximum"),
        (ReduceMode.ReduceMin, "minimum"),
    ],
)
@pytest.mark.parametrize("axes", [[1, 2], [3], [1], [0, 1, 2, 3], [2, 3]])
@pytest.mark.parametrize("rounds_even", [False, True])
def test_reductions(mode: ReduceMode, kernel: str, axes: list[int], isa: str, rounds_even: bool) -> None:
    draw = np.random.default_rng([len(axes), axes[0], int(mode)])
    x = draw.integers(-128, 128, (2, 7, 5, 19)).astype(np.int8)
    kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    for source, to in (((0.05, -9, SIGNED), (0.02, 4, SIGNED)), ((0.05, 3, UNSIGNED), (0.05, 3, UNSIGNED))):
        inputs = [
            stored(x, source),
            _native.TensorInfo(int(DataType.INT32), [len(axes)], None, np.array(axes, np.int32)),
        ]
        outputs = [_native.TensorInfo(SIGNED, kept, None, None, [to], rounds_even)]
        call = (primitive_bytes(ReduceFusion(mode=mode, keep_dims=True)), inputs, [False, True], outputs)
        assert _codegen.supports(f"reduce_{kernel}_int8_{isa}", *call)
        (got,) = _codegen.run_kernel(f"reduce_{kernel}_int8_{isa}", *call)
        (wanted,) = _codegen.run_kernel("reduce_int8_scalar", *call)
        assert np.array_equal(np.asarray(got), np.asarray(wanted))


def test_reductions_of_dimensions_apart_are_left_to_the_portable_kernel() -> None:
    x = np.zeros((2, 7, 5, 19), np.int8)
    axes = _native.TensorInfo(int(DataType.INT32), [2], None, np.array([1, 3], np.int32))
    outputs = [_native.TensorInfo(SIGNED, [2, 1, 5, 1], None, None, [(0.05, 0, SIGNED)])]
    call = (
        primitive_bytes(ReduceFusion(mode=ReduceMode.ReduceMean, keep_dims=True)),
        [stored(x, (0.05, 0, SIGNED)), axes],
    )
    assert not _codegen.supports("reduce_sum_int8_dsp", *call, [False, True], outputs)


# ---- concat, stack, split, unstack


def _bytes_of(kernel: str, call: tuple[object, ...]) -> list[bytes]:
    return [np.asarray(output).tobytes() for output in _codegen.run_kernel(kernel, *call)]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat_of_stored_integers(axis: int, isa: str) -> None:
    """Of one record, and of several: signed, unsigned, finer and coarser than the output's."""
    draw = np.random.default_rng(abs(axis))
    same = (0.05, -9, SIGNED)
    for records, to in (
        ([same, same, same], same),
        ([(0.02, 3, SIGNED), same, (3.0, -128, SIGNED)], same),
        ([(0.02, 3, UNSIGNED), (0.05, 7, UNSIGNED), (1e-4, 100, UNSIGNED)], (0.05, 7, UNSIGNED)),
    ):
        shapes = [[3, 4, 5] for _ in records]
        for piece, shape in enumerate(shapes):
            shape[axis] += 2 * piece
        joined = [3, 4, 5]
        joined[axis] = sum(shape[axis] for shape in shapes)
        arrays = [draw.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
        inputs = [stored(array, record) for array, record in zip(arrays, records, strict=True)]
        outputs = [_native.TensorInfo(SIGNED, joined, None, None, [to], False)]
        call = (primitive_bytes(Concat(axis=axis)), inputs, [False] * 3, outputs)
        wanted = _bytes_of("concat_int8_scalar", call)
        assert _bytes_of(f"concat_rescaled_int8_{isa}", call) == wanted
        is_one = len(set(records)) == 1
        assert _codegen.supports(f"concat_int8_{isa}", *call) == is_one
        if is_one:
            assert _bytes_of(f"concat_int8_{isa}", call) == wanted


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_moves_of_floats(count: int, axis: int, isa: str) -> None:
    draw = np.random.default_rng([count, axis])
    whole = draw.standard_normal((2 * count, 3 * count, 4 * count)).astype(np.float32)
    pieces = np.split(whole, count, axis)
    slices = [np.ascontiguousarray(piece) for piece in np.moveaxis(whole, axis, 0)[:count]]
    stacked = np.stack(slices, axis)

    def infos(arrays: list[np.ndarray], filled: bool) -> list[_native.TensorInfo]:
        floats = int(DataType.FLOAT32)
        return [_native.TensorInfo(floats, list(one.shape), None, one if filled else None) for one in arrays]

    for name, op, given, wanted in (
        ("concat", Concat(axis=axis), pieces, [whole]),
        ("split", Split(axis=axis, output_num=count), [whole], pieces),
        ("stack", Stack(axis=axis), slices, [stacked]),
        ("unstack", Unstack(axis=axis), [stacked], slices),
    ):
        given = [np.ascontiguousarray(array) for array in given]
        call = (primitive_bytes(op), infos(given, True), [False] * len(given), infos(wanted, False))
        assert _bytes_of(f"{name}_{isa}", call) == [np.ascontiguousarray(array).tobytes() for array in wanted], name


def test_more_pieces_are_left_to_the_portable_kernel() -> None:
    one = _native.TensorInfo(int(DataType.FLOAT32), [1], None, np.zeros(1, np.float32))
    output = _native.TensorInfo(int(DataType.FLOAT32), [9])
    call = (primitive_bytes(Concat(axis=0)), [one] * 9, [False] * 9, [output])
    assert not _codegen.supports("concat_dsp", *call)
    assert _codegen.supports("concat_scalar", *call)

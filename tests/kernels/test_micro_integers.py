"""Functions and reductions of stored int8 on microcontrollers give the bits of the portable kernels."""

from __future__ import annotations

import numpy as np
import pytest

from mslite import _codegen, _native
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation, Elu, LeakyRelu
from mslite.converter.mindir.ops.enums import ActivationType, DataType, ReduceMode
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Abs, ExpFusion, Log, Rsqrt
from mslite.converter.mindir.wire import primitive_bytes

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

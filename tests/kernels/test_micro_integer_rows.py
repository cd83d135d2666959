"""Products of integers whose scales are known at run time, on microcontrollers, give the bits of the portable kernels."""

from __future__ import annotations

import numpy as np
import pytest

from mslite import _codegen, _native
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.convolution import ConvInteger
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.matmul import MatMulInteger
from mslite.converter.mindir.serialization import primitive_bytes

CHANCE = np.random.default_rng(11)
ISAS = ("micro", "dsp", "mve")


def plain(array: np.ndarray) -> _native.TensorInfo:
    return _native.TensorInfo(
        int(DataType.INT8 if array.dtype == np.int8 else DataType.FLOAT32), list(array.shape), None, array
    )


def integers(*shape: int) -> np.ndarray:
    return CHANCE.integers(-128, 128, shape).astype(np.int8)


def reals(*shape: int) -> np.ndarray:
    return CHANCE.uniform(0.001, 0.1, shape).astype(np.float32)


def compare(op: Operator, kernel: str, isa: str, operands: list[np.ndarray], y_shape: tuple[int, ...]) -> None:
    x, weight, x_zero, scale, bias, row_scale = operands
    arrays = [x, weight, x_zero, np.zeros(1, np.int8), scale, bias, row_scale]
    constant = [False, True, False, True, True, True, False]
    y = _native.TensorInfo(int(DataType.FLOAT32), list(y_shape))
    call = (primitive_bytes(op), [plain(array) for array in arrays], constant, [y])
    assert _codegen.supports(f"{kernel}_{isa}", *call)
    (got,) = _codegen.run_kernel(f"{kernel}_{isa}", *call)
    (wanted,) = _codegen.run_kernel(f"{kernel}_scalar", *call)
    assert np.array_equal(np.asarray(got), np.asarray(wanted))
    assert len(np.unique(np.asarray(got))) > 2


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("scales", [1, 0], ids=["one-scale", "scales"])
@pytest.mark.parametrize(
    ("rows", "terms", "columns", "zeros"), [(1, 37, 5, 1), (5, 16, 3, 5), (6, 3, 4, 3), (4, 50, 1, 1)]
)
def test_rows(isa: str, scales: int, rows: int, terms: int, columns: int, zeros: int) -> None:
    operands = [integers(rows, terms), integers(terms, columns), integers(zeros)]
    operands += [reals(scales or columns), reals(columns), reals(zeros)]
    if zeros not in (1, rows):
        operands[0] = operands[0].reshape(rows // zeros, zeros, terms)
    compare(MatMulInteger(), "matmul_integer", isa, operands, (*operands[0].shape[:-1], columns))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("scales", [1, 0], ids=["one-scale", "scales"])
@pytest.mark.parametrize(
    ("image", "channels", "kernel", "stride", "pads"),
    [
        ((1, 5, 6, 3), 4, (3, 3), (1, 1), (1, 1, 1, 1)),
        ((3, 4, 5, 16), 3, (1, 1), (1, 1), (0, 0, 0, 0)),
        ((2, 7, 5, 2), 5, (3, 2), (2, 2), (1, 0, 0, 1)),
    ],
)  # fmt: skip
def test_images(
    isa: str,
    scales: int,
    image: tuple[int, int, int, int],
    channels: int,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pads: tuple[int, int, int, int],
) -> None:
    op = ConvInteger(format=Format.NHWC, kernel_size=kernel, stride=stride, dilation=(1, 1), pad_list=pads)
    size = [(image[1 + i] + pads[2 * i] + pads[2 * i + 1] - kernel[i]) // stride[i] + 1 for i in range(2)]
    operands = [integers(*image), integers(channels, *kernel, image[3]), integers(image[0])]
    operands += [reals(scales or channels), reals(channels), reals(image[0])]
    compare(op, "conv_integer", isa, operands, (image[0], *size, channels))

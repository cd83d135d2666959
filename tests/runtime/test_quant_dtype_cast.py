"""QuantDTypeCast through a whole model: its operands carry quantization records, which kernel cases do not have."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Graph, Module, Node, Value, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import ROUND_HALF_TO_EVEN

Array = npt.NDArray[np.generic]
INTEGERS = (DataType.INT8, DataType.UINT8, DataType.INT16, DataType.INT32)


def round_half_away(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.sign(x) * np.floor(np.abs(x) + 0.5))


def limited(values: npt.NDArray[np.float64], dtype: DataType) -> Array:
    limits = np.iinfo(numpy_type(dtype))
    return np.clip(values, limits.min, limits.max).astype(numpy_type(dtype))


def fixed_point(q: int, scale: float) -> int:
    """q * scale in TensorFlow Lite's reference arithmetic: a 31-bit multiplier, two rounding steps."""
    mantissa, exponent = math.frexp(scale)
    multiplier = math.floor(mantissa * (1 << 31) + 0.5)
    if multiplier == 1 << 31:
        multiplier, exponent = multiplier // 2, exponent + 1
    left, right = max(exponent, 0), max(-exponent, 0)
    product = (q << left) * multiplier
    nudge = 1 << 30 if product >= 0 else 1 - (1 << 30)
    high = abs(product + nudge) // (1 << 31) * (1 if product + nudge >= 0 else -1)
    mask = (1 << right) - 1
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0))


def cast(
    folder: Path, x: Array, source: tuple[DataType, list[QuantParam]], target: tuple[DataType, list[QuantParam]]
) -> Array:
    """Runs a model of one QuantDTypeCast on `x`."""
    graph = Graph("main")
    a = Value("x", source[0], x.shape, quant=tuple(source[1]))
    b = Value("y", target[0], x.shape, quant=tuple(target[1]))
    graph.inputs, graph.outputs = [a], [b]
    graph.nodes = [Node(QuantDTypeCast(src_t=int(source[0]), dst_t=int(target[0])), "cast", (a,), (b,))]
    path = folder / "cast.ms"
    module_io.save(Module([graph]), path)
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(x)
    (y,) = model.predict(inputs)
    return np.asarray(y.get_data_to_numpy())


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quantize(dtype: DataType, tmp_path: Path) -> None:
    scale, zero = 0.03, 5
    x = np.concatenate([np.random.default_rng(1).normal(0, 3, 200), [0.015, -0.015, 0.045, 1e9, -1e9]]).astype(
        np.float32
    )
    got = cast(tmp_path, x, (DataType.FLOAT32, []), (dtype, [QuantParam(scale=scale, zeroPoint=zero)]))
    wanted = round_half_away((x / np.float32(scale)).astype(np.float64)) + zero
    np.testing.assert_array_equal(got, limited(wanted, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quantize_half_to_even(dtype: DataType, tmp_path: Path) -> None:
    """What lies half-way goes to the even number where the record says so: models from ONNX."""
    x = np.concatenate([np.arange(-40, 41) / 8, np.random.default_rng(4).normal(0, 9, 900), [1e9, -1e9, np.nan]])
    record = QuantParam(scale=0.25, zeroPoint=3, roundType=ROUND_HALF_TO_EVEN)
    got = cast(tmp_path, x.astype(np.float32), (DataType.FLOAT32, []), (dtype, [record]))
    wanted = np.nan_to_num(np.rint(x.astype(np.float32) / np.float32(0.25)).astype(np.float64)) + 3
    np.testing.assert_array_equal(got, limited(wanted, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_dequantize(dtype: DataType, tmp_path: Path) -> None:
    limits = np.iinfo(numpy_type(dtype))
    x = (
        np.random.default_rng(2)
        .integers(max(limits.min, -30000), min(limits.max, 30000), 100)
        .astype(numpy_type(dtype))
    )
    got = cast(tmp_path, x, (dtype, [QuantParam(scale=0.125, zeroPoint=3)]), (DataType.FLOAT32, []))
    np.testing.assert_array_equal(got, ((x.astype(np.float64) - 3) * 0.125).astype(np.float32))


@pytest.mark.parametrize(("ratio", "zeros"), [(0.7, (3, -8)), (1.0, (0, -128)), (2.6, (-1, 4)), (0.0009, (0, 0))])
def test_requantize(ratio: float, zeros: tuple[int, int], tmp_path: Path) -> None:
    x = np.arange(-128, 128).astype(np.int8)
    source = QuantParam(scale=0.5 * ratio, zeroPoint=zeros[0])
    target = QuantParam(scale=0.5, zeroPoint=zeros[1])
    got = cast(tmp_path, x, (DataType.INT8, [source]), (DataType.INT8, [target]))
    wanted = np.array([fixed_point(int(q) - zeros[0], source.scale / target.scale) + zeros[1] for q in x], np.float64)
    np.testing.assert_array_equal(got, limited(wanted, DataType.INT8))

"""Constants with scales that no reader of a file takes, from any source."""

from __future__ import annotations

import numpy as np
import pytest

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.matmul import FullConnection
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.positive_scales import with_positive_scales
from mslite.converter.mindir.quantized import dequantized_array
from mslite.converter.passes.context import Context
from mslite.converter.passes.positive_scales import make_scales_positive


def records(dtype: str, scales: list[float], bits: int = 0) -> tuple[QuantParam, ...]:
    limits = np.iinfo(dtype)
    zeros = [limits.min, limits.max, limits.max // 3]
    return tuple(
        QuantParam(scale=scale, zeroPoint=int(zero) if bits == 0 else -8, numBits=bits or limits.bits)
        for scale, zero in zip(scales, zeros, strict=False)
    )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize(("scales", "axis"), [([-0.5], 0), ([-0.5, 0.25, -2.0], 1)])
def test_the_meaning_stays(dtype: str, scales: list[float], axis: int) -> None:
    limits = np.iinfo(dtype)
    data = np.array([[limits.min, limits.max, 0], [5, limits.min, limits.min]], dtype)
    given = records(dtype, scales)
    made = with_positive_scales(data, given, axis)
    assert made is not None
    turned, after = made
    assert turned.dtype == data.dtype
    assert all(record.scale > 0 and limits.min <= record.zeroPoint <= limits.max for record in after)
    np.testing.assert_array_equal(dequantized_array(turned, after, axis), dequantized_array(data, given, axis))


def test_numbers_of_few_bits_keep_to_them() -> None:
    data = np.arange(-8, 8, dtype=np.int8)
    given = records("int8", [-0.5], bits=4)
    made = with_positive_scales(data, given, 0)
    assert made is not None
    assert made[0].min() == -8
    assert made[0].max() == 7
    np.testing.assert_array_equal(dequantized_array(*made, 0), dequantized_array(data, given, 0))


def test_scales_that_do_not_fit() -> None:
    assert with_positive_scales(np.zeros((2, 2), np.int8), records("int8", [-1.0, 1.0, 1.0]), 0) is None


@pytest.mark.parametrize("scale", [-0.5, np.inf, np.nan])
def test_a_module_of_any_source(scale: float) -> None:
    weight = constant("w", np.array([[-128, 3], [7, 9]], np.int8))
    weight.quant = tuple(QuantParam(scale=one, numBits=8) for one in (0.5, scale))
    before = dequantized_array(weight.array(), weight.quant, 0)
    x, y = Value("x", DataType.FLOAT32, (1, 2)), Value("y", DataType.FLOAT32)
    node = Node(FullConnection(), "n", (x, weight), (y,), QuantType.QUANT_WEIGHT)
    graph = Graph("main")
    graph.inputs, graph.outputs, graph.nodes = [x], [y], [node]
    make_scales_positive(Module([graph]), Context())
    read = node.inputs[1]
    if np.isfinite(scale):
        assert all(record.scale > 0 for record in read.quant)
        np.testing.assert_array_equal(dequantized_array(read.array(), read.quant, 0), before)
    else:
        assert read.dtype is DataType.FLOAT32
        assert node.quant_type is QuantType.QUANT_NONE
        np.testing.assert_array_equal(read.array(), before)

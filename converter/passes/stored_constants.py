"""Real constants between stored integers: the integers and the record that they are exactly."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value, constant, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import ROUND_HALF_TO_EVEN

_MOST_STEPS = 255
_MOST_ELEMENTS = 1 << 16
_EXACT = 2e-7
"""How far a number may be from a multiple of the scale, as a share of itself: float32 rounds by half of that."""


def stored_with(value: Value, result: Value) -> Value:
    """The constant with the record of `result`, half to even, as ONNX defines the cast."""
    assert value.data is not None
    record, kind = result.quant[0], numpy_type(result.dtype)
    most = (1 << 8 * kind.itemsize - 1) - 1
    with np.errstate(all="ignore"):
        quotients = np.rint(value.data.astype(np.float32) / np.float32(record.scale))
        steps = np.nan_to_num(quotients, nan=0.0) + np.float32(record.zeroPoint)
    integers = np.clip(steps, -most - 1, most).astype(kind)
    stored = constant(f"{value.name}_stored", integers, value.format)
    stored.quant = result.quant
    return stored


def stored_exactly(value: Value, dtype: DataType) -> Value | None:
    """The constant as integers of `dtype`: what 8-bit constants were before they were dequantized, and single numbers.
    None where it is no multiple of a scale."""
    assert value.data is not None
    data = value.data.astype(np.float64)
    if data.size == 0 or data.size > _MOST_ELEMENTS or not np.all(np.isfinite(data)):
        return None
    most = float(np.abs(data).max())
    for steps in range(1, _MOST_STEPS + 1):
        scale = most / steps if most > 0 else 1.0
        integers = np.rint(data / scale)
        if np.all(np.abs(integers * scale - data) <= _EXACT * np.abs(data)):
            break
    else:
        return None
    low, high = int(integers.min()), int(integers.max())
    if high - low > _MOST_STEPS:
        return None
    zero = -128 - min(low, 0) if low < -128 or high > 127 else 0
    stored = constant(f"{value.name}_stored", (integers + zero).astype(numpy_type(dtype)), value.format)
    bits = 8 * stored.array().dtype.itemsize
    record = QuantParam(scale=scale, zeroPoint=zero, numBits=bits, dstDtype=int(dtype), roundType=ROUND_HALF_TO_EVEN)
    stored.quant = (record,)
    return stored

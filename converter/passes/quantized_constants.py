"""Quantizes float constants of quantized nodes."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value, constant, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import ROUND_HALF_TO_EVEN

_MAX_STEPS = 255
_MAX_ELEMENTS = 1 << 16
_EXACT = 2e-7
"""Relative error that is allowed between a value and a multiple of the scale: twice the rounding of float32."""


def quantized_like(value: Value, result: Value) -> Value:
    """Returns the constant quantized with the parameters of `result`, rounded half to even, as in ONNX."""
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


def quantized_exactly(value: Value, dtype: DataType) -> Value | None:
    """Returns the constant quantized to `dtype` without error, or None if its elements are not multiples of a scale.

    Works for constants that were dequantized from 8 bits, and for scalars."""
    assert value.data is not None
    data = value.data.astype(np.float64)
    if data.size == 0 or data.size > _MAX_ELEMENTS or not np.all(np.isfinite(data)):
        return None
    most = float(np.abs(data).max())
    for steps in range(1, _MAX_STEPS + 1):
        scale = most / steps if most > 0 else 1.0
        integers = np.rint(data / scale)
        if np.all(np.abs(integers * scale - data) <= _EXACT * np.abs(data)):
            break
    else:
        return None
    low, high = int(integers.min()), int(integers.max())
    if high - low > _MAX_STEPS:
        return None
    zero = -128 - min(low, 0) if low < -128 or high > 127 else 0
    stored = constant(f"{value.name}_stored", (integers + zero).astype(numpy_type(dtype)), value.format)
    bits = 8 * stored.array().dtype.itemsize
    record = QuantParam(scale=scale, zeroPoint=zero, numBits=bits, dstDtype=int(dtype), roundType=ROUND_HALF_TO_EVEN)
    stored.quant = (record,)
    return stored

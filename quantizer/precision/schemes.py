"""Linear quantization: real = scale * (q - zero point). Computes quantization parameters from ranges, and quantizes.

The formulas are MindSpore Lite's and TensorFlow Lite's: the range includes 0; scale = (high - low) / (qmax - qmin);
zero point = round(qmin - low / scale); symmetric schemes use the larger magnitude and zero point 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam

Reals = npt.NDArray[np.float64]

MIN_SCALE = 2.0**-126
"""The smallest normal float32. Smaller scales are not used."""


@dataclass(frozen=True)
class Range:
    """The range of float values that a quantized tensor has to represent."""

    low: float
    high: float

    def merged(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class Scheme:
    """The integer type of a quantized tensor, and how its scale is computed."""

    bits: int = 8
    symmetric: bool = False
    narrow: bool = False
    """The smallest integer is not used, so that the integers are symmetric: -127 to 127 instead of -128 to 127."""
    unsigned: bool = False

    @property
    def dtype(self) -> DataType:
        if self.bits > 8:
            return DataType.UINT16 if self.unsigned else DataType.INT16
        return DataType.UINT8 if self.unsigned else DataType.INT8

    @property
    def low(self) -> int:
        """The smallest integer."""
        if self.unsigned:
            return int(self.narrow)
        return -(1 << (self.bits - 1)) + int(self.narrow and self.bits > 1)

    @property
    def high(self) -> int:
        """The largest integer."""
        return (1 << self.bits) - 1 if self.unsigned else (1 << (self.bits - 1)) - 1


INT8_ACTIVATION = Scheme()
"""TensorFlow Lite's int8 activations: asymmetric, -128 ... 127."""
INT8_WEIGHT = Scheme(symmetric=True, narrow=True)
"""TensorFlow Lite's int8 weights: symmetric, -127 ... 127."""
INT16_ACTIVATION = Scheme(bits=16, symmetric=True, narrow=True)
"""TensorFlow Lite's 16x8 activations: symmetric, -32767 ... 32767."""


def record(found: Range, scheme: Scheme) -> QuantParam:
    """Returns the quantization parameters of a range. An empty or infinite range gets scale 1."""
    low, high = min(found.low, 0.0), max(found.high, 0.0)
    steps = scheme.high - scheme.low
    if scheme.symmetric:
        largest = max(-low, high)
        positive = max(scheme.high, 1) if not scheme.unsigned else steps / 2
        scale, zero = largest / positive, (1 << (scheme.bits - 1)) if scheme.unsigned else 0
    else:
        scale = (high - low) / max(steps, 1)
        zero = 0
    if not np.isfinite(scale) or scale < MIN_SCALE:
        scale = 1.0
        low = 0.0
    if not scheme.symmetric:
        zero = int(np.clip(_round(np.array(scheme.low - low / scale)), scheme.low, scheme.high))
    return QuantParam(scale=float(scale), zeroPoint=zero, numBits=scheme.bits, dstDtype=int(scheme.dtype))


def array_range(data: Array) -> Range:
    """Returns the range of the finite elements; [0, 0] without any."""
    values = data[np.isfinite(data)] if data.size else data
    return Range(float(values.min()), float(values.max())) if values.size else Range(0.0, 0.0)


def channel_records(data: Array, axis: int, scheme: Scheme) -> tuple[QuantParam, ...]:
    """Returns quantization parameters for each index of `axis`."""
    moved = np.moveaxis(np.asarray(data, np.float64), axis, 0).reshape(data.shape[axis], -1)
    if not moved.shape[1]:
        return tuple(record(Range(0.0, 0.0), scheme) for _ in range(data.shape[axis]))
    return tuple(
        record(Range(float(low), float(high)), scheme)
        for low, high in zip(moved.min(axis=1), moved.max(axis=1), strict=True)
    )


def stored(data: Array, records: Sequence[QuantParam], axis: int, scheme: Scheme) -> Array:
    """Quantizes float values: rounds half away from zero and clamps to the integers of the scheme."""
    scales, points = _columns(records, axis, data.ndim)
    q = _round(np.asarray(data, np.float64) / scales) + points
    return np.clip(np.nan_to_num(q, nan=0.0), scheme.low, scheme.high).astype(numpy_type(scheme.dtype))


def _columns(records: Sequence[QuantParam], axis: int, rank: int) -> tuple[Reals, Reals]:
    shape = [-1 if index == axis and len(records) > 1 else 1 for index in range(rank)]
    scales = np.array([item.scale for item in records], np.float64).reshape(shape)
    points = np.array([item.zeroPoint for item in records], np.float64).reshape(shape)
    return scales, points


def _round(values: Reals) -> Reals:
    return np.asarray(np.sign(values) * np.floor(np.abs(values) + 0.5))

"""The quantisation records of source tensors, and the form in which MindIR stores quantised tensors."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantised import NARROW, SHIFTS, SIGNED

from .model import SourceTensor

_BIASES = frozenset({DataType.INT32, DataType.INT64})


def quant_params(tensor: SourceTensor, shifted: bool = True) -> tuple[QuantParam, ...]:
    """The quantisation records of a tensor. Those of unsigned ones speak of the `shifted` value, which is stored signed.

    32 and 64-bit integers have records when they are constants (biases); what is computed in them is not quantised.
    """
    quantization = tensor.quantization
    if quantization is None or (tensor.dtype not in NARROW and (tensor.dtype not in _BIASES or tensor.data is None)):
        return ()
    if tensor.dtype in _BIASES and not any(scale > 0 for scale in quantization.scales):
        return ()
    shift = SHIFTS.get(tensor.dtype, 0) if shifted else 0
    bits = 8 * numpy_type(tensor.dtype).itemsize
    return tuple(
        QuantParam(scale=scale, zeroPoint=point - shift, numBits=bits, dstDtype=int(tensor.dtype))
        for scale, point in zip(quantization.scales, quantization.zero_points, strict=True)
    )


def wide_records(tensor: SourceTensor) -> tuple[QuantParam, ...]:
    """As `quant_params`, also for computed 32-bit integers: QUANTIZE alone reads and makes such with a scale."""
    quantization = tensor.quantization
    if (
        tensor.dtype is not DataType.INT32
        or quantization is None
        or not all(scale > 0 for scale in quantization.scales)
    ):
        return quant_params(tensor)
    pairs = zip(quantization.scales, quantization.zero_points, strict=True)
    return tuple(
        QuantParam(scale=scale, zeroPoint=point, numBits=32, dstDtype=int(tensor.dtype)) for scale, point in pairs
    )


def is_quantised(tensor: SourceTensor) -> bool:
    """True for a tensor whose 8 or 16-bit integers stand for real numbers."""
    return tensor.dtype in NARROW and tensor.quantization is not None


def is_shifted(tensor: SourceTensor) -> bool:
    """True for quantised unsigned integers, which MindIR stores as signed ones."""
    return tensor.dtype in SHIFTS and tensor.quantization is not None


def stored_type(tensor: SourceTensor) -> DataType:
    """The element type in MindIR."""
    return SIGNED[tensor.dtype] if is_shifted(tensor) else tensor.dtype


def stored(tensor: SourceTensor, array: Array) -> Array:
    """The contents of a constant in MindIR's form."""
    if not is_shifted(tensor):
        return array
    return (array.astype(np.int32) - SHIFTS[tensor.dtype]).astype(numpy_type(stored_type(tensor)))

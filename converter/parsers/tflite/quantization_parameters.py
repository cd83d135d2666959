"""Quantization parameters of source tensors, and their form in MindIR."""

from __future__ import annotations

from math import isfinite

import numpy as np

from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Array, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import NARROW, SHIFTS, SIGNED, dequantized_array, same_quant_params
from mslite.converter.parsers.naming import Blocked

from .model import SourceTensor

COMPLEX = frozenset({DataType.COMPLEX64, DataType.COMPLEX128})
"""Complex types, which only some operators support."""

_MAX_CHANNELS = 2048
"""Largest number of scales in a cast of the runtime."""

_BIASES = frozenset({DataType.INT32, DataType.INT64})

_FIRST = (
    "AVERAGE_POOL_2D BROADCAST_TO DEPTH_TO_SPACE GATHER GATHER_ND MATRIX_DIAG MAX_POOL_2D PAD RESHAPE RESIZE_BILINEAR"
    " RESIZE_NEAREST_NEIGHBOR REVERSE_SEQUENCE REVERSE_V2 SLICE SPACE_TO_DEPTH SQUEEZE STRIDED_SLICE TILE TOPK_V2 TRANSPOSE"
)
_READ_AS_RESULT: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_FIRST.split(), (0,)),
    "DYNAMIC_UPDATE_SLICE": (0, 1),
    "EMBEDDING_LOOKUP": (1,),
    "MATRIX_SET_DIAG": (0, 1),
    "MAXIMUM": (0, 1),
    "MINIMUM": (0, 1),
    "ONE_HOT": (2, 3),
    "REDUCE_WINDOW": (0, 1),
    "SCATTER_ND": (1,),
    "SELECT": (1, 2),
    "SELECT_V2": (1, 2),
    "SPARSE_TO_DENSE": (2, 3),
}
"""Operands that TFLite's reference kernels read with the quantization parameters of the result instead of their own."""


def quant_params(tensor: SourceTensor, shifted: bool = True) -> tuple[QuantParam, ...]:
    """Returns the quantization parameters of a tensor. With `shifted`, zero points of unsigned tensors are for the
    signed integers that MindIR stores.

    int32 and int64 tensors are only quantized if they are constants (biases).
    """
    quantization = tensor.quantization
    if quantization is None or (tensor.dtype not in NARROW and (tensor.dtype not in _BIASES or tensor.data is None)):
        return ()
    if tensor.dtype in _BIASES and not (any(quantization.scales) and all(map(isfinite, quantization.scales))):
        return ()
    shift = SHIFTS.get(tensor.dtype, 0) if shifted else 0
    bits = 8 * numpy_type(tensor.dtype).itemsize
    return tuple(
        QuantParam(scale=scale, zeroPoint=point - shift, numBits=bits, dstDtype=int(tensor.dtype))
        for scale, point in zip(quantization.scales, quantization.zero_points, strict=True)
    )


def int32_quant_params(tensor: SourceTensor) -> tuple[QuantParam, ...]:
    """Returns the quantization parameters as `quant_params`, also for computed int32 tensors, which only QUANTIZE
    supports."""
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


def channel_scale_axis(tensor: SourceTensor) -> int:
    """Returns the dimension of per-channel scales; 0 for a single scale. Raises Blocked if casts do not support it."""
    quantization = tensor.quantization
    if quantization is None or len(quantization.scales) < 2:
        return 0
    count, axis, shape = len(quantization.scales), quantization.axis, tensor.shape
    axis = 0 if len(shape) == 1 else axis
    if shape and not (0 <= axis < len(shape) and shape[axis] == count):
        reason = f"tensor '{tensor.name}' has {count} scales along dimension {axis} of the shape {shape}"
        raise Blocked(reason, "Export the model again")
    if count > _MAX_CHANNELS:
        reason = f"the computed tensor '{tensor.name}' has {count} scales; {_MAX_CHANNELS} are supported"
        raise Blocked(reason, "Quantize activations with one scale")
    return axis


def has_channel_scales(tensor: SourceTensor) -> bool:
    """Returns whether a computed tensor has per-channel scales."""
    quantization = tensor.quantization
    return is_quantized(tensor) and tensor.data is None and quantization is not None and len(quantization.scales) > 1


def invalid_scale(tensor: SourceTensor) -> float | None:
    """Returns an invalid scale or None: scales must be finite, and those of computed tensors not negative."""
    if not is_quantized(tensor) or tensor.quantization is None:
        return None
    is_constant = tensor.data is not None
    return next(
        (scale for scale in tensor.quantization.scales if not isfinite(scale) or (scale < 0 and not is_constant)), None
    )


def is_quantized(tensor: SourceTensor) -> bool:
    """Returns whether a tensor of 8-bit or 16-bit integers is quantized."""
    return tensor.dtype in NARROW and tensor.quantization is not None


def is_shifted(tensor: SourceTensor) -> bool:
    """Returns whether a tensor is quantized and unsigned; MindIR stores it as signed integers."""
    return tensor.dtype in SHIFTS and tensor.quantization is not None


def stored_type(tensor: SourceTensor) -> DataType:
    """Returns the data type in MindIR."""
    return SIGNED[tensor.dtype] if is_shifted(tensor) else tensor.dtype


def stored(tensor: SourceTensor, array: Array) -> Array:
    """Returns the contents of a constant as stored in MindIR."""
    if not is_shifted(tensor):
        return array
    return (array.astype(np.int32) - SHIFTS[tensor.dtype]).astype(numpy_type(stored_type(tensor)))


def scaled(tensor: SourceTensor, numbers: Array) -> Array:
    """Returns the float values of a decoded constant, multiplied by its scales if it has any. Raises
    FlatBufferError."""
    quantization = tensor.quantization
    if quantization is None or not any(quantization.scales):
        return numbers
    records = [
        QuantParam(scale=scale, zeroPoint=point)
        for scale, point in zip(quantization.scales, quantization.zero_points, strict=True)
    ]
    try:
        return dequantized_array(numbers, records, 0 if numbers.ndim == 1 else quantization.axis)
    except ValueError as error:
        raise FlatBufferError(f"tensor '{tensor.name}': {error}") from None


def result_quant_params(
    operator: str, index: int, operand: SourceTensor, result: SourceTensor
) -> tuple[QuantParam, ...]:
    """Returns the quantization parameters that an operator uses for an operand; () if they are those of the operand."""
    # CONCATENATION requantizes 8-bit operands, but not 16-bit ones.
    as_result = index in _READ_AS_RESULT.get(operator, ()) or (
        operator == "CONCATENATION" and operand.dtype is DataType.INT16
    )
    if not as_result or operand.dtype is not result.dtype or not (is_quantized(operand) and is_quantized(result)):
        return ()
    records = quant_params(result)
    is_other = len(records) == 1 and not same_quant_params(quant_params(operand), records)
    return records if is_other else ()

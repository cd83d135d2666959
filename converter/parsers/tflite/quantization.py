"""Quantize, dequantize, casts, and fake quantization."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, MulFusion
from mslite.converter.mindir.ops.audio import FftReal
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Bitcast
from mslite.converter.mindir.ops.unary import Cast, Clip, Round
from mslite.converter.mindir.quantized import NARROW, SHIFTS, is_quantized, same_quant_params

from .call import Call
from .quantization_parameters import COMPLEX, channel_scale_axis, int32_quant_params, stored_type
from .quantization_parameters import is_quantized as is_quantized_tensor
from .registry import tflite_operator
from .sign_casts import before_sign_cast

_STORED = NARROW | {DataType.INT32}
"""Data types of QUANTIZE, in addition to float32."""


@tflite_operator("DEQUANTIZE")
def dequantize(call: Call) -> Value:
    """Converts DEQUANTIZE. Constants are dequantized at conversion; operators with quantized weights read the stored
    form."""
    x = call.input(0)
    if is_quantized_tensor(call.output()):
        raise call.block("its result is quantized", "Use QUANTIZE")
    if x.data is not None and (x.quant or x.dtype not in NARROW):
        return call.scope.decoded(x)
    if is_quantized(x):
        return call.scope.real(x, call.origin)
    if x.dtype in NARROW:
        raise call.block("its input has no scale", "Export the model with quantization parameters")
    return _plain_cast(call, x, DataType.FLOAT32)


@tflite_operator("QUANTIZE")
def quantize(call: Call) -> Value:
    """Converts QUANTIZE: from float values, or from other quantization parameters."""
    x, tensor = call.input(0), call.output()
    records = int32_quant_params(tensor)
    if x.dtype is DataType.INT32 and not x.quant:
        x.quant = int32_quant_params(call.source(0))
    if not records or (x.dtype in _STORED and not x.quant):
        if tensor.dtype in NARROW or x.dtype in _STORED:
            raise call.block("its input or output has no scale", "Export the model with quantization parameters")
        return _plain_cast(call, x, tensor.dtype)
    dtype = stored_type(tensor)
    axis = channel_scale_axis(tensor)
    if len(x.quant) > 1 and x.data is None:
        of_x = channel_scale_axis(call.source(0))
        if len(records) > 1 and axis != of_x:
            x = call.scope.real(x, call.origin)
        else:
            axis = of_x
    if x.dtype is dtype and same_quant_params(x.quant, records):
        if all(old.dstDtype == new.dstDtype for old, new in zip(x.quant, records, strict=True)):
            return x
        # uint8 to int8 or back, with zero points that differ by 128: the values are equal, but some operators round
        # them differently, so the cast is kept to show the source's type.
        x = before_sign_cast(x)
    if x.dtype not in _STORED:
        x = call.as_type(x, DataType.FLOAT32)
    return call.scope.recast(x, dtype, records, axis, call.origin)


def stored_integers(call: Call, x: Value) -> Value:
    """Returns the stored integers of a quantized tensor in the source, as float32."""
    shift = SHIFTS.get(DataType(x.quant[0].dstDtype), 0)
    if x.data is not None:
        return call.const(x.data.astype(np.float32) + np.float32(shift))
    if len(x.quant) > 1:
        plain = call.emit(Bitcast(data_type=int(x.dtype)), x)
        plain.dtype = x.dtype
        return call.emit(AddFusion(), call.as_type(plain, DataType.FLOAT32), call.const(shift, np.float32))
    (record,) = x.quant  # round(real / scale) + zero point
    scaled = call.emit(DivFusion(), call.scope.real(x, call.origin), call.const(record.scale, np.float32))
    point = call.const(record.zeroPoint + shift, np.float32)
    return call.emit(AddFusion(), call.emit(Round(), scaled), point)


@tflite_operator("CAST")
def cast(call: Call) -> Value:
    """Converts CAST, which reads the stored integers of quantized tensors, and the real part of complex ones."""
    x, dtype = call.input(0), call.output().dtype
    if dtype is DataType.STRING:
        raise call.block("it produces strings", "Move text processing out of the model")
    if is_quantized_tensor(call.output()):
        raise call.block("its result is quantized", "Use QUANTIZE")
    if is_quantized(x):
        x = stored_integers(call, x)
        x.dtype = DataType.FLOAT32
        return call.as_type(x, dtype)
    return _plain_cast(call, x, dtype)


def _plain_cast(call: Call, x: Value, dtype: DataType) -> Value:
    """Casts x: the real part of complex64; values out of the range of 8 or 16 bits are clamped, as in LiteRT."""
    if x.dtype not in COMPLEX and dtype not in COMPLEX:
        if x.dtype is DataType.FLOAT32 and dtype in NARROW:
            limits = np.iinfo(numpy_type(dtype).name)
            x = call.emit(Clip(min=float(limits.min), max=float(limits.max)), x)
        return call.emit(Cast(), x, call.ints(int(dtype)))
    if x.dtype is dtype:
        return x
    if dtype in COMPLEX or x.dtype is not DataType.COMPLEX64:
        reason = f"a cast from {call.source(0).type_name} to {call.output().type_name} is unsupported"
        raise call.block(reason, "Use separate tensors for the real and the imaginary part")
    real = call.emit(FftReal(), x)
    real.dtype = DataType.FLOAT32
    return call.as_type(real, dtype)


@tflite_operator("FAKE_QUANT")
def fake_quant(call: Call) -> Value:
    """Converts FAKE_QUANT: rounds to one of 2^bits (narrow range: 2^bits - 1) evenly spaced values, one of which is
    0."""
    low, high, bits = call.options.real("min"), call.options.real("max"), call.options.integer("num_bits")
    if not (low <= 0.0 <= high and low < high) or not 2 <= bits <= 16:
        raise call.block(f"{bits} bits for the range [{low}, {high}] are not valid", attribute="num_bits")
    first = 1 if call.options.integer("narrow_range") else 0
    last = (1 << bits) - 1
    scale = (high - low) / (last - first)
    point = min(max(round(first - low / scale), first), last)
    low, high = (first - point) * scale, (last - point) * scale
    limited = call.emit(Clip(min=low, max=high), call.input(0))
    steps = call.emit(DivFusion(), limited, call.const(scale, np.float32))
    return call.emit(MulFusion(), call.emit(Round(), steps), call.const(scale, np.float32))

"""Between real numbers and integers, and float16 weights."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import FakeQuantWithMinMaxVars, QuantDTypeCast
from mslite.converter.mindir.ops.unary import Cast

from .call import Call
from .registry import tflite_operator

_INTEGERS = (DataType.INT8, DataType.UINT8, DataType.INT16)


@tflite_operator("DEQUANTIZE")
def dequantize(call: Call) -> Value:
    """Constants are decoded at once: float16 and 8-bit weights become float32."""
    x = call.input(0)
    if x.data is not None:
        return call.importer.decoded(x)
    if x.dtype is DataType.FLOAT16:
        return call.emit(Cast(), x, call.ints(int(DataType.FLOAT32)))
    return call.emit(QuantDTypeCast(src_t=int(x.dtype), dst_t=int(DataType.FLOAT32)), x)


@tflite_operator("QUANTIZE")
def quantize(call: Call) -> Value:
    """From real numbers, or from one scale to another."""
    x, dtype = call.input(0), call.output().dtype
    if dtype not in _INTEGERS:
        return call.emit(Cast(), x, call.ints(int(dtype)))
    stored = DataType.INT8 if dtype is DataType.UINT8 else dtype
    return call.emit(QuantDTypeCast(src_t=int(x.dtype), dst_t=int(stored)), x)


@tflite_operator("FAKE_QUANT")
def fake_quant(call: Call) -> Value:
    options = call.options
    op = FakeQuantWithMinMaxVars(
        num_bits=options.integer("num_bits"), narrow_range=bool(options.integer("narrow_range"))
    )
    bounds = (call.const(options.real(name), np.float32) for name in ("min", "max"))
    return call.emit(op, call.input(0), *bounds)

"""QuantizeLinear and DequantizeLinear. All other quantized operators are expanded into these (see `expansion`)."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_string

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.mindir.quantized import SHIFTS, SIGNED
from mslite.converter.parsers.short_types import rounded_to_bfloat16

from .call import Call
from .constant_only_types import BFLOAT16, CONSTANT_ONLY_TYPES
from .quantized import RANGES, Parameters, Quantized, as_float, coded, quantized_constant, scaled
from .registry import onnx_operator
from .tensors import UnsupportedTensor, data_type

_STORABLE = (DataType.INT8, DataType.UINT8, DataType.INT16, DataType.UINT16, DataType.INT32)


def _parameters(call: Call) -> Parameters:
    call.ignore("saturate", "output_dtype", "precision")
    scale, point = call.input(1), call.optional(2)
    block = call.integer("block_size", 0)
    if block < 0:
        raise call.block(f"{block} is negative", "Export the model again", "block_size")
    return Parameters(scale, point, call.integer("axis", 1), block, _result_type(call))


def _makes_bfloat16(call: Call) -> bool:
    """Returns whether the output of a DequantizeLinear is BFLOAT16, which only constants may have."""
    asked = call.integer("output_dtype", 0)
    return (asked or call.scope.source_type(call.node.input[1])) == BFLOAT16


def _result_type(call: Call) -> DataType:
    """Returns the output type of a DequantizeLinear; UNKNOWN: the type of the scale."""
    if call.node.op_type != "DequantizeLinear":
        return DataType.UNKNOWN
    if _makes_bfloat16(call):
        return DataType.FLOAT32
    asked = call.integer("output_dtype", 0)
    if not asked and call.scope.is_short(call.node.input[1]):
        reason = "its output has the type of its scale, which is only supported for constants"
        raise call.block(reason, "Set output_dtype to FLOAT", "output_dtype")
    try:
        return data_type(asked) if asked else DataType.UNKNOWN
    except UnsupportedTensor as error:
        raise call.block(str(error), "Use FLOAT", "output_dtype") from None


def _element_type(call: Call) -> int:
    """Returns the output type of a QuantizeLinear."""
    known = call.scope.model.types.get(call.output_name())
    asked = call.integer("output_dtype", 0)
    point = call.scope.source_type(call.node.input[2]) if call.has_input(2) else 0
    element_type = asked or point or (known.tensor_type.elem_type if known is not None else 0) or TensorProto.UINT8
    if element_type not in RANGES:
        known_type = element_type in TensorProto.DataType.values()
        name = (
            tensor_dtype_to_string(element_type).removeprefix("TensorProto.") if known_type else f"type {element_type}"
        )
        raise call.block(f"quantization to {name} is not supported", "Quantize to 8 or 16-bit integers")
    return element_type


@onnx_operator("QuantizeLinear")
def quantize(call: Call) -> tuple[Value, ...]:
    """Computes round(x / scale) + zero point, rounded half to even and clipped to the type's range."""
    element_type, parameters = _element_type(call), _parameters(call)
    x = call.input(0)
    if x.data is not None and parameters.scale.data is not None and parameters.zero is not None:
        # Weights of quantization-aware training: quantize them now.
        return (call.const(quantized_constant(call, x, parameters, element_type)),)
    made = Quantized(call, x, parameters, element_type)
    name = call.output_name()
    if element_type in CONSTANT_ONLY_TYPES and call.scope.is_output(name):
        bits = CONSTANT_ONLY_TYPES[element_type].bits
        raise call.block(f"outputs of {bits}-bit integers are not supported", "Dequantize them in the model")
    call.scope.defer(name, made)
    return ()


@onnx_operator("DequantizeLinear")
def dequantize(call: Call) -> tuple[Value, ...] | Value:
    """Computes scale * (x - zero point)."""
    parameters = _parameters(call)
    known = call.deferred_input(0, own=True)
    if isinstance(known, Quantized):
        _refuse_bfloat16(call)
        return _like_scale(call, known.real(parameters), parameters)
    x = call.input(0)
    if x.data is not None and parameters.scale.data is not None and parameters.zero is not None:
        if x.dtype not in _STORABLE and not call.scope.is_short(call.node.input[0]):
            raise call.block(f"its input has the type {x.dtype.name}", "Quantize to 8 or 16-bit integers")
        made = coded(call, x, parameters)
        if _makes_bfloat16(call):
            call.scope.mark_short(call.output_name())
            return call.const(rounded_to_bfloat16(made.plain().array()))
        call.scope.defer(call.output_name(), made)
        return ()
    _refuse_bfloat16(call)
    stored = _boundary(call, x, parameters)
    if stored is not None:
        result = call.emit(QuantDTypeCast(src_t=int(stored.dtype), dst_t=int(DataType.FLOAT32)), stored)
        result.dtype = DataType.FLOAT32
        return _like_scale(call, result, parameters)
    return _like_scale(call, scaled(call, as_float(call, x), parameters, x), parameters)


def _refuse_bfloat16(call: Call) -> None:
    if _makes_bfloat16(call):
        raise call.block(
            "its output is BFLOAT16, which is only supported for constants", "Set output_dtype to FLOAT", "output_dtype"
        )


def _like_scale(call: Call, value: Value, parameters: Parameters) -> Value:
    """Casts the result to the output type, by default the type of the scale."""
    dtype = parameters.result
    if dtype is DataType.UNKNOWN:
        dtype = call.dtype(parameters.scale)
    if dtype in (DataType.FLOAT32, DataType.UNKNOWN):
        return value
    return call.emit(Cast(), value, call.ints(int(dtype)))


def _boundary(call: Call, x: Value, parameters: Parameters) -> Value | None:
    """Returns the integers of a graph input that only this node reads, and stores the scale in the input; else None."""
    record, scope = parameters.record, call.scope
    if record is None or not record[0] > 0 or not np.isfinite(record[0]) or scope.outer is not None or x.quant:
        return None
    if x.dtype not in _STORABLE[:4] or x not in scope.graph.inputs or scope.times_used(call.node.input[0]) != 1:
        return None
    scale, point = record
    bits = 16 if x.dtype in (DataType.INT16, DataType.UINT16) else 8
    x.quant = (QuantParam(scale=scale, zeroPoint=point, numBits=bits, dstDtype=int(x.dtype)),)
    if x.dtype not in SHIFTS:
        return x
    inside = SIGNED[x.dtype]
    value = call.emit(QuantDTypeCast(src_t=int(x.dtype), dst_t=int(inside)), x)
    value.dtype = inside
    value.quant = (QuantParam(scale=scale, zeroPoint=point - SHIFTS[x.dtype], numBits=bits, dstDtype=int(x.dtype)),)
    return value

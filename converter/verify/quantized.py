"""Runs nodes with quantized tensors in float, as the runtime does if it has no integer kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Array, Node, Value, data_type_of, numpy_type
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.quantization import DynamicQuant
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import channel_axis, dequantized_array, is_quantized, only_moves_elements
from mslite.converter.passes import native_rules
from mslite.converter.passes.graph_edit import changed

_ON_STORED = frozenset({"Cast", "BitwiseNot", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "ShiftLeft", "ShiftRight"})
"""Operators that compute with the stored integers, without their quantization parameters."""


def evaluate(node: Node, operands: Sequence[Array]) -> list[Array]:
    """Returns the outputs of a node. The outputs of DynamicQuant are dequantized float values.

    Raises native_rules.NativeRuleError, and ValueError for invalid quantization parameters.
    """
    if isinstance(node.op, DynamicQuant):
        return native_rules.evaluate(
            changed(node.op, dst_type=int(DataType.FLOAT32)), _facts(operands), len(node.outputs)
        )
    if node.op.name == "QuantDTypeCast":
        real = _real(node, 0, operands[0])
        return [_stored(real, node.outputs[0]) if node.outputs[0].quant else real]
    quantized = any(map(is_quantized, (*node.inputs, *node.outputs))) or node.quant_type is QuantType.QUANT_WEIGHT
    if not quantized or only_moves_elements(node) or node.op.name in _ON_STORED:
        return native_rules.evaluate(node.op, _facts(operands), len(node.outputs))
    real_operands = [_real(node, index, data) for index, data in enumerate(operands)]
    results = native_rules.evaluate(node.op, _facts(real_operands), len(node.outputs))
    return [
        _stored(result, value) if is_quantized(value) else result
        for value, result in zip(node.outputs, results, strict=True)
    ]


def _facts(operands: Sequence[Array]) -> list[native_rules.NativeTensorFacts]:
    return [native_rules.NativeTensorFacts(data_type_of(data), tuple(data.shape), None, data) for data in operands]


def _real(node: Node, index: int, data: Array) -> Array:
    """Returns an input, dequantized if it is quantized and not float already."""
    value = node.inputs[index]
    if not value.quant or data.dtype.kind == "f" or not (is_quantized(value) or value.is_constant):
        return data
    return dequantized_array(data, value.quant, channel_axis(node.op, index, node.inputs))


def _stored(real: Array, value: Value) -> Array:
    """Quantizes float values with the parameters of `value`: rounds half away from zero and saturates."""
    record: QuantParam = value.quant[0]
    if len(value.quant) > 1:
        raise ValueError(
            f"'{value.name}' is not a constant, but has per-channel quantization parameters ({len(value.quant)})"
        )
    dtype = numpy_type(value.dtype)
    steps = (real.astype(np.float32) / np.float32(record.scale)).astype(np.float64)
    rounded = np.nan_to_num(np.sign(steps) * np.floor(np.abs(steps) + 0.5), nan=0.0)
    limits = np.iinfo(dtype.char)
    stored: Array = np.clip(rounded + record.zeroPoint, limits.min, limits.max).astype(dtype)
    return stored

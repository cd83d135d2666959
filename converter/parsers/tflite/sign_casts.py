"""Casts between uint8 and int8 with the same float values, as at the inputs and outputs of a model."""

from __future__ import annotations

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.quantized import SHIFTS


def before_sign_cast(x: Value) -> Value:
    """Returns the operand of the cast that produces `x`, if it only changes the sign of the type; else `x`."""
    cast = x.producer
    return cast.inputs[0] if cast is not None and _is_renaming(cast) else x


def _is_renaming(node: Node) -> bool:
    """Returns whether a cast between int8 and uint8 keeps the float values: the zero points differ by the shift."""
    x, y = node.inputs[0], node.outputs[0]
    if node.op.name != "QuantDTypeCast" or {x.dtype, y.dtype} - {DataType.INT8, DataType.UINT8}:
        return False
    shift = SHIFTS.get(y.dtype, 0) - SHIFTS.get(x.dtype, 0)
    return [(record.scale, record.zeroPoint + shift) for record in x.quant] == [
        (record.scale, record.zeroPoint) for record in y.quant
    ]

"""Where unsigned and signed integers of the same float values meet: at the inputs and outputs of a model."""

from __future__ import annotations

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.quantized import SHIFTS


def before_boundary(x: Value) -> Value:
    """What a cast at the boundary of the model makes `x` from; else `x`."""
    cast = x.producer
    return cast.inputs[0] if cast is not None and _is_renaming(cast) else x


def _is_renaming(node: Node) -> bool:
    """Whether a cast between integers keeps the float values, and what stands for them but for its sign."""
    x, y = node.inputs[0], node.outputs[0]
    if node.op.name != "QuantDTypeCast" or {x.dtype, y.dtype} - {DataType.INT8, DataType.UINT8}:
        return False
    shift = SHIFTS.get(y.dtype, 0) - SHIFTS.get(x.dtype, 0)
    return [(record.scale, record.zeroPoint + shift) for record in x.quant] == [
        (record.scale, record.zeroPoint) for record in y.quant
    ]

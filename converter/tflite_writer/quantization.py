"""Requantization, and casts between int8 and uint8."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import DataType

from .call import Call
from .registry import writes


@writes("QuantDTypeCast")
def requantize(call: Call) -> None:
    """Writes a requantization. A cast that only stores uint8 as int8 is not needed in the file, where both are
    uint8."""
    values = (call.value(0), call.node.outputs[0])
    if DataType.UINT8 in {one.dtype for one in values} and all(call.writing.is_unsigned(one) for one in values):
        raise call.refuse("it only changes the storage type")
    call.emit("QUANTIZE", [call.input()])

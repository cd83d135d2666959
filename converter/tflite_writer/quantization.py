"""From one scale to another, and between signed and unsigned bytes."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import DataType

from .call import Call
from .registry import writes


@writes("QuantDTypeCast")
def requantize(call: Call) -> None:
    """A cast that only stores unsigned bytes as signed ones is none in the file, where they are unsigned."""
    values = (call.value(0), call.node.outputs[0])
    if DataType.UINT8 in {one.dtype for one in values} and all(call.writing.is_unsigned(one) for one in values):
        raise call.refuse("it only says how bytes are stored")
    call.emit("QUANTIZE", [call.input()])

"""From one scale to another."""

from __future__ import annotations

from .call import Call
from .registry import writes


@writes("QuantDTypeCast")
def requantise(call: Call) -> None:
    call.emit("QUANTIZE", [call.input()])

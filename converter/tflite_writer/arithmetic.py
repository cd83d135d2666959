"""Element-wise arithmetic."""

from __future__ import annotations

from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion

from .call import Call
from .registry import writes

_FUSED = {"AddFusion": "ADD", "MulFusion": "MUL", "SubFusion": "SUB"}
_CHOOSING = {"Maximum": "MAXIMUM", "Minimum": "MINIMUM"}


@writes(*_FUSED)
def fused(call: Call) -> None:
    assert isinstance(call.op, AddFusion | MulFusion | SubFusion)
    call.emit(_FUSED[call.op.name], call.inputs(), activation=call.fused(call.op.activation_type))


@writes(*_CHOOSING)
def choosing(call: Call) -> None:
    call.require_equal_quant_params()
    call.emit(_CHOOSING[call.op.name], call.inputs())


@writes("SquaredDifference")
def squared_difference(call: Call) -> None:
    call.emit("SQUARED_DIFFERENCE", call.inputs())

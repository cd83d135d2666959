"""Reductions."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.reduction import ReduceFusion

from .call import Call
from .registry import writes

_NAMES = {ReduceMode.ReduceMean: "MEAN", ReduceMode.ReduceMax: "REDUCE_MAX", ReduceMode.ReduceMin: "REDUCE_MIN"}


@writes("ReduceFusion")
def reduce(call: Call) -> None:
    op = call.op
    assert isinstance(op, ReduceFusion)
    name = _NAMES.get(op.mode)
    if name is None:
        raise call.refuse(f"{op.mode.name} has no equivalent in TensorFlow Lite")
    if op.reduce_to_end or op.coeff != 1.0:
        raise call.refuse("it has a coefficient, or reduce_to_end")
    if name != "MEAN":
        call.require_equal_quant_params()
    call.emit(name, [call.input(), call.constant("axes", call.integers(1, "its axes"))], keep_dims=op.keep_dims)

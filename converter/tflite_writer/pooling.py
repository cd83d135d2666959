"""Pooling."""

from __future__ import annotations

from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion

from .call import VALID, Call
from .registry import writes

_MIN = -128
"""The lowest int8, the padding value of max pooling."""
_NAMES = {"AvgPoolFusion": "AVERAGE_POOL_2D", "MaxPoolFusion": "MAX_POOL_2D"}


@writes(*_NAMES)
def pool(call: Call) -> None:
    op = call.op
    assert isinstance(op, AvgPoolFusion | MaxPoolFusion)
    call.require_equal_quant_params()
    kernel, stride = op.kernel_size, op.strides or (1, 1)
    x, padding = call.input(), VALID
    if op.global_ or not kernel:
        kernel, stride = call.shape()[1:3], (1, 1)
    else:
        fitting = call.padding(op.pad_mode, op.pad or (0,) * 4, kernel, stride)
        if fitting is None and not isinstance(op, MaxPoolFusion):
            raise call.refuse("TensorFlow Lite does not support its padding")
        x, padding = (call.bordered(op.pad, _MIN), VALID) if fitting is None else (x, fitting)
    call.emit(
        _NAMES[op.name],
        [x],
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        filter_h=kernel[0],
        filter_w=kernel[1],
        activation=call.fused(op.activation_type),
    )

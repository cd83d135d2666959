"""Pooling."""

from __future__ import annotations

from typing import Any

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import Format, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion
from mslite.converter.mindir.ops.unary import Sqrt, Square

from .call import Call
from .registry import tflite_operator


def _attributes(call: Call) -> dict[str, Any]:
    if call.rank(0) != 4:
        raise call.block(f"the input has {call.rank(0)} dimensions, not 4")
    kernel = call.options.integer("filter_h"), call.options.integer("filter_w")
    strides = call.options.integer("stride_h"), call.options.integer("stride_w")
    if min(*kernel, *strides) < 1:
        raise call.block(f"the window {kernel} with strides {strides} is not positive", attribute="filter")
    return {
        "kernel_size": kernel,
        "strides": strides,
        "pad": (0, 0, 0, 0),
        "pad_mode": call.pad_mode(),
        "round_mode": RoundMode.FLOOR,
        "format": Format.NHWC,
    }


@tflite_operator("AVERAGE_POOL_2D", "MAX_POOL_2D")
def pool(call: Call) -> Value:
    activation, follow = call.fused()
    cls = AvgPoolFusion if call.node.name == "AVERAGE_POOL_2D" else MaxPoolFusion
    return follow(call.emit(cls(**_attributes(call), activation_type=activation), call.input(0)))


@tflite_operator("L2_POOL_2D")
def l2_pool(call: Call) -> Value:
    """Converts L2_POOL_2D: the square root of the mean of squares."""
    mean = call.emit(AvgPoolFusion(**_attributes(call)), call.emit(Square(), call.input(0)))
    return call.activated(call.emit(Sqrt(), mean))

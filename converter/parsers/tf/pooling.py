"""2-D pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import Format, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion

from .call import Call
from .convolution import padding, spatial_pair
from .registry import tf_operator


def _checked(call: Call, values: Sequence[int], channels_first: bool, name: str) -> tuple[int, int]:
    """Returns (height, width) of four numbers. Raises Blocked if those of batch and channel are not 1."""
    if len(values) != 4 or not all(1 <= value < 2**31 for value in values):
        raise call.block(f"{list(values)} is not four positive numbers", attribute=name)
    batch, *rest = values
    channel = rest.pop(0) if channels_first else rest.pop()
    if batch != 1 or channel != 1:
        raise call.block("windows over the batch or the channels are unsupported", "Use 1 for these dimensions", name)
    return rest[0], rest[1]


def _pool(call: Call, cls: Callable[..., Operator], kernel: tuple[int, int], strides: tuple[int, int]) -> Value:
    first = call.channels_first()
    x = call.input(0)
    if call.require_rank(x) != 4:
        raise call.block(f"the input has {call.require_rank(x)} dimensions, not 4")
    mode, pads = padding(call, first)
    op = cls(
        kernel_size=kernel,
        strides=strides,
        pad=pads,
        pad_mode=mode,
        round_mode=RoundMode.FLOOR,
        format=Format.NHWC,
    )
    return call.spatial(op, x, channels_first=first)


@tf_operator("AvgPool", "MaxPool")
def pool(call: Call) -> Value:
    first = call.channels_first()
    cls: Callable[..., Operator] = AvgPoolFusion if call.operator == "AvgPool" else MaxPoolFusion
    return _pool(call, cls, spatial_pair(call, "ksize", first), spatial_pair(call, "strides", first))


@tf_operator("MaxPoolV2")
def pool_with_operands(call: Call) -> Value:
    """Converts MaxPoolV2. Its inputs are x, window, strides."""
    first = call.channels_first()
    kernel = _checked(call, call.require_integers(1, "the window"), first, "ksize")
    strides = _checked(call, call.require_integers(2, "the strides"), first, "strides")
    return _pool(call, MaxPoolFusion, kernel, strides)


@tf_operator("MaxPoolWithArgmax")
def pool_with_indices(call: Call) -> Value:
    """Converts MaxPoolWithArgmax; only the maxima, without indices."""
    return _pool(call, MaxPoolFusion, spatial_pair(call, "ksize", False), spatial_pair(call, "strides", False))

"""Custom operators."""

from __future__ import annotations

from ._declare import (
    Longs,
    Operator,
    boolean,
    enum,
    long,
    longs,
    named_bytes,
    operator,
    real,
    text,
)
from .enums import ActivationType, EltwiseMode, Format, PadMode, ReduceMode, RoundMode


@operator(
    191,
    inputs="x*",
    outputs="y*",
    onnx="Conv2dAdd Conv Int8Conv ConvRelu Int8ConvRelu Custom FlashAttentionTik ForwardRasterize GridSample",
)
class Custom(Operator):
    """A custom operator with its own attributes, identified by `type`."""

    type: str | None = text(0)
    """name of the operator"""
    attr: tuple[tuple[str | None, bytes | None], ...] | None = named_bytes(1)
    """(name, bytes) pairs; the encoding depends on the operator"""


@operator(194, inputs="x*", outputs="y*")
class GenOP(Operator):
    """Placeholder for any operator in obfuscated files."""

    activation_type: ActivationType = enum(0, ActivationType.NO_ACTIVATION)
    alpha: float = real(1)
    min_val: float = real(2)
    max_val: float = real(3)
    is_training: bool = boolean(4)
    format: Format = enum(5, Format.NCHW)
    kernel_size: Longs = longs(6)
    stride: Longs = longs(7)
    dilation: Longs = longs(8)
    pad_mode: PadMode = enum(9, PadMode.PAD)
    pad_list: Longs = longs(10)
    mode: int = long(11)
    group: int = long(12)
    in_channel: int = long(13)
    out_channel: int = long(14)
    eltwise_mode: EltwiseMode = enum(15, EltwiseMode.PROD)
    has_bias: bool = boolean(16)
    use_axis: bool = boolean(17)
    axis: int = long(18)
    epsilon: float = real(19, 0.0001)
    momentum: float = real(20, 0.9)
    transpose_a: bool = boolean(21)
    transpose_b: bool = boolean(22)
    pad: Longs = longs(23)
    round_mode: RoundMode = enum(24, RoundMode.FLOOR)
    global_: bool = boolean(25)
    channel_shared: bool = boolean(26)
    axes: Longs = longs(27)
    keep_dims: bool = boolean(28)
    reduce_mode: ReduceMode = enum(29, ReduceMode.ReduceMean)
    reduce_to_end: bool = boolean(30)
    coeff: float = real(31)

"""Cases of the rules around convolutions."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Module, Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, ScaleFusion
from mslite.converter.mindir.ops.assembly import Concat, PadFusion, Stack
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import ActivationType, Format, PaddingMode, PadMode
from mslite.converter.mindir.ops.normalization import FusedBatchNorm
from mslite.converter.mindir.ops.rearrange import (
    BatchToSpaceND,
    ExpandDims,
    Reshape,
    SpaceToBatchND,
    Squeeze,
    Transpose,
)
from mslite.converter.passes.graph_edit import changed
from tests.passes.builder import Builder, integers, numbers
from tests.passes.case import Case

CONV = Conv2DFusion(
    format=Format.NHWC, kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.VALID, group=1, in_channel=3,
    out_channel=4,
)  # fmt: skip


def _conv(b: Builder, x: Value, bias: bool = False, pad_mode: PadMode = PadMode.PAD) -> Value:
    """A convolution from 3 to 4 channels."""
    op = Conv2DFusion(
        format=Format.NHWC, kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=pad_mode, pad_list=(1, 1, 0, 1),
        group=1, in_channel=3, out_channel=4,
    )  # fmt: skip
    return b.call(op, x, numbers(4, 3, 3, 3), *([numbers(4)] if bias else []))


def _deconv(b: Builder, x: Value) -> Value:
    op = Conv2dTransposeFusion(
        format=Format.NHWC, kernel_size=(2, 2), stride=(2, 2), dilation=(1, 1), pad_mode=PadMode.PAD,
        pad_list=(0, 0, 0, 0), group=1, in_channel=3, out_channel=4, output_paddings=(0, 0),
    )  # fmt: skip
    return b.call(op, x, numbers(3, 2, 2, 4))


def _norm(b: Builder, x: Value) -> Value:
    return b.call(
        FusedBatchNorm(epsilon=1e-3), x, numbers(4), numbers(4, seed=1), numbers(4, seed=2), np.abs(numbers(4))
    )


def conv_bias(bias: bool) -> Module:
    b = Builder()
    return b.module(b.call(AddFusion(), _conv(b, b.input(1, 5, 6, 3), bias), numbers(1, 1, 1, 4)))


def conv_bias_refused() -> Module:
    b = Builder()
    return b.module(b.call(AddFusion(), _conv(b, b.input(1, 5, 5, 3)), numbers(4, 1)))


def conv_norm(bias: bool) -> Module:
    b = Builder()
    return b.module(_norm(b, _conv(b, b.input(2, 5, 6, 3), bias)))


def deconv_norm() -> Module:
    b = Builder()
    return b.module(_norm(b, _deconv(b, b.input(1, 3, 3, 3))))


def conv_norm_refused() -> Module:
    b = Builder()
    y = _conv(b, b.input(1, 5, 6, 3))
    return b.module(_norm(b, y), y)


def conv_scale() -> Module:
    b = Builder()
    y = _conv(b, b.input(1, 5, 6, 3), bias=True)
    return b.module(b.call(ScaleFusion(axis=3), y, numbers(4), numbers(4, seed=3)))


def conv_multiply() -> Module:
    b = Builder()
    return b.module(b.call(MulFusion(), numbers(4), _conv(b, b.input(1, 5, 6, 3), bias=True)))


def conv_scale_refused() -> Module:
    b = Builder()
    return b.module(b.call(MulFusion(), _conv(b, b.input(1, 5, 5, 3)), numbers(4, 1)))


def conv_activation(kind: ActivationType) -> Module:
    b = Builder()
    y = _conv(b, b.input(1, 5, 6, 3), bias=True)
    return b.module(b.call(Activation(activation_type=kind, max_val=6.0), y))


def padded(value: float, pad_mode: PadMode) -> Module:
    b = Builder()
    paddings = integers(0, 0, 1, 2, 2, 1, 0, 0).reshape(4, 2)
    x = b.call(PadFusion(padding_mode=PaddingMode.CONSTANT), b.input(1, 5, 6, 3), paddings, np.float32(value))
    return b.module(_conv(b, x, pad_mode=pad_mode))


def activation_behind_transpose(kind: ActivationType) -> Module:
    b = Builder()
    y = b.call(Transpose(), _conv(b, b.input(1, 5, 6, 3)), integers(0, 3, 1, 2))
    return b.module(b.call(Activation(activation_type=kind), y))


def blocked(own: tuple[int, int] = (3, 1), more: int = 0, stride: int = 1) -> Module:
    """Output size as TensorFlow computes it: paddings `own` and output padding, which is cropped; the rest is an input with 0."""
    b = Builder()
    x, rest = b.input(1, 8, 10, 3), b.input(1, dtype=np.int32)
    after = b.call(AddFusion(), rest, integers(own[1]))
    paddings = b.call(Reshape(), b.call(Concat(axis=0), integers(own[0]), after, integers(1, 1)), integers(2, 2))
    end = b.call(AddFusion(), rest, rest) if more else rest
    crops = b.call(Stack(axis=0), b.call(Concat(axis=0), integers(0), end), integers(0, 0))
    y = b.call(SpaceToBatchND(), x, integers(2, 3), paddings)
    y = b.call(changed(CONV, stride=(stride, stride)), y, numbers(4, 3, 3, 3), numbers(4))
    return b.module(b.call(BatchToSpaceND(), y, integers(2, 3), crops))


def blocked_sequence(column: bool = False) -> Module:
    b = Builder()
    y = b.call(SpaceToBatchND(block_shape=(2,), paddings=((4, 2),)), b.input(2, 10, 3))
    y = b.call(ExpandDims(), y, np.int32(2 if column else 1))
    op = changed(CONV, kernel_size=(3, 1) if column else (1, 3))
    y = b.call(op, y, numbers(4, 3, 1, 3) if column else numbers(4, 1, 3, 3))
    y = b.call(Squeeze(axis=(2 if column else 1,)), y)
    return b.module(b.call(BatchToSpaceND(block_shape=(2,), crops=((0, 1),)), y))


CASES = {
    "DilatedConvFusion": Case(
        (
            (blocked, ["Conv2DFusion"]),
            (lambda: blocked((1, 3)), ["Conv2DFusion"]),
            (blocked_sequence, ["ExpandDims", "Conv2DFusion", "Squeeze"]),
            (lambda: blocked_sequence(True), ["ExpandDims", "Conv2DFusion", "Squeeze"]),
        ),
        lambda: blocked(more=1),
        "difference of paddings and crops",
    ),
    "ActivationTransposeSwap": Case(
        ((lambda: activation_behind_transpose(ActivationType.RELU), ["Conv2DFusion", "Activation", "Transpose"]),),
        lambda: activation_behind_transpose(ActivationType.TANH),
        "only RELU and RELU6",
    ),
    "ConvBiasaddFusion": Case(
        ((lambda: conv_bias(False), ["Conv2DFusion"]), (lambda: conv_bias(True), ["Conv2DFusion"])),
        conv_bias_refused,
        "not one float32 number per channel",
    ),
    "ConvBatchNormFusion": Case(
        (
            (lambda: conv_norm(False), ["Conv2DFusion"]),
            (lambda: conv_norm(True), ["Conv2DFusion"]),
            (deconv_norm, ["Conv2dTransposeFusion"]),
        ),
        conv_norm_refused,
        "used elsewhere",
    ),
    "ConvScaleFusion": Case(
        ((conv_scale, ["Conv2DFusion"]), (conv_multiply, ["Conv2DFusion"])), conv_scale_refused, "per channel"
    ),
    "ConvActivationFusion": Case(
        (
            (lambda: conv_activation(ActivationType.RELU), ["Conv2DFusion"]),
            (lambda: conv_activation(ActivationType.RELU6), ["Conv2DFusion"]),
        ),
        lambda: conv_activation(ActivationType.SIGMOID),
        "only RELU and RELU6",
    ),
    "ConvPadFusion": Case(
        (
            (lambda: padded(0, PadMode.PAD), ["Conv2DFusion"]),
            (lambda: padded(0, PadMode.VALID), ["Conv2DFusion"]),
        ),
        lambda: padded(1, PadMode.PAD),
        "not zero",
    ),
}

"""Convolutions. Weights in TensorFlow Lite are [out, kh, kw, in], for depthwise convolutions [1, kh, kw, out]."""

from __future__ import annotations

from typing import Any

from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion

from .call import SAME, VALID, Call
from .registry import writes


@writes("Conv2DFusion")
def convolution(call: Call) -> None:
    op = call.op
    assert isinstance(op, Conv2DFusion)
    channels = call.shape()[3]
    out, height, width, depth = call.shape(1)
    stride, dilation = op.stride or (1, 1), op.dilation or (1, 1)
    x = call.input()
    padding = call.padding(op.pad_mode, op.pad_list or (0,) * 4, (height, width), stride, dilation)
    if padding is None:
        x, padding = call.bordered(op.pad_list), VALID
    options: dict[str, Any] = {
        "padding": padding,
        "stride_h": stride[0],
        "stride_w": stride[1],
        "dilation_h": dilation[0],
        "dilation_w": dilation[1],
        "activation": call.fused(op.activation_type),
    }
    if depth == 1 and channels > 1:
        weight = call.weight(1, (3, 1, 2, 0), axis=3)
        call.emit("DEPTHWISE_CONV_2D", [x, weight, call.bias(2, out)], multiplier=out // channels, **options)
        return
    call.emit("CONV_2D", [x, call.weight(1), call.bias(2, out)], **options)


@writes("Conv2dTransposeFusion")
def transposed(call: Call) -> None:
    op = call.op
    assert isinstance(op, Conv2dTransposeFusion)
    if op.group > 1:
        raise call.refuse("it is a grouped convolution")
    _, height, width, _ = call.shape(1)
    stride = op.stride or (1, 1)
    pads = op.pad_list or (0,) * 4
    same = []
    for size, kernel, step, result in zip(
        call.shape()[1:3], (height, width), stride, call.output_shape[1:3], strict=True
    ):
        total = max((size - 1) * step + kernel - result, 0)
        same += [total // 2, total - total // 2]
    if any(pads) and tuple(pads) != tuple(same):
        raise call.refuse(f"TensorFlow Lite does not support the padding {tuple(pads)}")
    if max(op.dilation or (1,)) > 1:
        raise call.refuse("it is dilated")
    operands = [call.constant("size", call.output_shape), call.weight(1, (3, 1, 2, 0)), call.input()]
    operands.append(call.bias(2, call.output_shape[3]))
    call.emit(
        "TRANSPOSE_CONV",
        operands,
        padding=SAME if any(pads) else VALID,
        stride_h=stride[0],
        stride_w=stride[1],
        activation=call.fused(op.activation_type),
    )

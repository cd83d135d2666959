"""Convolutions of volumes [N, C, D, H, W] by those of images."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Shape, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import Format, PaddingMode, PadMode
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose

from .call import Blob, Call
from .windows import Window


def conv_volume(
    call: Call, x: Blob, shape: Shape, weight: Array, bias: Value | None, group: int, window: Window
) -> Value:
    """One convolution of images per depth of the kernel, on the slices that it meets, summed up."""
    n, c, _, h, w = x.shape
    _, out_c, out_d, out_h, out_w = shape
    value, depth_pad = x.value, window.pad[0]
    if depth_pad:
        rows = ((0, 0), (0, 0), (depth_pad, depth_pad), (0, 0), (0, 0))
        value = call.emit(PadFusion(padding_mode=PaddingMode.CONSTANT), value, call.ints(rows))
    op = Conv2DFusion(
        format=Format.NCHW,
        kernel_size=window.kernel[1:],
        stride=window.stride[1:],
        dilation=window.dilation[1:],
        pad_mode=PadMode.PAD,
        pad_list=(window.pad[1], window.pad[1], window.pad[2], window.pad[2]),
        mode=1,
        group=group,
        in_channel=c,
        out_channel=out_c,
    )
    total: Value | None = None
    for depth in range(window.kernel[0]):
        start = depth * window.dilation[0]
        stop = start + (out_d - 1) * window.stride[0] + 1
        bounds = [call.ints((bound,)) for bound in (start, stop, 2, window.stride[0])]
        turned = call.emit(Transpose(), call.emit(StridedSlice(), value, *bounds), call.ints((0, 2, 1, 3, 4)))
        images = call.emit(Reshape(), turned, call.ints((n * out_d, c, h, w)))
        layer = call.const(np.ascontiguousarray(weight[:, :, depth].transpose(0, 2, 3, 1)))
        operands = (images, layer) if bias is None or total is not None else (images, layer, bias)
        result = call.emit(op, *operands)
        total = result if total is None else call.emit(AddFusion(), total, result)
    assert total is not None
    stacked = call.emit(Reshape(), total, call.ints((n, out_d, out_c, out_h, out_w)))
    return call.emit(Transpose(), stacked, call.ints((0, 2, 1, 3, 4)))

"""Random calls of image operators: odd paddings, strides, dilations and groups, empty batches, windows of all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import convolution, normalization, pooling, rearrange, resize
from mslite.converter.mindir.ops.enums import (
    ActivationType,
    CoordinateTransformMode,
    Format,
    NearestMode,
    PadMode,
    ResizeMethod,
    RoundMode,
)

from .random_calls import Call, Draw, normal


def _pair(draw: Draw, low: int, high: int) -> tuple[int, int]:
    return draw(st.integers(low, high)), draw(st.integers(low, high))


def _window(draw: Draw, most: int = 4) -> dict[str, Any]:
    """Common attributes of convolutions, and an image size with at least one window."""
    kernel, dilation = _pair(draw, 1, most), _pair(draw, 1, 2)
    strides = st.sampled_from((1, 2, 3, 9))  # 9: all windows may be in the padding
    stride = draw(strides), draw(strides)
    span = [(kernel[i] - 1) * dilation[i] + 1 for i in range(2)]
    pads = tuple(draw(st.integers(0, 3)) for _ in range(4))
    mode = draw(st.sampled_from((PadMode.PAD, PadMode.SAME, PadMode.VALID)))
    least = [span[0] - pads[0] - pads[1], span[1] - pads[2] - pads[3]] if mode is PadMode.PAD else span
    size = tuple(max(1, low, draw(st.integers(1, 11))) for low in least)
    return {"kernel": kernel, "stride": stride, "dilation": dilation, "pads": pads, "mode": mode, "size": size}


@st.composite
def convolutions(draw: Draw) -> Call:
    w = _window(draw)
    group = draw(st.sampled_from((1, 1, 2, 3, 5)))
    channels, outputs = group * draw(st.integers(1, 9)), group * draw(st.integers(1, 9))
    if draw(st.integers(0, 3)) == 0:  # depthwise
        group = outputs = channels
    batch = draw(st.integers(0, 3))
    x = normal(draw, (batch, *w["size"], channels))
    weight = normal(draw, (outputs, *w["kernel"], channels // group), -0.5, 0.5)
    op = convolution.Conv2DFusion(
        kernel_size=w["kernel"],
        stride=w["stride"],
        dilation=w["dilation"],
        pad_mode=w["mode"],
        pad_list=w["pads"],
        group=group,
        in_channel=channels,
        out_channel=outputs,
        activation_type=draw(st.sampled_from((ActivationType.NO_ACTIVATION, ActivationType.RELU6))),
        format=Format.NHWC,
    )
    if draw(st.booleans()):
        return Call(op, (x, weight, normal(draw, (outputs,))), (1, 2), 4e-5)
    return Call(op, (x, weight), (1,), 4e-5)


@st.composite
def transposed_convolutions(draw: Draw) -> Call:
    kernel, stride, dilation = _pair(draw, 1, 4), _pair(draw, 1, 3), _pair(draw, 1, 2)
    size = _pair(draw, 1, 6)
    full = [(size[i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1 for i in range(2)]
    pads = []
    for i in range(2):
        before = draw(st.integers(0, min(2, (full[i] - 1) // 2)))
        pads += [before, draw(st.integers(0, min(2, full[i] - 1 - before)))]
    group = draw(st.sampled_from((1, 1, 2, 3)))
    channels, outputs = group * draw(st.integers(1, 6)), group * draw(st.integers(1, 6))
    op = convolution.Conv2dTransposeFusion(
        kernel_size=kernel,
        stride=stride,
        dilation=dilation,
        pad_mode=PadMode.PAD,
        pad_list=tuple(pads),
        group=group,
        in_channel=channels,
        out_channel=outputs,
        output_paddings=tuple(draw(st.integers(0, stride[i] - 1)) for i in range(2)),
        format=Format.NHWC,
    )
    x = normal(draw, (draw(st.integers(1, 2)), *size, channels))
    weight = normal(draw, (channels, *kernel, outputs // group), -0.5, 0.5)
    return Call(op, (x, weight, normal(draw, (outputs,))), (1, 2), 4e-5)


@st.composite
def pools(draw: Draw, outside: bool = False) -> Call:
    """Average and maximum pooling; `outside`: also averages of windows in the padding, for which no maximum exists."""
    kernel, stride = _pair(draw, 1, 4), _pair(draw, 1, 3)
    kind = draw(st.sampled_from((pooling.AvgPoolFusion, pooling.MaxPoolFusion)))
    outside = outside and kind is pooling.AvgPoolFusion
    most = [kernel[i // 2] if outside else (kernel[i // 2] - 1) // 2 for i in range(4)]
    pads = tuple(draw(st.integers(0, size)) for size in most)
    mode = draw(st.sampled_from((PadMode.PAD, PadMode.SAME, PadMode.VALID)))
    size = tuple(max(kernel[i], draw(st.integers(1, 9))) for i in range(2))
    op = kind(
        kernel_size=kernel,
        strides=stride,
        pad=pads,
        pad_mode=mode,
        round_mode=draw(st.sampled_from((RoundMode.FLOOR, RoundMode.CEIL))) if mode is PadMode.PAD else RoundMode.FLOOR,
        global_=draw(st.integers(0, 5)) == 0,
        format=Format.NHWC,
    )
    return Call(op, (normal(draw, (draw(st.integers(0, 2)), *size, draw(st.integers(1, 19)))),))


@st.composite
def resizes(draw: Draw) -> Call:
    method = draw(st.sampled_from((ResizeMethod.LINEAR, ResizeMethod.NEAREST)))
    op = resize.Resize(
        format=Format.NHWC,
        method=method,
        new_height=draw(st.integers(1, 11)),
        new_width=draw(st.integers(1, 11)),
        coordinate_transform_mode=draw(st.sampled_from(list(CoordinateTransformMode))),
        nearest_mode=draw(st.sampled_from((NearestMode.FLOOR, NearestMode.ROUND_HALF_UP)))
        if method is ResizeMethod.NEAREST
        else NearestMode.NORMAL,
    )
    return Call(op, (normal(draw, (draw(st.integers(1, 2)), *_pair(draw, 1, 8), draw(st.integers(1, 9)))),), (), 3e-5)


@st.composite
def blocks(draw: Draw) -> Call:
    block = draw(st.integers(1, 3))
    batch, height, width, depth = (draw(st.integers(low, 4)) for low in (0, 1, 1, 1))
    if draw(st.booleans()):
        x = normal(draw, (batch, height, width, depth * block * block))
        return Call(rearrange.DepthToSpace(block_size=block, format=Format.NHWC), (x,))
    x = normal(draw, (batch, height * block, width * block, depth))
    return Call(rearrange.SpaceToDepth(block_size=block, format=Format.NHWC), (x,))


@st.composite
def image_normalizations(draw: Draw) -> Call:
    channels = draw(st.integers(1, 17))
    x = normal(draw, (draw(st.integers(1, 2)), *_pair(draw, 1, 7), channels))
    parameters = [normal(draw, (channels,)) for _ in range(3)]
    kind = draw(st.sampled_from(("FusedBatchNorm", "ChannelsLastInstanceNorm", "InstanceNorm")))
    if kind == "ChannelsLastInstanceNorm":
        return Call(normalization.ChannelsLastInstanceNorm(epsilon=1e-2), (x, *parameters[:2]), (1, 2), 3e-5)
    if kind == "InstanceNorm":
        first = np.ascontiguousarray(np.moveaxis(x, -1, 1))
        return Call(normalization.InstanceNorm(epsilon=1e-2), (first, *parameters[:2]), (1, 2), 3e-5)
    variance = np.abs(parameters[2]) + np.float32(0.5)
    return Call(normalization.FusedBatchNorm(epsilon=1e-3), (x, *parameters, variance), (1, 2, 3, 4), 3e-5)

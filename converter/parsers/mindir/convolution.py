"""Convolutions, pooling and resizing of images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.convolution import AdderFusion, Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import (
    CoordinateTransformMode,
    DataType,
    Format,
    NearestMode,
    PadMode,
    ResizeMethod,
    RoundMode,
)
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion
from mslite.converter.mindir.ops.resize import Resize
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.parsers.affine_sizes import sizes_of

from .call import Call
from .layout import in_layout
from .registry import primitive
from .weights import as_channel_last, weight_shape


def _pair(call: Call, default: int, *names: str) -> tuple[int, int]:
    """Returns (height, width) from one number, [h, w], or four numbers in the layout of the image. Raises Blocked."""
    sizes = call.integers(*names)
    if not sizes:
        return default, default
    if len(sizes) == 4:
        sizes = sizes[1:3] if call.format is Format.NHWC else sizes[2:]
    pair = (sizes[0], sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1]) if len(sizes) == 2 else None
    if pair is None or any(not 0 < size < 1 << 31 for size in pair):
        raise call.block(f"{list(sizes)} is not one number or [height, width]", attribute=names[0])
    return pair


def _pads(call: Call, mode: PadMode) -> tuple[int, int, int, int]:
    """Returns the padding [top, bottom, left, right]; zeros for pad modes other than PAD. Raises Blocked."""
    if mode is not PadMode.PAD:
        return 0, 0, 0, 0
    given = [call.integers("pad_list"), call.integers("pad", "padding")]
    # MindSpore's shape inference computes `pad_list` from `pad`; it is negative if sizes were unknown.
    pads = next((each for each in given if each and min(each) >= 0), given[1] or given[0] or (0,))
    pads = pads * 4 if len(pads) == 1 else pads
    if len(pads) != 4 or any(not 0 <= pad < 1 << 31 for pad in pads):
        raise call.block(f"{list(pads)} is not [top, bottom, left, right]", attribute="pad")
    return pads[0], pads[1], pads[2], pads[3]


@dataclass(frozen=True)
class _Window:
    kernel: tuple[int, int]
    attributes: dict[str, Any]
    group: int
    first: int
    second: int


_FIXED = "Export with fixed shapes"


def _window(call: Call) -> _Window:
    """Reads the attributes that all convolutions have. Weights are [first, second, kh, kw]. Raises Blocked."""
    first, second, *kernel = weight_shape(call, call.input(1))
    mode = call.choice("pad_mode", PadMode, PadMode.PAD)
    group = call.integer("group", 1, "groups")
    if group < 1 or first % group:
        raise call.block(f"{group} groups do not divide {first} channels", attribute="group")
    attributes = {
        "kernel_size": (kernel[0], kernel[1]),
        "stride": _pair(call, 1, "stride", "strides"),
        "dilation": _pair(call, 1, "dilation", "dilations"),
        "pad_mode": mode,
        "pad_list": _pads(call, mode),
        "group": group,
    }
    return _Window((kernel[0], kernel[1]), attributes, group, first, second)


def _weight(call: Call) -> Value:
    return call.input(1) if call.format is Format.NHWC else as_channel_last(call, call.input(1))


@primitive("Conv2D", operators="Conv2DFusion")
def conv2d(call: Call) -> Value:
    window = _window(call)
    op = Conv2DFusion(mode=1, in_channel=window.second * window.group, out_channel=window.first, **window.attributes)
    bias = call.optional(2)
    return in_layout(call, op, [call.input(0), _weight(call), *([] if bias is None else [bias])], 1)[0]


@primitive("Adder", operators="AdderFusion")
def adder(call: Call) -> Value:
    window = _window(call)
    op = AdderFusion(in_channel=window.second * window.group, out_channel=window.first, **window.attributes)
    return in_layout(call, op, [call.input(0), _weight(call)], 1)[0]


@primitive("DepthwiseConv2dNative", operators="Conv2DFusion")
def depthwise(call: Call) -> Value:
    """Converts a depthwise convolution. Its weight is [multiplier, channels, kh, kw]."""
    multiplier, channels, *kernel = weight_shape(call, call.input(1))
    weight = call.input(1)
    if multiplier != 1 or weight.data is None or call.format is Format.NHWC:
        raise call.block("only constant NCHW weights with a channel multiplier of 1 are supported")
    mode = call.choice("pad_mode", PadMode, PadMode.PAD)
    op = Conv2DFusion(
        kernel_size=(kernel[0], kernel[1]),
        stride=_pair(call, 1, "stride", "strides"),
        dilation=_pair(call, 1, "dilation", "dilations"),
        pad_mode=mode,
        pad_list=_pads(call, mode),
        mode=1,
        group=channels,
        in_channel=channels,
        out_channel=channels,
    )
    derived = call.scope.derived(weight, "depthwise", weight.data.transpose(1, 2, 3, 0))
    return in_layout(call, op, [call.input(0), derived], 1)[0]


def _cut_off(call: Call, window: _Window) -> list[int]:
    """Returns by how much the result is smaller than without padding, in height and width. Raises Blocked.

    The third operand is the shape of the result; it may be computed from the input's shape.
    """
    x, spatial = call.input(0), (1, 2) if call.format is Format.NHWC else (2, 3)
    shape = call.shape(x) or (-1,) * 4
    sizes = sizes_of(call.input(2), x, 4, lambda value: value.data)
    if sizes is None or len(sizes) != 4 or len(shape) != 4:
        raise call.block("the shape of the result (input 2) is computed by an unsupported expression", _FIXED)
    found = []
    for axis, kernel, stride, dilation in zip(
        spatial, window.kernel, window.attributes["stride"], window.attributes["dilation"], strict=True
    ):
        size = sizes[axis]
        beyond = None if size is None else size.beyond(axis, shape[axis], stride)
        if beyond is None:
            raise call.block("the shape of the result (input 2) is not the input's shape times the strides", _FIXED)
        found.append((kernel - 1) * dilation + 1 - beyond)
    return found


@primitive("Conv2DTranspose", "Conv2DBackpropInput", operators="Conv2dTransposeFusion")
def conv2d_transpose(call: Call) -> Value:
    """Converts a transposed convolution. The third operand is the shape of the result, which sets `output_paddings`."""
    window = _window(call)
    mode = window.attributes["pad_mode"]
    extra, pads = (0, 0), window.attributes["pad_list"]
    if len(call.entries) > 2:
        over = _cut_off(call, window)
        if mode is not PadMode.PAD:  # the padding is the same at both ends; an odd one is added at the end
            cut = [max(0, each) for each in over]
            pads = (cut[0] // 2, cut[0] - cut[0] // 2, cut[1] // 2, cut[1] - cut[1] // 2)
        height, width = pads[0] + pads[1] - over[0], pads[2] + pads[3] - over[1]
        if min(height, width) < 0:
            raise call.block("the shape of the result (input 2) does not match its strides and padding")
        extra = (height, width)
    elif mode is not PadMode.PAD:
        raise call.block("pad modes other than PAD need the shape of the result", attribute="pad_mode")
    attributes = window.attributes | {"pad_mode": PadMode.PAD, "pad_list": pads}
    op = Conv2dTransposeFusion(
        mode=1,
        in_channel=window.first,
        out_channel=window.second * window.group,
        output_paddings=extra,
        **attributes,
    )
    return in_layout(call, op, [call.input(0), _weight(call)], 1)[0]


@primitive("MaxPool", "AvgPool", operators="MaxPoolFusion AvgPoolFusion", arguments="x kernel_size strides pad_mode")
def pool(call: Call) -> Value:
    mode = call.choice("pad_mode", PadMode, PadMode.VALID)
    kind = MaxPoolFusion if call.operator == "MaxPool" else AvgPoolFusion
    op = kind(
        kernel_size=_pair(call, 1, "kernel_size", "ksize"),
        strides=_pair(call, 1, "strides", "stride"),
        pad=_pads(call, mode),
        pad_mode=mode,
        round_mode=call.choice("round_mode", RoundMode, RoundMode.FLOOR),
        global_=call.boolean("global"),
    )
    return in_layout(call, op, [call.input(0)], 1)[0]


@primitive(
    "ResizeBilinear",
    "ResizeBilinearV2",
    operators="Resize",
    arguments="image size align_corners half_pixel_centers",
)
def resize_bilinear(call: Call) -> Value:
    return _resize(call, ResizeMethod.LINEAR)


@primitive(
    "ResizeNearestNeighbor",
    "ResizeNearestNeighborV2",
    operators="Resize",
    arguments="input_x size align_corners half_pixel_centers",
)
def resize_nearest(call: Call) -> Value:
    return _resize(call, ResizeMethod.NEAREST)


def _resize(call: Call, method: ResizeMethod) -> Value:
    computed = None
    size: tuple[int, ...] = (0, 0)
    if len(call.entries) > 1 and not call.has("size"):
        computed = call.input(1)
        if call.dtype(computed) is DataType.INT64:
            computed = call.emit(Cast(), computed, call.ints(int(DataType.INT32)))
    else:
        size = call.integers("size") or ()
        if len(size) != 2 or any(not 0 < each < 1 << 31 for each in size):
            raise call.block(f"{list(size)} is not [height, width]", attribute="size")
    coordinates = CoordinateTransformMode.ASYMMETRIC
    if call.boolean("align_corners"):
        coordinates = CoordinateTransformMode.ALIGN_CORNERS
    elif call.boolean("half_pixel_centers"):
        coordinates = CoordinateTransformMode.HALF_PIXEL
    asymmetric = coordinates is CoordinateTransformMode.ASYMMETRIC
    op = Resize(
        method=method,
        new_height=size[0],
        new_width=size[1],
        coordinate_transform_mode=coordinates,
        nearest_mode=NearestMode.FLOOR if asymmetric else NearestMode.ROUND_HALF_UP,
    )
    return in_layout(call, op, [call.input(0)] if computed is None else [call.input(0), computed], 1)[0]

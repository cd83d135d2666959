"""2-D convolutions, depthwise and transposed ones."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import Format, PadMode
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.parsers.affine_sizes import sizes_of

from .call import Call
from .registry import tf_operator


def spatial_pair(call: Call, name: str, channels_first: bool, default: Sequence[int] = (1, 1, 1, 1)) -> tuple[int, int]:
    """Returns (height, width) of an attribute with four elements in the node's data format. Raises Blocked if those of
    batch and channel are not 1."""
    values = call.integers(name, default) or tuple(default)
    if len(values) != 4:
        raise call.block(f"it has {len(values)} elements, not 4", attribute=name)
    batch, *rest = values
    channel = rest.pop(0) if channels_first else rest.pop()
    if batch != 1 or channel != 1:
        raise call.block(f"{list(values)} is not 1 for the batch and the channels", "Use 1 for these dimensions", name)
    if not all(1 <= value < 2**31 for value in rest):
        raise call.block(f"{list(values)} is not positive", attribute=name)
    return rest[0], rest[1]


def padding(call: Call, channels_first: bool) -> tuple[PadMode, tuple[int, int, int, int]]:
    """Returns the pad mode, and [top, bottom, left, right] for explicit padding. Raises Blocked."""
    text = call.text("padding")
    if text in ("SAME", "VALID"):
        return PadMode.SAME if text == "SAME" else PadMode.VALID, (0, 0, 0, 0)
    if text != "EXPLICIT":
        raise call.block(f"the padding '{text}' is unknown", "Use SAME, VALID or EXPLICIT", "padding")
    pads = call.integers("explicit_paddings")
    if len(pads) != 8 or not all(0 <= pad < 2**31 for pad in pads):
        raise call.block(f"{list(pads)} must have a pair for each dimension", attribute="explicit_paddings")
    pairs = [pads[index : index + 2] for index in range(0, 8, 2)]
    channel = pairs.pop(1 if channels_first else 3)
    if any(pairs[0]) or any(channel):
        raise call.block(
            "padding of the batch or the channels is unsupported",
            "Use a Pad node for these dimensions",
            "explicit_paddings",
        )
    return PadMode.PAD, (*pairs[1], *pairs[2])  # type: ignore[return-value]


def weight_shape(call: Call, weight: Value) -> tuple[int, int, int, int]:
    """Returns the weight's shape [height, width, in / group, out]. Raises Blocked."""
    shape = call.require_shape(weight, "a convolution")
    if len(shape) != 4 or min(shape) < 1:
        raise call.block(f"the weight has the shape {list(shape)}, which must have 4 dimensions")
    return shape


def channels_of(call: Call, x: Value, channels_first: bool, otherwise: int) -> int:
    """Returns the number of channels of an image; `otherwise` if it is unknown. Raises Blocked."""
    rank = call.require_rank(x)
    if rank != 4:
        raise call.block(f"the input has {rank} dimensions, not 4")
    assert x.shape is not None
    size = x.shape[1 if channels_first else 3]
    return size if size >= 0 else otherwise


@tf_operator("Conv2D")
def convolution(call: Call) -> Value:
    return conv2d(call, call.input(0), call.input(1))


def conv2d(call: Call, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """Converts a convolution. The weight [kh, kw, in / group, out] becomes [out, kh, kw, in / group]; the group count
    follows from the channels."""
    first = call.channels_first()
    height, width, depth, out = weight_shape(call, weight)
    channels = channels_of(call, x, first, depth)
    if channels % depth or out % max(channels // depth, 1):
        raise call.block(f"{channels} input channels do not match a weight of shape {[height, width, depth, out]}")
    mode, pads = padding(call, first)
    op = Conv2DFusion(
        format=Format.NHWC,
        kernel_size=(height, width),
        stride=spatial_pair(call, "strides", first),
        dilation=spatial_pair(call, "dilations", first),
        pad_mode=mode,
        pad_list=pads,
        mode=1,
        group=channels // depth,
        in_channel=channels,
        out_channel=out,
    )
    operands = [call.transposed(weight, (3, 0, 1, 2)), *([] if bias is None else [bias])]
    return call.spatial(op, x, *operands, channels_first=first)


@tf_operator("DepthwiseConv2dNative")
def depthwise(call: Call) -> Value:
    return depthwise_conv2d(call, call.input(0), call.input(1))


def depthwise_conv2d(call: Call, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """Converts a depthwise convolution. The weight [kh, kw, in, multiplier] becomes [in * multiplier, kh, kw, 1].

    Input channel c is read by outputs c * multiplier to (c + 1) * multiplier - 1.
    """
    first = call.channels_first()
    height, width, channels, multiplier = weight_shape(call, weight)
    if channels_of(call, x, first, channels) != channels:
        raise call.block(f"the input does not have the {channels} channels of the weight")
    mode, pads = padding(call, first)
    out = channels * multiplier
    op = Conv2DFusion(
        format=Format.NHWC,
        kernel_size=(height, width),
        stride=spatial_pair(call, "strides", first),
        dilation=spatial_pair(call, "dilations", first),
        pad_mode=mode,
        pad_list=pads,
        mode=1,
        group=channels,
        in_channel=channels,
        out_channel=out,
    )
    kernel = _depthwise_kernel(call, weight)
    return call.spatial(op, x, kernel, *([] if bias is None else [bias]), channels_first=first)


def _depthwise_kernel(call: Call, weight: Value) -> Value:
    """Returns a weight [kh, kw, channels, multiplier] as [channels * multiplier, kh, kw, 1]."""
    height, width, channels, multiplier = weight_shape(call, weight)
    rows = (height, width, channels * multiplier, 1)
    if weight.data is not None:
        return call.scope.derived(weight, "depthwise", weight.data.reshape(rows).transpose(2, 0, 1, 3))
    return call.emit(Transpose(), call.emit(Reshape(), weight, call.ints(rows)), call.ints((2, 0, 1, 3)))


@tf_operator("Conv2DBackpropInput")
def transposed(call: Call) -> Value:
    """Converts a transposed convolution. Its inputs are sizes, weight [kh, kw, out / group, in], x; the group count
    follows from the channels of the result."""
    first = call.channels_first()
    weight, x = call.input(1), call.input(2)
    height, width, part, depth = weight_shape(call, weight)
    if channels_of(call, x, first, depth) != depth:
        raise call.block(f"the input does not have the {depth} channels of the weight")
    known = call.known_integers(0)
    out = known[1 if first else 3] if known is not None and len(known) == 4 else part
    if out % part or depth % max(out // part, 1):
        raise call.block(
            f"{depth} input channels and {out} output channels do not match a weight of shape {[height, width, part, depth]}"
        )
    return _transposed(call, x, call.transposed(weight, (3, 0, 1, 2)), (height, width), out, out // part)


@tf_operator("DepthwiseConv2dNativeBackpropInput")
def depthwise_transposed(call: Call) -> Value:
    """Converts a transposed depthwise convolution. Its inputs are sizes, weight [kh, kw, out, multiplier], and x with
    out * multiplier channels."""
    first = call.channels_first()
    weight, x = call.input(1), call.input(2)
    height, width, out, multiplier = weight_shape(call, weight)
    if channels_of(call, x, first, out * multiplier) != out * multiplier:
        raise call.block(f"the input does not have the {out * multiplier} channels of the weight")
    kernel = _depthwise_kernel(call, weight)
    return _transposed(call, x, kernel, (height, width), out, out)


def _transposed(call: Call, x: Value, kernel: Value, extents: tuple[int, int], out: int, group: int) -> Value:
    """Emits a transposed convolution. The padding follows from the result's size, an operand. `kernel` is
    [in, kh, kw, out / group]."""
    first = call.channels_first()
    height, width = extents
    stride, dilation = spatial_pair(call, "strides", first), spatial_pair(call, "dilations", first)
    mode, given = padding(call, first)
    spatial = (2, 3) if first else (1, 2)
    assert x.shape is not None
    pads: list[int] = []
    extra: list[int] = []
    for axis, beyond in enumerate(_beyond(call, x, spatial, stride)):
        reach = ((height, width)[axis] - 1) * dilation[axis] + 1
        if mode is PadMode.PAD:
            before, after = given[2 * axis : 2 * axis + 2]
        else:
            total = max(reach - beyond, 0) if mode is PadMode.SAME else 0
            before, after = total // 2, total - total // 2
        pads += [before, after]
        extra.append(beyond - (reach - before - after))
    if min(extra) < 0 or any(more >= step for more, step in zip(extra, stride, strict=True)):
        raise call.block(f"the size of the result (input 0) does not match the input {list(x.shape)}")
    op = Conv2dTransposeFusion(
        format=Format.NHWC,
        kernel_size=(height, width),
        stride=stride,
        dilation=dilation,
        pad_mode=PadMode.PAD,
        pad_list=tuple(pads),
        mode=1,
        group=group,
        in_channel=call.require_size(kernel, 0, "a convolution"),
        out_channel=out,
        output_paddings=tuple(extra),
    )
    return call.spatial(op, x, kernel, channels_first=first)


def _beyond(call: Call, x: Value, spatial: tuple[int, int], stride: tuple[int, int]) -> list[int]:
    """Returns the height and width of the result minus (length - 1) * stride. The sizes are an operand, which may be
    computed from the input's shape. Raises Blocked."""
    assert x.shape is not None
    sizes = sizes_of(call.input(0), x, len(x.shape), call.contents)
    if sizes is not None and len(sizes) == 4:
        sizes = [sizes[axis] for axis in spatial]
    found = []
    for axis, place in enumerate(spatial):
        size = sizes[axis] if sizes is not None and len(sizes) == 2 else None
        if size is not None and size.factor == 0 and size.offset < 1:
            raise call.block(f"the output size {size.offset} is not positive")
        beyond = None if size is None else size.beyond(place, x.shape[place], stride[axis])
        if beyond is None:
            raise call.block(
                "the size of the result (input 0) is computed at run time, and not only from the size of its input",
                "Set --inputShape, or compute output_shape as the input's size times the stride",
            )
        found.append(beyond)
    return found


@tf_operator("Dilation2DBackpropInput", "Dilation2DBackpropFilter", "Conv2DBackpropFilter")
def unsupported(call: Call) -> Value:
    raise call.block("the operator is unsupported", "Replace it by Conv2D or Conv2DBackpropInput")

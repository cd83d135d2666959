"""ONNX convolutions and pooling in 3-D, on [N, C, D, H, W] tensors. Only N may be dynamic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import Format, PadMode
from mslite.converter.parsers.volumes import Builder3D, Kernel, Window2D, Window3D, kernel_layers, same_padding

from .call import Call
from .spatial import Window, pads_attribute, sizes


def volume_shape(call: Call, x: Value) -> tuple[int, ...]:
    """Returns [channels, depth, height, width]; these dimensions must be known."""
    shape = call.shape(x)
    if shape is None or any(size is None for size in shape[1:]):
        raise call.not_known(f"a 3-D window needs the shape of '{x.name}', which is dynamic", "Give --inputShape")
    if len(shape) != 5:
        raise call.block(f"the input has {len(shape)} dimensions, not 5", "Export the model again")
    return tuple(size for size in shape[1:] if size is not None)


def read_window_3d(call: Call, shape: Sequence[int], kernel: tuple[int, ...]) -> Window3D:
    """Reads strides, dilations, pads and auto_pad. `shape`: the result of `volume_shape`, for SAME padding."""
    stride, dilation = sizes(call, "strides", 3, 1), sizes(call, "dilations", 3, 1)
    pads, auto = pads_attribute(call, 3), call.text("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        return same_padding(shape[1:], kernel, stride, dilation, auto == "SAME_LOWER")
    if auto == "VALID":
        pads = (0,) * 6
    elif auto not in ("NOTSET", ""):
        raise call.block(f"'{auto}' is not defined", "Use NOTSET, VALID, SAME_UPPER or SAME_LOWER", "auto_pad")
    return Window3D(kernel, stride, dilation, pads[:3], pads[3:])


def _checked(call: Call, out: tuple[int, ...]) -> tuple[int, ...]:
    if min(out) < 1:
        raise call.block(f"the output would have the size {list(out)}", "Export the model again", "pads")
    return out


def pool_volume(call: Call, x: Value, window: Window3D, pool: Callable[[Value, Window], Value], parts: bool) -> Value:
    """Pools a volume. `pool` pools a 2-D image; `parts`: the last windows may extend past the padding."""
    c, d, h, w = volume_shape(call, x)
    out = window.output_of_parts((d, h, w)) if parts else window.output((d, h, w))

    def flat(image: Value, given: Window2D) -> Value:
        return pool(image, Window(2, given.kernel, given.stride, given.dilation, PadMode.PAD, given.pads))

    volumes = Builder3D(call, Format.NCHW)
    return volumes.channels_first(
        volumes.pool(volumes.channels_last(x), (d, h, w, c), window, _checked(call, out), flat)
    )


def conv_volume(call: Call, x: Value, weight: Value, bias: Value | None, group: int) -> Value:
    """Converts a 3-D convolution. Weight: [out, in / group, depth, height, width]."""
    shape = volume_shape(call, x)
    out, depth, *kernel = call.require_shape(weight, "a 3-D convolution")
    if shape[0] != depth * group or out % group:
        raise call.block(
            f"{shape[0]} input channels in {group} groups do not match the weight's {depth} input channels",
            "Export the model again",
        )
    window = read_window_3d(call, shape, tuple(kernel))
    _checked(call, window.output(shape[1:]))
    volumes = Builder3D(call, Format.NCHW)
    layers = Kernel(kernel_layers(call, weight, (2, 0, 3, 4, 1), kernel[0]), group, shape[0], out)
    return volumes.channels_first(volumes.convolution(volumes.channels_last(x), shape[1:], window, layers, bias))


def conv_transpose_volume(
    call: Call,
    x: Value,
    weight: Value,
    bias: Value | None,
    group: int,
    window: Window3D,
    extra: Sequence[int],
) -> Value:
    """Converts a 3-D transposed convolution. Weight: [in, out / group, depth, height, width].

    `extra`: the output padding.
    """
    shape = volume_shape(call, x)
    weight_shape = call.require_shape(weight, "a 3-D convolution")
    if shape[0] != weight_shape[0]:
        raise call.block(
            f"{shape[0]} input channels do not match the weight's {weight_shape[0]} input channels",
            "Export the model again",
        )
    _checked(call, window.transposed_output(shape[1:], extra))
    volumes = Builder3D(call, Format.NCHW)
    planes = kernel_layers(call, weight, (2, 0, 3, 4, 1), weight_shape[2])
    layers = Kernel(planes, group, shape[0], weight_shape[1] * group)
    result = volumes.transposed(volumes.channels_last(x), shape[1:], window, layers, extra, bias)
    return volumes.channels_first(result)

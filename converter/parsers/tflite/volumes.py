"""3-D convolutions of [N, D, H, W, C]; only N may be dynamic."""

from __future__ import annotations

from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops.enums import Format, PadMode
from mslite.converter.parsers.volumes import Builder3D, Kernel, Window3D, kernel_layers, same_padding

from .call import Call
from .convolution import output_size
from .registry import tflite_operator

_AXES = ("d", "h", "w")


def _triple(call: Call, name: str) -> tuple[int, ...]:
    values = tuple(call.options.integer(f"{name}_{axis}") for axis in _AXES)
    if min(values) < 1:
        raise call.block(f"{name} {values} is not positive", attribute=name)
    return values


def _kernel(call: Call, index: int) -> Array:
    value = call.weight(index)
    if value.data is None:
        raise call.block("the weight is computed at run time", "Export the model with a constant weight")
    if value.data.ndim != 5 or not value.data.size:
        raise call.block(f"the weight has the shape {value.data.shape}, not 5 dimensions")
    return value.data


def _sizes(call: Call, index: int, channels: int, weight: Array) -> tuple[int, ...]:
    """Returns [depth, height, width] of an input. Raises Blocked if it does not have `channels` channels."""
    shape = call.shape(index)
    if len(shape) != 5 or shape[4] != channels or min(shape[1:]) < 1:
        raise call.block(f"the input {shape} does not match a weight of shape {weight.shape}")
    return shape[1:4]


def _window(call: Call, sizes: tuple[int, ...], kernel: tuple[int, ...]) -> Window3D:
    """Returns the window of a convolution for input sizes `sizes`."""
    stride, dilation = _triple(call, "stride"), _triple(call, "dilation")
    if call.pad_mode() is PadMode.SAME:
        return same_padding(sizes, kernel, stride, dilation)
    return Window3D(kernel, stride, dilation, (0, 0, 0), (0, 0, 0))


@tflite_operator("CONV_3D")
def convolution(call: Call) -> Value:
    """Converts CONV_3D. Its weight is [kd, kh, kw, in, out]."""
    weight = _kernel(call, 1)
    sizes = _sizes(call, 0, weight.shape[3], weight)
    window = _window(call, sizes, weight.shape[:3])
    if min(window.output(sizes)) < 1:
        raise call.block(f"a kernel of {weight.shape[:3]} is larger than the input {call.shape(0)}")
    layers = kernel_layers(call, weight, (0, 4, 1, 2, 3), weight.shape[0])
    kernel = Kernel(layers, 1, weight.shape[3], weight.shape[4])
    volumes = Builder3D(call, Format.NHWC)
    return call.activated(volumes.convolution(call.input(0), sizes, window, kernel, call.optional_weight(2)))


@tflite_operator("CONV_3D_TRANSPOSE")
def transposed(call: Call) -> Value:
    """Converts CONV_3D_TRANSPOSE. Its inputs are output_shape, weight [kd, kh, kw, out, in], x, [bias]."""
    size, weight = output_size(call, 5), _kernel(call, 1)
    sizes = _sizes(call, 2, weight.shape[4], weight)
    if len(size) != 5 or size[4] != weight.shape[3] or min(size[1:]) < 1:
        raise call.block(f"the output shape {size} does not match a weight of shape {weight.shape}")
    window = _window(call, size[1:4], weight.shape[:3])
    extra = [wanted - made for wanted, made in zip(size[1:4], window.transposed_output(sizes, (0, 0, 0)), strict=True)]
    if min(extra) < 0 or any(more >= step for more, step in zip(extra, window.stride, strict=True)):
        raise call.block(f"the output size {size[1:4]} does not match the input {sizes}")
    layers = kernel_layers(call, weight, (0, 4, 1, 2, 3), weight.shape[0])
    kernel = Kernel(layers, 1, weight.shape[4], size[4])
    volumes = Builder3D(call, Format.NHWC)
    return call.activated(volumes.transposed(call.input(2), sizes, window, kernel, extra, call.optional_weight(3)))

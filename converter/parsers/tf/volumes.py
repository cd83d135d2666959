"""3-D convolution and pooling; only the batch may be dynamic."""

from __future__ import annotations

from collections.abc import Callable

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import PadMode, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion
from mslite.converter.parsers.affine_sizes import sizes_of
from mslite.converter.parsers.volumes import (
    TO_CHANNELS_FIRST,
    TO_CHANNELS_LAST,
    Builder3D,
    Kernel,
    Window2D,
    Window3D,
    kernel_layers,
    same_padding,
)

from .call import Call
from .registry import tf_operator


def _triple(call: Call, name: str, first: bool) -> tuple[int, ...]:
    values = call.integers(name, (1,) * 5) or (1,) * 5
    if len(values) != 5 or not all(1 <= value < 2**31 for value in values):
        raise call.block(f"{list(values)} is not five positive numbers", attribute=name)
    if values[0] != 1 or values[1 if first else 4] != 1:
        raise call.block(f"{list(values)} is not 1 for the batch and the channels", "Use 1 for these dimensions", name)
    return values[2:] if first else values[1:4]


def _window(call: Call, sizes: tuple[int, ...], kernel: tuple[int, ...], first: bool) -> Window3D:
    """Returns the window of a convolution with strides, dilations and padding for input sizes `sizes`. Raises
    Blocked."""
    stride, dilation = _triple(call, "strides", first), _triple(call, "dilations", first)
    text = call.text("padding")
    if text not in ("SAME", "VALID"):
        raise call.block(f"the padding '{text}' is unsupported", "Use SAME or VALID", "padding")
    if text == "SAME":
        window = same_padding(sizes, kernel, stride, dilation)
    else:
        window = Window3D(kernel, stride, dilation, (0, 0, 0), (0, 0, 0))
    if min(window.output(sizes)) < 1:
        raise call.block(f"a window of {list(kernel)} is larger than the input {list(sizes)}")
    return window


def _volume(call: Call, x: Value, first: bool) -> tuple[Value, tuple[int, ...]]:
    """Returns x with channels last, and its [depth, height, width, channels]. Raises Blocked."""
    rank = call.require_rank(x)
    if rank != 5:
        raise call.block(f"the input has {rank} dimensions, not 5")
    order = TO_CHANNELS_LAST if first else (0, 1, 2, 3, 4)
    sizes = tuple(call.require_size(x, axis, "a 3-D window") for axis in order[1:])
    return (call.transposed(x, order) if first else x), sizes


def _restored(call: Call, value: Value, first: bool) -> Value:
    return call.transposed(value, TO_CHANNELS_FIRST) if first else value


def _volumes(call: Call) -> Builder3D:
    return Builder3D(call, call.scope.session.layout)


def _kernel(call: Call, index: int) -> tuple[list[Value], tuple[int, ...]]:
    """Returns a weight [depth, height, width, second, first] as layers along depth, and its shape. Raises Blocked."""
    weight = call.input(index)
    shape = call.require_shape(weight, "a 3-D convolution")
    if len(shape) != 5 or min(shape) < 1:
        raise call.block(f"the weight has the shape {list(shape)}, which must have 5 dimensions")
    return kernel_layers(call, weight, (0, 4, 1, 2, 3), shape[0]), shape


@tf_operator("Conv3D")
def conv_3d(call: Call) -> Value:
    first = call.channels_first()
    x, (*sizes, channels) = _volume(call, call.input(0), first)
    layers, (*extents, depth, out) = _kernel(call, 1)
    if channels % depth or out % max(channels // depth, 1):
        raise call.block(f"{channels} input channels do not match a weight of shape {[*extents, depth, out]}")
    window = _window(call, tuple(sizes), tuple(extents), first)
    kernel = Kernel(layers, channels // depth, channels, out)
    return _restored(call, _volumes(call).convolution(x, sizes, window, kernel), first)


@tf_operator("Conv3DBackpropInput", "Conv3DBackpropInputV2")
def conv_3d_transposed(call: Call) -> Value:
    """Converts Conv3DBackpropInput. Its inputs are sizes of the result, weight [kd, kh, kw, out, in], x.

    In the first version, the first input is a tensor of the result's shape instead of the sizes.
    """
    first = call.channels_first()
    x, (*sizes, channels) = _volume(call, call.input(2), first)
    layers, (*extents, out, depth) = _kernel(call, 1)
    if call.operator == "Conv3DBackpropInput":
        wanted = call.require_shape(call.input(0), "the size of the result")
    else:
        wanted = _result_shape(call, first, out)
    if len(wanted) != 5 or channels != depth or wanted[1 if first else 4] != out:
        raise call.block(
            f"the result {list(wanted)}, the weight {[*extents, out, depth]} and {channels} input channels do not match",
            "Split a grouped convolution into one for each group",
        )
    result = tuple(wanted[2:] if first else wanted[1:4])
    if min(result) < 1:
        raise call.block(f"the output size {list(result)} is not positive")
    window = _window(call, result, tuple(extents), first)
    plain = window.transposed_output(sizes, (0, 0, 0))
    extra = [size - made for size, made in zip(result, plain, strict=True)]
    if min(extra) < 0 or any(more >= step for more, step in zip(extra, window.stride, strict=True)):
        raise call.block(f"the output size {list(result)} does not match the input {list(sizes)}")
    kernel = Kernel(layers, 1, channels, out)
    return _restored(call, _volumes(call).transposed(x, sizes, window, kernel, extra), first)


def _result_shape(call: Call, first: bool, out: int) -> tuple[int, ...]:
    """Returns the shape of the result of a transposed convolution, from its operand; -1 for a dynamic batch. Raises
    Blocked."""
    known = call.known_integers(0)
    if known is not None:
        return known
    given = sizes_of(call.input(0), call.input(2), 5, call.contents) or []
    result = [size.offset for size in (given[2:] if first else given[1:4]) if size is not None and not size.factor]
    if len(given) != 5 or len(result) != 3:
        raise call.block("the size of the result (input 0) is computed at run time", "Set --inputShape")
    return (-1, out, *result) if first else (-1, *result, out)


@tf_operator("MaxPool3D", "AvgPool3D")
def pool_3d(call: Call) -> Value:
    first = call.channels_first()
    x, shape = _volume(call, call.input(0), first)
    window = _window(call, shape[:3], _triple(call, "ksize", first), first)
    kind: Callable[..., Operator] = MaxPoolFusion if call.operator == "MaxPool3D" else AvgPoolFusion
    volumes = _volumes(call)

    def pool(image: Value, flat: Window2D) -> Value:
        op = kind(
            kernel_size=flat.kernel,
            strides=flat.stride,
            pad=flat.pads,
            pad_mode=PadMode.PAD,
            round_mode=RoundMode.FLOOR,
            format=volumes.layout,
        )
        return call.emit(op, image)

    return _restored(call, volumes.pool(x, shape, window, window.output(shape[:3]), pool), first)

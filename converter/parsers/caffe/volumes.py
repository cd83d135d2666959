"""3-D convolutions, [N, C, D, H, W]."""

from __future__ import annotations

from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.volumes import Builder3D, Kernel, Window3D, kernel_layers

from .call import Blob, Call
from .windows import Window


def conv_volume(
    call: Call, x: Blob, weight: Array, bias: list[Value], group: int, window: Window, transposed: bool
) -> Value:
    """Emits a 3-D convolution. The weight is [out, in / group, depth, height, width], or [in, out / group, ...] if
    transposed."""
    volumes = Builder3D(call, Format.NCHW)
    volume = Window3D(window.kernel, window.stride, window.dilation, window.pad, window.pad)
    outputs = weight.shape[1] * group if transposed else weight.shape[0]
    layers = kernel_layers(call, weight, (2, 0, 3, 4, 1), weight.shape[2])
    kernel = Kernel(layers, group, x.shape[1], outputs)
    call.scope.depends_on_input_sizes = True
    value, sizes = volumes.channels_last(x.value), x.shape[2:]
    if transposed:
        result = volumes.transposed(value, sizes, volume, kernel, (0, 0, 0), *bias)
    else:
        result = volumes.convolution(value, sizes, volume, kernel, *bias)
    return volumes.channels_first(result)

"""3-D convolution and pooling of `mindspore.mint`, [N, C, D, H, W]. MindSpore 2.10 exports them on any machine, but
runs them only on Ascend."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import PadMode, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolExtended
from mslite.converter.mindir.ops.rearrange import ExpandDims, Squeeze
from mslite.converter.parsers.volumes import Builder3D, Kernel, Window2D, Window3D, kernel_layers

from .call import Call
from .registry import primitive

_MODES = {0: "pad", 1: "same", 2: "valid"}


def _three(call: Call, name: str, default: int, least: int) -> tuple[int, ...]:
    """Returns (depth, height, width) of an attribute. Raises Blocked."""
    given = call.integers(name) or (default,)
    given = given * 3 if len(given) == 1 else given
    if len(given) != 3 or any(not least <= number < 1 << 31 for number in given):
        raise call.block(f"{list(given)} must have 3 sizes", attribute=name)
    return given


def _volume(call: Call) -> tuple[Value, tuple[int, ...], bool]:
    """Returns the operand as [N, C, D, H, W], its sizes without N, and whether N was inserted. Raises Blocked."""
    x = call.input(0)
    shape = call.shape(x)
    if shape is None or len(shape) not in (4, 5):
        raise call.block(f"the rank of '{x.name}' is unknown, or not 4 or 5")
    if any(size < 0 for size in shape[-4:]):
        raise call.block(f"a 3-D window needs the shape of '{x.name}', which is not fixed", "Export with fixed shapes")
    if len(shape) == 5:
        return x, shape[1:], False
    return call.emit(ExpandDims(), x, call.ints(0)), shape, True


def _checked(call: Call, window: Window3D, out: tuple[int, ...]) -> Window3D:
    if min(out) < 1:
        raise call.block(f"the result would have the size {list(out)}")
    return window


@primitive(
    *("Conv3DExt", "Conv3DPadding"),
    operators="Conv2DFusion AddFusion",
    arguments="input weight bias stride padding dilation groups",
)
def convolution(call: Call) -> Value:
    """Converts a 3-D convolution. Weights are [out, in / groups, depth, height, width]; `padding` is the same at both
    ends, or "same" or "valid"."""
    x, (channels, *sizes), is_new = _volume(call)
    weight = call.input(1)
    out, depth, *kernel = call.require_shape(weight, "a 3-D convolution")
    groups = call.integer("groups", 1)
    if len(kernel) != 3 or groups < 1 or channels != depth * groups or out % groups:
        raise call.block(f"{channels} channels in {groups} groups do not match the weight {[out, depth, *kernel]}")
    spread = _three(call, "dilation", 1, 1)
    begin, end = _borders(call, kernel, spread)
    window = Window3D(tuple(kernel), _three(call, "stride", 1, 1), spread, begin, end)
    _checked(call, window, window.output(sizes))
    volumes = Builder3D(call, call.scope.layout)
    layers = Kernel(kernel_layers(call, weight, (2, 0, 3, 4, 1), kernel[0]), groups, channels, out)
    made = volumes.convolution(volumes.channels_last(x), sizes, window, layers, call.optional(2))
    return _taken_out(call, volumes.channels_first(made), is_new)


def _taken_out(call: Call, x: Value, is_new: bool) -> Value:
    return call.emit(Squeeze(axis=(0,)), x) if is_new else x


def _borders(call: Call, kernel: list[int], spread: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the padding at the beginning and at the end; for "same", an odd one is added at the end."""
    if not call.operator.endswith(("Padding", "Str")):
        given = _three(call, "padding", 0, 0)
        return given, given
    mode = call.attribute("padding")
    mode = _MODES.get(mode, "") if isinstance(mode, int) else mode
    if mode not in ("same", "valid"):
        raise call.block(f"{mode!r} is neither 'same' nor 'valid'", attribute="padding")
    total = [(size - 1) * step if mode == "same" else 0 for size, step in zip(kernel, spread, strict=True)]
    return tuple(size // 2 for size in total), tuple(size - size // 2 for size in total)


@primitive(
    "AvgPool3DExt",
    operators="AvgPoolExtended",
    arguments="input kernel_size stride padding ceil_mode count_include_pad divisor_override",
)
def average_pool(call: Call) -> Value:
    if call.attribute("divisor_override") is not None:
        raise call.block("a divisor is unsupported", "Multiply the result instead", "divisor_override")
    rounds_up = call.boolean("ceil_mode")
    counted = call.boolean("count_include_pad", True)
    borders = _three(call, "padding", 0, 0)
    if any(borders) and (rounds_up or not counted):
        remedy = "Remove ceil_mode and count_include_pad=False, or pad the input with mint.nn.functional.pad"
        raise call.block(
            "3-D average pooling with padding needs count_include_pad=True and ceil_mode=False", remedy, "padding"
        )
    x, (channels, *sizes), is_new = _volume(call)
    kernel = _three(call, "kernel_size", 1, 1)
    stride = _three(call, "stride", 1, 1) if call.integers("stride") else kernel
    window = Window3D(kernel, stride, (1, 1, 1), borders, borders)
    out = window.output_of_parts(sizes) if rounds_up else window.output(sizes)
    _checked(call, window, out)

    def pool(image: Value, given: Window2D) -> Value:
        op = AvgPoolExtended(
            format=call.scope.layout, kernel_size=given.kernel, strides=given.stride, dilation=given.dilation, pad=given.pads,
            pad_mode=PadMode.PAD, round_mode=RoundMode.CEIL if rounds_up else RoundMode.FLOOR, count_include_pad=any(given.pads),
        )  # fmt: skip
        return call.emit(op, image)

    volumes = Builder3D(call, call.scope.layout)
    made = volumes.pool(volumes.channels_last(x), (*sizes, channels), window, out, pool)
    return _taken_out(call, volumes.channels_first(made), is_new)

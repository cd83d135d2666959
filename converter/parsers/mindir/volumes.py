"""3-D convolution and pooling, [N, C, D, H, W]. MindSpore also exports padded 2-D pooling in this form."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import FloorMod
from mslite.converter.mindir.ops.enums import DataType, Format, PadMode, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolExtended, AvgPoolFusion, MaxPoolExtended, MaxPoolFusion
from mslite.converter.mindir.ops.rearrange import ExpandDims, Squeeze
from mslite.converter.mindir.ops.windows import MaxPoolWithIndices
from mslite.converter.parsers.volumes import Builder3D, Kernel, Window2D, Window3D, kernel_layers, same_padding

from .call import Call
from .entries import Entry, Sequence, UnsupportedResult
from .registry import primitive


def _shape(call: Call, x: Value) -> tuple[int, ...]:
    """Returns [channels, depth, height, width]. Raises Blocked if they are not fixed."""
    shape = call.shape(x)
    if shape is None or len(shape) != 5:
        raise call.block(f"its input has {'an unknown number of' if shape is None else len(shape)} dimensions, not 5")
    if any(size < 0 for size in shape[1:]):
        raise call.block(f"a 3-D window needs the shape of '{x.name}', which is not fixed", "Export with fixed shapes")
    return shape[1:]


def _three(call: Call, name: str, *others: str) -> tuple[int, ...]:
    """Returns (depth, height, width) of an attribute with one, three or five numbers; the last three of five are
    used."""
    found = call.integers(name, *others) or (1,)
    found = found * 3 if len(found) == 1 else found[-3:]
    if len(found) != 3 or any(not 0 < number < 2**31 for number in found):
        raise call.block(
            f"{list(found)} must have a positive number for each of depth, height and width", attribute=name
        )
    return found


def _window(call: Call, sizes: tuple[int, ...], kernel: tuple[int, ...]) -> Window3D:
    steps, spread = _three(call, "strides", "stride"), _three(call, "dilations", "dilation")
    mode = call.choice("pad_mode", PadMode, PadMode.VALID)
    if mode is PadMode.SAME:
        return same_padding(sizes, kernel, steps, spread)
    pads = (call.integers("pad_list", "pad") or (0,)) if mode is PadMode.PAD else (0,)
    pads = pads * 6 if len(pads) == 1 else pads
    if len(pads) != 6 or min(pads) < 0:
        raise call.block(
            f"{list(pads)} must have two non-negative numbers for each of depth, height and width", attribute="pad_list"
        )
    return Window3D(kernel, steps, spread, pads[::2], pads[1::2])


@primitive("Conv3D", operators="Conv2DFusion AddFusion", arguments="x weight")
def conv_3d(call: Call) -> Value:
    """Converts Conv3D. Its weight is [out, in / group, depth, height, width]."""
    x, weight = call.input(0), call.input(1)
    channels, *sizes = _shape(call, x)
    out, depth, *kernel = call.require_shape(weight, "a 3-D convolution")
    group = call.integer("group", 1, "groups")
    if channels != depth * group or out % group:
        raise call.block(
            f"{channels} channels in {group} groups do not match the weight, which has {depth} for each group"
        )
    window = _window(call, tuple(sizes), tuple(kernel))
    if min(window.output(sizes)) < 1:
        raise call.block(f"the result would have the size {list(window.output(sizes))}")
    volumes = Builder3D(call, call.scope.layout)
    layers = Kernel(kernel_layers(call, weight, (2, 0, 3, 4, 1), kernel[0]), group, channels, out)
    return volumes.channels_first(volumes.convolution(volumes.channels_last(x), sizes, window, layers))


@primitive("Conv3DTranspose", operators="Conv2dTransposeFusion AddFusion", arguments="x weight")
def conv_transpose_3d(call: Call) -> Value:
    """Converts Conv3DTranspose. Its weight is [in, out / group, depth, height, width]; with SAME, the output size is
    the input size times the stride."""
    x, weight = call.input(0), call.input(1)
    channels, *sizes = _shape(call, x)
    before, out, *kernel = call.require_shape(weight, "a 3-D transposed convolution")
    group = call.integer("group", 1, "groups")
    if channels != before:
        raise call.block(f"{channels} channels do not match the weight, which has {before}")
    extra = (call.integers("output_padding") or (0, 0, 0))[-3:]
    steps, spread = _three(call, "strides", "stride"), _three(call, "dilations", "dilation")
    if call.choice("pad_mode", PadMode, PadMode.VALID) is PadMode.SAME:
        total = [max(0, (k - 1) * d + 1 - s) for k, d, s in zip(kernel, spread, steps, strict=True)]
        begin = tuple(number // 2 for number in total)
        end = tuple(number - first for number, first in zip(total, begin, strict=True))
        window = Window3D(tuple(kernel), steps, spread, begin, end)
    else:
        window = _window(call, tuple(sizes), tuple(kernel))
    if min(window.transposed_output(sizes, extra)) < 1:
        raise call.block(f"the result would have the size {list(window.transposed_output(sizes, extra))}")
    volumes = Builder3D(call, call.scope.layout)
    layers = Kernel(kernel_layers(call, weight, (2, 0, 3, 4, 1), kernel[0]), group, channels, out * group)
    return volumes.channels_first(volumes.transposed(volumes.channels_last(x), sizes, window, layers, extra))


def _pooled(call: Call, window: Window3D, pool: Callable[[Value, Window2D], Value], parts: bool) -> Value:
    """Emits 3-D pooling by 2-D pooling. `pool` emits 2-D pooling; with `parts`, the last windows may exceed the
    padding."""
    x = call.input(0)
    shape = call.shape(x)
    flat = window.kernel[0] == window.stride[0] == 1 and not window.begin[0] and not window.end[0]
    if flat and shape is not None and len(shape) == 5 and shape[2] == 1 and call.scope.layout is Format.NCHW:
        image = call.emit(Squeeze(axis=(2,)), x)  # a 2-D layer with padding
        return call.emit(ExpandDims(), pool(image, window.image()), call.ints(2))
    c, d, h, w = _shape(call, x)
    out = window.output_of_parts((d, h, w)) if parts else window.output((d, h, w))
    if min(out) < 1:
        raise call.block(f"the result would have the size {list(out)}")
    volumes = Builder3D(call, call.scope.layout)
    return volumes.channels_first(volumes.pool(volumes.channels_last(x), (d, h, w, c), window, out, pool))


def _pool_window(call: Call) -> Window3D:
    sizes = call.shape(call.input(0)) or ()
    if call.choice("pad_mode", PadMode, PadMode.VALID) is PadMode.SAME:
        sizes = (0, *_shape(call, call.input(0)))
    return _window(call, tuple(sizes[2:]), _three(call, "kernel_size"))


@primitive("AvgPool3D", operators="AvgPoolFusion AvgPoolExtended", arguments="x")
def average_pool_3d(call: Call) -> Value:
    rounding = RoundMode.CEIL if call.real("ceil_mode", 0) > 0 else RoundMode.FLOOR
    counted = call.real("count_include_pad", 1) > 0
    divisor = call.real("divisor_override", 0)
    if divisor:
        raise call.block(f"the divisor {divisor} is unsupported", "Multiply the result instead", "divisor_override")

    def pool(image: Value, given: Window2D) -> Value:
        if not (counted and any(given.pads)):
            plain = AvgPoolFusion(
                format=call.scope.layout, kernel_size=given.kernel, strides=given.stride, pad=given.pads,
                pad_mode=PadMode.PAD, round_mode=rounding,
            )  # fmt: skip
            return call.emit(plain, image)
        extended = AvgPoolExtended(
            format=call.scope.layout, kernel_size=given.kernel, strides=given.stride, dilation=given.dilation, pad=given.pads,
            pad_mode=PadMode.PAD, round_mode=rounding, count_include_pad=True,
        )  # fmt: skip
        return call.emit(extended, image)

    return _pooled(call, _pool_window(call), pool, rounding is RoundMode.CEIL)


@primitive("MaxPool3D", operators="MaxPoolFusion", arguments="x")
def max_pool_3d(call: Call) -> Value:
    return _max_pool(call, _pool_window(call))


@primitive("MaxPool3DWithArgmax", operators="MaxPoolFusion MaxPoolExtended MaxPoolWithIndices", arguments="x")
def max_pool_with_places(call: Call) -> Entry:
    """Converts MaxPool3DWithArgmax. Indices are those in one channel, [depth, height, width]; a separate node computes
    them."""
    pads = call.integers("pads") or (0,)
    pads = pads * 3 if len(pads) == 1 else pads
    spread = _three(call, "dilation")
    window = Window3D(_three(call, "ksize"), _three(call, "strides"), spread, pads[:3], pads[:3])
    x = call.input(0)
    if any(size < 0 for size in (call.shape(x) or ())[1:]):
        absent = UnsupportedResult(f"the indices of a max pool need the sizes of '{x.name}', which are not fixed")
        return Sequence((_max_pool(call, window), absent))
    op = MaxPoolWithIndices(
        kernel_size=window.kernel, strides=window.stride, dilations=spread, pads=(*pads[:3], *pads[:3]),
        ceil_mode=call.boolean("ceil_mode"),
    )  # fmt: skip
    _, places = (call.value(each) for each in call.emit_many(op, [x], 2).items)
    within = call.emit(FloorMod(), places, call.const(prod(_shape(call, x)[1:]), "int64"))
    wanted = DataType.INT32 if call.text("argmax_type", "int64") == "int32" else DataType.INT64
    return Sequence((_max_pool(call, window), call.cast(within, wanted)))


def _max_pool(call: Call, window: Window3D) -> Value:
    ceil = call.real("ceil_mode", 0) > 0
    rounding = RoundMode.CEIL if ceil else RoundMode.FLOOR

    def pool(image: Value, given: Window2D) -> Value:
        plain = MaxPoolFusion(
            format=call.scope.layout, kernel_size=given.kernel, strides=given.stride, pad=given.pads,
            pad_mode=PadMode.PAD, round_mode=rounding,
        )  # fmt: skip
        if given.dilation == (1, 1):
            return call.emit(plain, image)
        extended = MaxPoolExtended(
            format=call.scope.layout, kernel_size=given.kernel, strides=given.stride, dilation=given.dilation,
            pad=given.pads, pad_mode=PadMode.PAD, round_mode=rounding,
        )  # fmt: skip
        return call.emit(extended, image)

    return _pooled(call, window, pool, ceil)

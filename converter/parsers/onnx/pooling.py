"""Pooling, 1-D to 3-D."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import MulFusion, PowFusion
from mslite.converter.mindir.ops.enums import DataType, Format, PadMode, ReduceMode, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolExtended, AvgPoolFusion, MaxPoolExtended, MaxPoolFusion
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Abs
from mslite.converter.mindir.ops.windows import MaxPoolWithIndices

from .call import Call
from .registry import onnx_operator
from .spatial import Window, lift, lower, read_window, whole_window
from .volumes import pool_volume, read_window_3d, volume_shape


def _round_mode(call: Call) -> RoundMode:
    return RoundMode.CEIL if call.boolean("ceil_mode") else RoundMode.FLOOR


def _kernel(call: Call) -> tuple[int, ...]:
    kernel = call.integers("kernel_shape")
    if not kernel or any(not 1 <= size < 2**31 for size in kernel):
        raise call.block("is missing or not positive", "Export the model again", "kernel_shape")
    return kernel


def _pool(call: Call, x: Value, pool: Callable[[Value, Window], Value], whole: bool = False) -> Value:
    """Pools in 1-D, 2-D or 3-D; `pool` pools a 2-D image.

    `whole`: pads the input so that every window of ceil_mode is complete; `pool` may then use floor.
    """
    kernel, parts = _kernel(call), call.boolean("ceil_mode")
    if len(kernel) == 3:
        shape = volume_shape(call, x)
        volume = read_window_3d(call, shape, kernel)
        if whole and parts:
            volume, parts = volume.whole(shape[1:]), False
        return pool_volume(call, x, volume, pool, parts)
    window = read_window(call, x, kernel)
    if whole and parts and window.pad_mode is PadMode.PAD:
        window = whole_window(call, x, window)
    return lower(call, pool(lift(call, x, window.dimensions), window), window.dimensions)


@onnx_operator("MaxPool")
def max_pool(call: Call) -> tuple[Value, ...]:
    rounding, x = _round_mode(call), call.input(0)
    column_major = call.boolean("storage_order")  # the order of Indices
    if call.has_output(1) or call.dtype(x) in (DataType.INT8, DataType.UINT8):
        return _max_pool_with_indices(call, x, rounding, column_major)

    def pool(image: Value, window: Window) -> Value:
        plain = MaxPoolFusion(
            format=Format.NCHW,
            kernel_size=window.kernel,
            strides=window.stride,
            pad=window.pads,
            pad_mode=window.pad_mode,
            round_mode=rounding,
        )
        if window.dilation == (1, 1):
            return call.emit(plain, image)
        extended = MaxPoolExtended(
            format=Format.NCHW,
            kernel_size=window.kernel,
            strides=window.stride,
            dilation=window.dilation,
            pad=window.pads,
            pad_mode=window.pad_mode,
            round_mode=rounding,
        )
        return call.emit(extended, image)

    return (_pool(call, x, pool),)


def _max_pool_with_indices(call: Call, x: Value, rounding: RoundMode, column_major: bool) -> tuple[Value, ...]:
    """Converts to one operator for any rank, in the source's layout. It also supports 8-bit integers."""
    kernel = _kernel(call)
    if len(kernel) == 3:
        volume = read_window_3d(call, volume_shape(call, x), kernel)
        stride, dilation, pads = volume.stride, volume.dilation, (*volume.begin, *volume.end)
    else:
        window = read_window(call, x, kernel)
        if window.pad_mode is not PadMode.PAD:
            raise call.not_known("auto_pad depends on an input size that is dynamic", "Give --inputShape")
        lists = ([*values][-len(kernel) :] for values in (window.stride, window.dilation))
        stride, dilation = (tuple(values) for values in lists)
        rows = [window.pads[index : index + 2] for index in (0, 2)][-len(kernel) :]
        pads = (*(row[0] for row in rows), *(row[1] for row in rows))
    op = MaxPoolWithIndices(
        kernel_size=kernel,
        strides=stride,
        dilations=dilation,
        pads=pads,
        ceil_mode=rounding is RoundMode.CEIL,
        column_major=column_major,
    )
    return call.emit_many(op, (x,), 2 if call.has_output(1) else 1)


def _average(call: Call, x: Value, count_include_pad: bool, whole: bool = False) -> Value:
    rounding = RoundMode.FLOOR if whole else _round_mode(call)

    def pool(image: Value, window: Window) -> Value:
        padded = any(window.pads) or window.pad_mode is not PadMode.PAD
        if window.dilation == (1, 1) and not (count_include_pad and padded):
            plain = AvgPoolFusion(
                format=Format.NCHW,
                kernel_size=window.kernel,
                strides=window.stride,
                pad=window.pads,
                pad_mode=window.pad_mode,
                round_mode=rounding,
            )
            return call.emit(plain, image)
        extended = AvgPoolExtended(
            format=Format.NCHW,
            kernel_size=window.kernel,
            strides=window.stride,
            dilation=window.dilation,
            pad=window.pads,
            pad_mode=window.pad_mode,
            round_mode=rounding,
            count_include_pad=count_include_pad,
        )
        return call.emit(extended, image)

    return _pool(call, x, pool, whole)


@onnx_operator("AveragePool")
def average_pool(call: Call) -> Value:
    return _average(call, call.input(0), call.boolean("count_include_pad"))


@onnx_operator("LpPool")
def lp_pool(call: Call) -> Value:
    """Computes (sum |x|^p)^(1/p): the average with zero padding counted, times the size of the window."""
    x, p = call.input(0), _exponent(call)
    means = _average(call, _power(call, x, p), True, whole=True)
    total = call.emit(MulFusion(), means, call.like(prod(_kernel(call)), x))
    return call.emit(PowFusion(), total, call.like(1.0 / p, x))


def _exponent(call: Call) -> float:
    p = call.real("p", 2.0) if call.version < 2 else float(call.integer("p", 2))
    if p < 1:
        raise call.block(f"{p} is less than 1", "Export the model again", "p")
    return p


def _power(call: Call, x: Value, p: float) -> Value:
    magnitude = call.same_type(call.emit(Abs(), x), x)
    return magnitude if p == 1 else call.same_type(call.emit(PowFusion(), magnitude, call.like(p, x)), x)


def _reduce_image(call: Call, x: Value, rank: int, mode: ReduceMode) -> Value:
    op = ReduceFusion(keep_dims=True, mode=mode, coeff=1.0)
    return call.emit(op, x, call.ints(tuple(range(2, rank))))


@onnx_operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(call: Call) -> Value:
    x = call.input(0)
    rank = call.require_rank(x)
    average = call.node.op_type == "GlobalAveragePool"
    if rank == 4 and average:
        return call.emit(AvgPoolFusion(format=Format.NCHW, global_=True), x)
    if rank == 4:
        return call.emit(MaxPoolFusion(format=Format.NCHW, global_=True), x)
    return _reduce_image(call, x, rank, ReduceMode.ReduceMean if average else ReduceMode.ReduceMax)


@onnx_operator("GlobalLpPool")
def global_lp_pool(call: Call) -> Value:
    x, p = call.input(0), _exponent(call)
    total = _reduce_image(call, _power(call, x, p), call.require_rank(x), ReduceMode.ReduceSum)
    return total if p == 1 else call.emit(PowFusion(), total, call.like(1.0 / p, x))

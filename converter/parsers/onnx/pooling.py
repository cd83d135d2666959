"""Spatial pooling, 1-D and 2-D."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import MulFusion, PowFusion
from mslite.converter.mindir.ops.enums import Format, ReduceMode, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolExtended, AvgPoolFusion, MaxPoolExtended, MaxPoolFusion
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Abs

from .call import Call
from .registry import onnx_operator
from .spatial import Window, lift, lower, read_window


def _window(call: Call, x: Value) -> Window:
    kernel = call.integers("kernel_shape")
    if not kernel or any(not 1 <= size < 2**31 for size in kernel):
        raise call.block("is missing or not positive", "Export the model again", "kernel_shape")
    return read_window(call, x, kernel)


def _round_mode(call: Call) -> RoundMode:
    return RoundMode.CEIL if call.boolean("ceil_mode") else RoundMode.FLOOR


@onnx_operator("MaxPool")
def max_pool(call: Call) -> tuple[Value, Value | None]:
    x = call.input(0)
    window, rounding = _window(call, x), _round_mode(call)
    call.ignore("storage_order")  # the order of Indices
    if call.has_output(1):
        raise call.block("the output Indices is not supported", "Export the model without it (and without MaxUnpool)")
    image = lift(call, x, window.dimensions)
    if window.dilation == (1, 1):
        plain = MaxPoolFusion(
            format=Format.NCHW,
            kernel_size=window.kernel,
            strides=window.stride,
            pad=window.pads,
            pad_mode=window.pad_mode,
            round_mode=rounding,
        )
        return lower(call, call.emit(plain, image), window.dimensions), None
    extended = MaxPoolExtended(
        format=Format.NCHW,
        kernel_size=window.kernel,
        strides=window.stride,
        dilation=window.dilation,
        pad=window.pads,
        pad_mode=window.pad_mode,
        round_mode=rounding,
    )
    return lower(call, call.emit(extended, image), window.dimensions), None


def _average(call: Call, x: Value, window: Window, count_include_pad: bool) -> Value:
    image, rounding = lift(call, x, window.dimensions), _round_mode(call)
    padded = any(window.pads) or window.pad_mode != 0
    if window.dilation == (1, 1) and not (count_include_pad and padded):
        plain = AvgPoolFusion(
            format=Format.NCHW,
            kernel_size=window.kernel,
            strides=window.stride,
            pad=window.pads,
            pad_mode=window.pad_mode,
            round_mode=rounding,
        )
        return lower(call, call.emit(plain, image), window.dimensions)
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
    return lower(call, call.emit(extended, image), window.dimensions)


@onnx_operator("AveragePool")
def average_pool(call: Call) -> Value:
    x = call.input(0)
    return _average(call, x, _window(call, x), call.boolean("count_include_pad"))


@onnx_operator("LpPool")
def lp_pool(call: Call) -> Value:
    """(sum |x|^p)^(1/p): the average with padding counted as zeros, times the size of the window."""
    x, p = call.input(0), _exponent(call)
    window = _window(call, x)
    if call.boolean("ceil_mode"):
        raise call.block("ceil_mode is not supported for LpPool", "Pad the input instead", "ceil_mode")
    powered = _power(call, x, p)
    taps = window.kernel[0] * window.kernel[1]
    total = call.emit(MulFusion(), _average(call, powered, window, True), call.like(taps, x))
    return call.emit(PowFusion(), total, call.like(1.0 / p, x))


def _exponent(call: Call) -> float:
    p = call.real("p", 2.0) if call.version < 2 else float(call.integer("p", 2))
    if p < 1:
        raise call.block(f"{p} is not a norm", "Export the model again", "p")
    return p


def _power(call: Call, x: Value, p: float) -> Value:
    magnitude = call.emit(Abs(), x)
    return magnitude if p == 1 else call.emit(PowFusion(), magnitude, call.like(p, x))


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

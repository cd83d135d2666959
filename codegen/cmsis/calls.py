"""Makes the arguments of a call of CMSIS-NN: C initializers of its structs, constants in its layouts, size of the
workspace.

Layouts of weights: convolution [out, kh, kw, in], depthwise [kh, kw, out], fully connected [out, in]; all int8.
Multipliers and shifts are int32, one per output channel; a positive shift is to the left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mslite import _codegen
from mslite.codegen.program import Array, Step, Storage, Tensor
from mslite.converter.mindir.ops.enums import DataType

_CHANNELS_AT_ONCE = 124
"""CH_IN_BLOCK_MVE: channels per block in CMSIS-NN's depthwise convolution for Helium."""


@dataclass(frozen=True)
class CmsisCall:
    """A call of CMSIS-NN. `function`: the wrapper in codegen/cmsis/static; `struct`: type of its parameters;
    `initializer`:
    their C text."""

    library_function: str
    function: str
    struct: str
    initializer: str
    inputs: list[Tensor | None]
    scratch_size: int = 0


def make_call(step: Step, numbers: _codegen.Int8CallParameters, isas: Sequence[str]) -> CmsisCall | None:
    """Returns the call that computes `step` on a target with these instruction sets, or None if there is none."""
    return _MAKERS[numbers.kind](step, numbers, "mve" if "mve" in isas else "dsp" if "dsp" in isas else "plain")


def _constant(name: str, values: Array) -> Tensor:
    dtype = {np.dtype(np.int8): DataType.INT8, np.dtype(np.int32): DataType.INT32}[values.dtype]
    return Tensor(name, dtype, values.shape, Storage.CONSTANT, values.nbytes, values)


def _int32(values: Sequence[int]) -> Array:
    return np.array(values, np.int32)


def _channel_constants(step: Step, numbers: _codegen.Int8CallParameters, weights: Array) -> list[Tensor | None]:
    """Returns the inputs of a call: x, weights, bias, multipliers and shifts."""
    lists = numbers.lists
    return [
        step.inputs[0],
        _constant(f"{step.name}_weights", weights),
        *(_constant(f"{step.name}_{name}", _int32(lists[name])) for name in ("bias", "multiplier", "shift")),
    ]


def _matrix(numbers: _codegen.Int8CallParameters, channels: int) -> Array:
    return np.frombuffer(numbers.weights, np.int8).reshape(channels, -1)


def _dims(name: str, n: int, h: int, w: int, c: int) -> str:
    return f".{name} = {{.n = {n}, .h = {h}, .w = {w}, .c = {c}}}"


def _struct(*fields: str) -> str:
    inner = "".join(f"  {field},\n" for field in fields)
    return f"{{\n{inner}}}"


def _tile(name: str, height: int, width: int) -> str:
    return f".{name} = {{.w = {width}, .h = {height}}}"


def _activation(limits: Sequence[int]) -> str:
    return f".activation = {{.min = {limits[0]}, .max = {limits[1]}}}"


def _convolution(step: Step, numbers: _codegen.Int8CallParameters, isa: str) -> CmsisCall:
    lists = numbers.lists
    depthwise = numbers.kind == "depthwise"
    rows_in, rows_out, kernel_rows, row_stride, row_dilation, row_pad, _ = lists["height"]
    columns_in, columns_out, kernel_columns, column_stride, column_dilation, column_pad, _ = lists["width"]
    batch, channels_in, channels = lists["sizes"]
    weights = _matrix(numbers, channels)
    taps = kernel_rows * kernel_columns
    is_pixel = taps == 1 and not (row_pad or column_pad)
    if depthwise:
        weights = np.ascontiguousarray(weights.T)
        scratch = {"mve": 4 * _CHANNELS_AT_ONCE * taps, "dsp": 2 * channels_in * taps, "plain": 0}[isa]
        if isa == "dsp" and (kernel_rows, kernel_columns) == (3, 3) and row_pad <= 1 and column_pad <= 1:
            scratch = 0
        if channels != channels_in or batch != 1 or row_dilation != 1 or column_dilation != 1:
            scratch = 0
    else:
        terms = taps * channels_in
        # Im2col buffer: two columns of int16, or four columns of Helium vectors. 1x1: the size that armclang builds
        # need.
        scratch = 4 * (terms + -terms % (16 if isa == "mve" else 4))
        if is_pixel:
            scratch = 4 * channels_in if isa == "dsp" else 0
    params = [
        f".input_offset = {-lists['zeros'][0]}",
        f".output_offset = {lists['zeros'][1]}",
        *([f".ch_mult = {channels // channels_in}"] if depthwise else []),
        _tile("stride", row_stride, column_stride),
        _tile("padding", row_pad, column_pad),
        _tile("dilation", row_dilation, column_dilation),
        _activation(lists["limits"]),
    ]
    filters = (1, channels) if depthwise else (channels, channels_in)
    return CmsisCall(
        "arm_depthwise_conv_wrapper_s8" if depthwise else "arm_convolve_wrapper_s8",
        numbers.kind,
        numbers.kind,
        _struct(
            f".params = {{{', '.join(params)}}}",
            _dims("input", batch, rows_in, columns_in, channels_in),
            _dims("filter", filters[0], kernel_rows, kernel_columns, filters[1]),
            _dims("bias", 1, 1, 1, channels),
            _dims("output", batch, rows_out, columns_out, channels),
            f".reserved = {scratch}",
        ),
        _channel_constants(step, numbers, weights),
        scratch,
    )


def _fully_connected(step: Step, numbers: _codegen.Int8CallParameters, isa: str) -> CmsisCall:
    lists = numbers.lists
    rows, terms, channels = lists["sizes"]
    x_zero, y_zero = lists["zeros"]
    weights = _matrix(numbers, channels)
    inputs = _channel_constants(step, numbers, weights)
    # The Helium version adds the bias and the correction for the zero point of x as one value.
    sums = np.array(lists["bias"], np.int64) - x_zero * weights.sum(axis=1, dtype=np.int64)
    inputs.append(_constant(f"{step.name}_sums", sums.astype(np.int32)) if isa == "mve" else None)
    params = f".input_offset = {-x_zero}, .filter_offset = 0, .output_offset = {y_zero}, {_activation(lists['limits'])}"
    return CmsisCall(
        "arm_fully_connected_per_channel_s8",
        "fully_connected",
        "fully_connected",
        _struct(
            f".params = {{{params}}}",
            _dims("input", rows, 1, 1, terms),
            _dims("filter", terms, 1, 1, channels),
            _dims("bias", 1, 1, 1, channels),
            _dims("output", rows, 1, 1, channels),
        ),
        inputs,
    )


def _pool(step: Step, numbers: _codegen.Int8CallParameters, isa: str) -> CmsisCall:
    lists = numbers.lists
    rows_in, rows_out, kernel_rows, row_stride, _, row_pad, _ = lists["height"]
    columns_in, columns_out, kernel_columns, column_stride, _, column_pad, _ = lists["width"]
    batch, channels = lists["sizes"]
    average = numbers.kind == "average"
    scratch = 4 * channels if average and isa == "dsp" else 0
    params = [
        _tile("stride", row_stride, column_stride),
        _tile("padding", row_pad, column_pad),
        _activation(lists["limits"]),
    ]
    return CmsisCall(
        "arm_avgpool_s8" if average else "arm_max_pool_s8",
        numbers.kind,
        "pool",
        _struct(
            f".params = {{{', '.join(params)}}}",
            _dims("input", batch, rows_in, columns_in, channels),
            _dims("filter", 1, kernel_rows, kernel_columns, 1),
            _dims("output", batch, rows_out, columns_out, channels),
            f".reserved = {scratch}",
        ),
        [step.inputs[0]],
        scratch,
    )


def _elementwise(step: Step, numbers: _codegen.Int8CallParameters, isa: str) -> CmsisCall:
    lists = numbers.lists
    offsets = (-lists["zeros"][0], -lists["zeros"][1], lists["zeros"][2])
    operands = [
        f".{name} = {{.offset = {offset}, .multiplier = {multiplier}, .shift = {shift}}}"
        for name, offset, multiplier, shift in zip(
            ("a", "b", "output"), offsets, lists["multiplier"], lists["shift"], strict=True
        )
    ]
    low, high = lists["limits"]
    is_sum = numbers.kind == "add"
    return CmsisCall(
        "arm_elementwise_add_s8" if is_sum else "arm_elementwise_mul_s8",
        numbers.kind,
        "elementwise",
        _struct(
            *operands,
            f".left_shift = {lists['left'][0]}, .low = {low}, .high = {high}",
            f".count = {lists['sizes'][0]}",
        ),
        list(step.inputs[:2]),
    )


def _softmax(step: Step, numbers: _codegen.Int8CallParameters, isa: str) -> CmsisCall:
    rows, size = numbers.lists["sizes"]
    multiplier, shift, least = numbers.lists["scale"]
    return CmsisCall(
        "arm_softmax_s8",
        "softmax",
        "softmax",
        _struct(f".rows = {rows}, .size = {size}", f".multiplier = {multiplier}, .shift = {shift}, .least = {least}"),
        [step.inputs[0]],
    )


_MAKERS: dict[str, Callable[[Step, _codegen.Int8CallParameters, str], CmsisCall | None]] = {
    "convolution": _convolution,
    "depthwise": _convolution,
    "fully_connected": _fully_connected,
    "average": _pool,
    "maximum": _pool,
    "add": _elementwise,
    "multiply": _elementwise,
    "softmax": _softmax,
}

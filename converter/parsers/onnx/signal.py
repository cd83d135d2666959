"""Fourier transforms and mel filter banks."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import signal as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, FloorDiv, MulFusion, SubFusion
from mslite.converter.mindir.ops.creation import Range
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Unsqueeze

from .call import Call
from .casting import as_type, cast
from .registry import onnx_operator
from .tensors import UnsupportedTensor, data_type


@onnx_operator("DFT")
def dft(call: Call) -> Value:
    """The axis is an attribute before version 20 and an input since then."""
    x, axis, computed = call.input(0), -2, None
    if call.version >= 20 or call.has_input(2):
        known = call.constant_integers(2)
        if known is not None and len(known) == 1:
            axis = known[0]
        elif call.has_input(2):
            computed = _scalar(call, call.input(2))
    else:
        axis = call.integer("axis", 1)
    op = ops.Dft(axis=axis, inverse=call.boolean("inverse"), onesided=call.boolean("onesided"))
    length = as_type(call, call.input(1), DataType.INT64) if call.has_input(1) else None
    if computed is not None:
        return call.emit(op, x, call.const(0, np.int64) if length is None else length, computed)
    return call.emit(op, x) if length is None else call.emit(op, x, length)


def _frame_places(call: Call, x: Value, frame: Value, step: Value) -> Value:
    """Returns int32 [frames, frame]: the index in the signal of each element of each frame."""
    shape = call.shape(x)
    length = shape[1] if shape is not None and len(shape) > 1 else None
    if length is not None and frame.data is not None and step.data is not None:
        size, stride = int(frame.data), int(step.data)
        starts = np.arange(max(0, (length - size) // stride + 1), dtype=np.int32) * stride
        return call.const(starts[:, None] + np.arange(size, dtype=np.int32))
    counting = Range(d_type=int(DataType.INT32))
    zero, one = call.ints(0), call.ints(1)
    total = call.emit(Gather(), call.emit(Shape(), x), one, zero)
    whole = call.emit(FloorDiv(), call.emit(SubFusion(), total, frame), step)
    end = call.emit(MulFusion(), call.emit(AddFusion(), whole, one), step)
    starts_ = call.emit(Unsqueeze(axis=(1,)), call.emit(counting, zero, end, step))
    return call.emit(AddFusion(), starts_, call.emit(counting, zero, frame, one))


def _frame_length(call: Call, window: Value | None) -> Value:
    """Returns the frame length as an int32 scalar: the input, or the length of the window."""
    if call.has_input(3):
        return _scalar(call, call.input(3))
    if window is None:
        raise call.block("neither the length of a frame nor a window is given", "Give frame_length")
    shape = call.static_shape(window)
    if shape is not None and len(shape) == 1:
        return call.ints(shape[0])
    return call.emit(Gather(), call.emit(Shape(), window), call.ints(0), call.ints(0))


def _scalar(call: Call, value: Value) -> Value:
    number = as_type(call, value, DataType.INT32)
    if number.data is not None:
        return call.ints(int(number.data.reshape(-1)[0])) if number.data.size == 1 else number
    return call.emit(Reshape(), number, call.const([], np.int32))


@onnx_operator("STFT")
def stft(call: Call) -> Value:
    """Transforms frames that begin every `frame_step` samples; returns [batch, frames, frequencies, 2]."""
    x, window = call.input(0), call.optional(2)
    step, frame = _scalar(call, call.input(1)), _frame_length(call, window)
    for number, what in ((step, "step"), (frame, "length")):
        if number.data is not None and (number.data.size != 1 or not 1 <= int(number.data) < 2**24):
            raise call.block(f"the {what} of the frames is invalid", "Export the model again")
    if call.require_rank(x) == 2:
        x = call.emit(Unsqueeze(axis=(2,)), x)
    frames = call.emit(Gather(), x, _frame_places(call, call.input(0), frame, step), call.ints(1))
    if window is not None:
        frames = call.emit(MulFusion(), frames, call.emit(Reshape(), window, call.ints((-1, 1))))
    return call.emit(ops.Dft(axis=2, onesided=call.boolean("onesided", True)), frames)


@onnx_operator("MelWeightMatrix")
def mel_weight_matrix(call: Call) -> Value:
    integers = [as_type(call, call.input(index), DataType.INT64) for index in range(3)]
    edges = [as_type(call, call.input(index), DataType.FLOAT32) for index in range(3, 5)]
    try:
        wanted = data_type(call.integer("output_datatype", 1))
    except UnsupportedTensor as error:
        raise call.block(str(error), "Use another type", "output_datatype") from None
    result = call.emit(ops.MelWeightMatrix(), *integers, *edges)
    return result if wanted is DataType.FLOAT32 else cast(call, result, wanted)

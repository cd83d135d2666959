"""Fourier transforms and filter banks."""

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
    """The axis is an attribute before version 20, an input from then on."""
    x = call.input(0)
    if call.version >= 20 or call.has_input(2):
        axis = call.require_integers(2, "the axis")[0] if call.has_input(2) else -2
    else:
        axis = call.integer("axis", 1)
    op = ops.Dft(axis=axis, inverse=call.boolean("inverse"), onesided=call.boolean("onesided"))
    if call.has_input(1):
        return call.emit(op, x, as_type(call, call.input(1), DataType.INT64))
    return call.emit(op, x)


def _frame_places(call: Call, x: Value, frame: int, step: int) -> Value:
    """int32 [frames, frame]: where in the signal each element of each frame is."""
    inside = np.arange(frame, dtype=np.int32)
    shape = call.shape(x)
    length = shape[1] if shape is not None and len(shape) > 1 else None
    if length is not None:
        starts = np.arange(max(0, (length - frame) // step + 1), dtype=np.int32) * step
        return call.const(starts[:, None] + inside)
    size = call.emit(Gather(), call.emit(Shape(), x), call.ints(1), call.ints(0))
    whole = call.emit(FloorDiv(), call.emit(SubFusion(), size, call.ints(frame)), call.ints(step))
    end = call.emit(MulFusion(), call.emit(AddFusion(), whole, call.ints(1)), call.ints(step))
    row = call.emit(Range(d_type=int(DataType.INT32)), call.ints(0), end, call.ints(step))
    return call.emit(AddFusion(), call.emit(Unsqueeze(axis=(1,)), row), call.const(inside))


@onnx_operator("STFT")
def stft(call: Call) -> Value:
    """The transforms of frames that begin every `frame_step` samples: [batch, frames, frequencies, 2]."""
    x = call.input(0)
    (step,) = call.require_integers(1, "the step")[:1] or (0,)
    window = call.optional(2)
    if call.has_input(3):
        frame = call.require_integers(3, "the length of a frame")[0]
    else:
        shape = None if window is None else call.static_shape(window)
        if shape is None or len(shape) != 1:
            raise call.block("neither the length of a frame nor that of the window is known", "Give frame_length")
        frame = shape[0]
    if not 1 <= frame < 2**24 or not 1 <= step < 2**24:
        raise call.block(f"frames of {frame} every {step} samples are not possible", "Export the model again")
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

"""Recurrent layers over a sequence. Their state tensors are taken as zero at the start of every run."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.rearrange import ReverseV2, Squeeze
from mslite.converter.mindir.ops.recurrent import LSTMSequence, RNNSequence

from .call import Call
from .registry import tflite_operator

_ACTIVATIONS = {0: "Affine", 1: "Relu", 4: "Tanh", 6: "Sigmoid"}
_GATES = (0, 3, 1, 2)
"""The source orders the gates i f c o, ONNX and MindIR i o f c."""


def _stacked(call: Call, indices: list[int], what: str) -> Value:
    """The weights of the gates as one constant [1, sum of rows, ...]."""
    arrays = []
    for index in indices:
        value = call.weight(index)
        if value.data is None:
            raise call.block(f"the {what} are computed at run time", "Export the model with constant weights")
        arrays.append(value.data)
    try:
        return call.const(np.concatenate(arrays, axis=0)[np.newaxis], np.float32)
    except ValueError:
        raise call.block(f"the shapes of the {what} do not fit each other") from None


def _zero_state(call: Call, index: int) -> None:
    if call.has_input(index) and not call.source(index).is_variable and call.input(index).data is None:
        raise call.block(f"the state (input {index}) comes from another node", "Start the sequence with zeros")


def _first_direction(call: Call, y: Value, time_major: bool) -> Value:
    """y [time, directions, batch, size] or [batch, time, directions, size] without the directions."""
    return call.emit(Squeeze(axis=(1 if time_major else 2,)), y)


@tflite_operator("UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(call: Call) -> Value:
    """Inputs: x; input weights i f c o; recurrent weights i f c o; peepholes i f o; biases i f c o; projection and its
    bias; states; layer-normalisation coefficients."""
    options = call.options
    if not call.is_float():
        raise call.block("the quantised form is not supported", "Use a float model")
    if any(call.has_input(index) for index in range(20, 24)):
        raise call.block("layer normalisation is not supported", "Export the layer unrolled")
    if options.integer("diagonal"):
        raise call.block("is not supported", "Use full recurrent weights", "diagonal_recurrent_tensors")
    if not (call.has_input(1) and call.has_input(5)):
        raise call.block("the input gate is coupled to the forget gate", "Use a layer with an input gate")
    if options.integer("activation") != 4:
        raise call.block("only TANH is supported", "Use the default activation", "fused_activation_function")
    for index in (18, 19):
        _zero_state(call, index)
    operands = [
        call.input(0),
        _stacked(call, [1 + gate for gate in _GATES], "input weights"),
        _stacked(call, [5 + gate for gate in _GATES], "recurrent weights"),
    ]
    gates = _stacked(call, [12 + gate for gate in _GATES], "biases").array()
    operands.append(call.const(np.concatenate([gates, np.zeros_like(gates)], axis=1)))
    peepholes = call.has_input(9) or call.has_input(10) or call.has_input(11)
    if peepholes:
        operands.append(_stacked(call, [9, 11, 10], "peepholes"))
    projected = call.has_input(16)
    if projected:
        operands.append(_stacked(call, [16], "projection"))
        if call.has_input(17):
            operands.append(_stacked(call, [17], "projection bias"))
    time_major = bool(options.integer("time_major"))
    op = LSTMSequence(
        layout=0 if time_major else 1,
        cell_clip=options.real("cell_clip"),
        projection_clip=options.real("projection_clip"),
        has_bias=True,
        has_peepholes=peepholes,
        has_projection=projected,
        has_projection_bias=projected and call.has_input(17),
    )
    return _first_direction(call, call.emit_many(op, operands, 3)[0], time_major)


def _rnn(call: Call, first: int, activation: str, time_major: bool, x: Value) -> Value:
    weight, recurrent, bias = (_stacked(call, [first + offset], "weights") for offset in range(3))
    op = RNNSequence(
        activations=None if activation == "Tanh" else activation,
        activation_alpha=(1.0,) if activation == "Affine" else None,
        layout=0 if time_major else 1,
        has_bias=True,
    )
    both = np.concatenate([bias.array(), np.zeros_like(bias.array())], axis=1)
    y = call.emit_many(op, [x, weight, recurrent, call.const(both)], 2)[0]
    return _first_direction(call, y, time_major)


def _rnn_activation(call: Call) -> str:
    code = call.options.integer("activation")
    if code not in _ACTIVATIONS:
        raise call.block(f"the activation {code} is not supported", "Use TANH or RELU", "fused_activation_function")
    return _ACTIVATIONS[code]


@tflite_operator("UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn(call: Call) -> Value:
    """Inputs x, weight [size, in], recurrent weight, bias, state."""
    _zero_state(call, 4)
    return _rnn(call, 1, _rnn_activation(call), bool(call.options.integer("time_major")), call.input(0))


@tflite_operator("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(call: Call) -> tuple[Value, ...]:
    """Inputs x, forward weights and state, backward weights and state; the backward one runs over reversed time."""
    if any(call.has_input(index) for index in range(9, 12)):
        raise call.block("an auxiliary input is not supported", "Use layers without one")
    time_major, activation = bool(call.options.integer("time_major")), _rnn_activation(call)
    _zero_state(call, 4)
    _zero_state(call, 8)
    backwards = ReverseV2(axis=(0 if time_major else 1,))
    forward = _rnn(call, 1, activation, time_major, call.input(0))
    reverse = call.emit(backwards, _rnn(call, 5, activation, time_major, call.emit(backwards, call.input(0))))
    if call.options.integer("merge_outputs"):
        return (call.emit(Concat(axis=2), forward, reverse),)
    return forward, reverse

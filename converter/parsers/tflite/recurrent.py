"""Recurrent layers that compute in float.

A state tensor (`is_variable`) keeps its value between runs if a run is one time step, as in streaming models. A layer
over several steps starts from a state of 0 in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import DynamicQuant
from mslite.converter.mindir.ops.rearrange import Reshape, ReverseV2, Squeeze
from mslite.converter.mindir.ops.recurrent import LSTMSequence, RNNSequence

from .call import Call
from .integer_recurrent import integer_lstm, is_integer_layer
from .registry import tflite_operator
from .variables import keep_state, state

Weights = npt.NDArray[np.float32]

_ACTIVATIONS = {0: "Affine", 1: "Relu", 4: "Tanh", 6: "Sigmoid"}
_GATES = (0, 3, 1, 2)
"""Index in the source's gate order i f c o for each gate of ONNX's and MindIR's order i o f c."""


@dataclass(frozen=True)
class LstmInputs:
    """Indices of the first operands of one direction: four input weights and recurrent weights, three peepholes, four
    biases, a projection and its bias; two states; four normalization coefficients (-1: none)."""

    weights: int
    hidden: int
    cell: int
    normalization: int = -1

    @property
    def recurrent(self) -> int:
        return self.weights + 4

    @property
    def peepholes(self) -> int:
        return self.weights + 8

    @property
    def biases(self) -> int:
        return self.weights + 11

    @property
    def projection(self) -> int:
        return self.weights + 15


def _array(call: Call, index: int, what: str) -> Weights:
    value = call.weight(index)
    if value.data is None:
        raise call.block(f"the {what} are computed at run time", "Export the model with constant weights")
    return np.asarray(value.data, np.float32)


def _beside(call: Call, a: Weights, b: Weights) -> Weights:
    """Returns the columns of a and b in one matrix. Raises Blocked."""
    if a.ndim != 2 or b.ndim != 2 or a.shape[0] != b.shape[0]:
        raise call.block(f"the weights of the auxiliary input, {a.shape} and {b.shape}, do not match")
    return np.concatenate([a, b], axis=1)


def _stacked(call: Call, arrays: Sequence[Weights], what: str) -> Value:
    """Returns the concatenated arrays as one constant [1, sum of rows, ...]. Raises Blocked."""
    try:
        return call.const(np.concatenate(list(arrays), axis=0)[np.newaxis], np.float32)
    except ValueError:
        raise call.block(f"the shapes of the {what} do not match") from None


def _gates(call: Call, first: int, what: str) -> list[Weights]:
    """Returns the operands of the four gates in the order i o f c. A missing input gate is 1 - forget gate, which is a
    forget gate with negated weights."""
    gates = [_array(call, first + gate, what) for gate in (1, 2, 3)]
    forget, candidate, output = gates
    i = _array(call, first, what) if call.has_input(first) else -forget
    return [i, output, forget, candidate]


def _peepholes(call: Call, first: int, coupled: bool, shape: tuple[int, ...]) -> list[Weights]:
    """Returns the peephole weights in the order i o f; missing ones are 0."""
    zero = np.zeros(shape, np.float32)
    i, f, o = (_array(call, first + gate, "peepholes") if call.has_input(first + gate) else zero for gate in range(3))
    return [-f if coupled else i, o, f]


def _state_operand(call: Call, index: int, layout: int, streaming: bool) -> Value | None:
    """Returns the initial state [1, batch, size] ([batch, 1, size] for layout 1); None for 0."""
    if not call.has_input(index) or (call.source(index).is_variable and not streaming):
        return None
    if call.rank(index) != 2:
        raise call.block(f"the state (input {index}) has {call.rank(index)} dimensions, not 2")
    value = state(call, index)
    if value.data is not None and not np.any(value.data):
        return None
    batch, size = call.shape(index)
    return call.emit(Reshape(), value, call.ints((batch, 1, size) if layout else (1, batch, size)))


def _keep(call: Call, index: int, value: Value, streaming: bool) -> None:
    if streaming and call.has_input(index) and call.source(index).is_variable:
        keep_state(call, index, call.emit(Reshape(), value, call.ints(call.shape(index))))


def _rounding(call: Call, weight: int) -> int:
    """Returns the attribute `rounding`, the dynamic quantization for int8 weights: 0 none, 1 symmetric, 2
    asymmetric."""
    if not call.is_hybrid(weight):
        return 0
    return 2 if call.options.integer("asymmetric_quantize_inputs") else 1


def _rounded(call: Call, x: Value, weight: int) -> Value:
    """Returns x [time, batch, size] or [batch, time, size], rounded at run time as for int8 weights at input
    `weight`."""
    rounding = _rounding(call, weight)
    if not rounding:
        return x
    op = DynamicQuant(
        symmetric=rounding == 1, dst_type=int(DataType.FLOAT32), activation_channel=True, prefer_axes=(0, 1)
    )
    result = call.emit(op, x)
    result.dtype = DataType.FLOAT32
    return result


def _lstm(
    call: Call,
    x: Value,
    at: LstmInputs,
    time_major: bool,
    steps: int,
    auxiliary: int = -1,
) -> Value:
    """Converts one direction of an LSTM and returns its result without the dimension of directions. x is [time, batch,
    size] or [batch, time, size], after `_rounded`."""
    options = call.options
    if options.integer("activation") != 4:
        raise call.block("only TANH is supported", "Use the default activation", "fused_activation_function")
    if not all(call.has_input(at.weights + gate) and call.has_input(at.recurrent + gate) for gate in (1, 2, 3)):
        raise call.block("weights of a gate are missing")
    coupled = not call.has_input(at.weights)
    inputs = _gates(call, at.weights, "input weights")
    if auxiliary >= 0:
        extra = _gates(call, auxiliary, "weights of the auxiliary input")
        inputs = [_beside(call, a, b) for a, b in zip(inputs, extra, strict=True)]
    biases = _stacked(call, _gates(call, at.biases, "biases"), "biases").array()
    operands = [
        x,
        _stacked(call, inputs, "input weights"),
        _stacked(call, _gates(call, at.recurrent, "recurrent weights"), "recurrent weights"),
        call.const(np.concatenate([biases, np.zeros_like(biases)], axis=1)),
    ]
    layout, streaming = 0 if time_major else 1, steps == 1
    hidden, cell = (_state_operand(call, index, layout, streaming) for index in (at.hidden, at.cell))
    operands += [value for value in (hidden, cell) if value is not None]
    peepholes = any(call.has_input(at.peepholes + gate) for gate in range(3))
    if peepholes:
        shape = (biases.shape[1] // 4,)
        operands.append(_stacked(call, _peepholes(call, at.peepholes, coupled, shape), "peepholes"))
    projected = call.has_input(at.projection)
    projection_bias = projected and call.has_input(at.projection + 1)
    if projected:
        operands.append(_stacked(call, [_array(call, at.projection, "projection")], "projection"))
    if projection_bias:
        operands.append(_stacked(call, [_array(call, at.projection + 1, "projection bias")], "projection bias"))
    normalized = at.normalization >= 0 and any(call.has_input(at.normalization + gate) for gate in range(4))
    if normalized:
        # The weights of a coupled gate are negated already; its coefficients are those of the forget gate.
        coefficients = _gates(call, at.normalization, "normalization coefficients")
        coefficients[0] = coefficients[2] if coupled else coefficients[0]
        operands.append(_stacked(call, coefficients, "normalization coefficients"))
    op = LSTMSequence(
        layout=layout,
        cell_clip=options.real("cell_clip"),
        projection_clip=options.real("projection_clip"),
        has_bias=True,
        has_initial_hidden=hidden is not None,
        has_initial_cell=cell is not None,
        has_peepholes=peepholes,
        has_projection=projected,
        has_projection_bias=projection_bias,
        has_normalization=normalized,
        rounding=_rounding(call, at.weights + 1),
    )
    y, last_hidden, last_cell = call.emit_many(op, operands, 3)
    _keep(call, at.hidden, last_hidden, streaming)
    _keep(call, at.cell, last_cell, streaming)
    return _first_direction(call, y, time_major)


def _first_direction(call: Call, y: Value, time_major: bool) -> Value:
    """Removes the dimension of directions of y [time, directions, batch, size] or [batch, time, directions, size]."""
    return call.emit(Squeeze(axis=(1 if time_major else 2,)), y)


def sequence_lengths(call: Call, time_major: bool) -> int:
    """Returns the number of time steps of the input [time, batch, size] or [batch, time, size]. Raises Blocked."""
    shape = call.shape(0)
    if len(shape) != 3:
        raise call.block(f"the input has {len(shape)} dimensions, not 3")
    return shape[0 if time_major else 1]


@tflite_operator("UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(call: Call) -> Value:
    """Converts an LSTM. Its inputs are x, input weights i f c o, recurrent weights i f c o, peepholes i f o, biases i f
    c o, projection, projection bias, states, layer normalization coefficients."""
    options = call.options
    if options.integer("diagonal"):
        raise call.block("is unsupported", "Use full recurrent weights", "diagonal_recurrent_tensors")
    time_major = bool(options.integer("time_major"))
    steps = sequence_lengths(call, time_major)
    if is_integer_layer(call):
        return integer_lstm(call, call.input(0), 1, 18, 19, 20, time_major, steps == 1)
    return _lstm(call, _rounded(call, call.input(0), 2), LstmInputs(1, 18, 19, 20), time_major, steps)


def lstm_step(call: Call) -> Value:
    """Converts the layer for one time step, x [batch, size]."""
    if call.rank(0) != 2:
        raise call.block(f"the input has {call.rank(0)} dimensions, not 2")
    x = call.emit(Reshape(), call.input(0), call.ints((1, *call.shape(0))))
    if not is_integer_layer(call):
        y = _lstm(call, _rounded(call, x, 2), LstmInputs(1, 18, 19, 20), True, 1)
        return call.emit(Squeeze(axis=(0,)), y)
    x.dtype, x.quant = call.input(0).dtype, call.input(0).quant
    y = integer_lstm(call, x, 1, 18, 19, 20, True, True)
    result = call.emit(Squeeze(axis=(0,)), y)
    result.dtype, result.quant = y.dtype, y.quant
    return result


def _auxiliary(call: Call, first: int) -> bool:
    return call.has_input(first) or call.has_input(first + 1)


@tflite_operator("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(call: Call) -> tuple[Value, ...]:
    """Converts a bidirectional LSTM. An auxiliary input with weights is concatenated to x; without weights, it is the
    input of the backward layer."""
    time_major = bool(call.options.integer("time_major"))
    steps = sequence_lengths(call, time_major)
    forward_x = backward_x = _rounded(call, call.input(0), 2)
    forward_weights, backward_weights = (40, 44) if _auxiliary(call, 40) else (-1, -1)
    if call.has_input(39):
        if forward_weights < 0:
            backward_x = _rounded(call, call.input(39), 19)
        else:
            forward_x = backward_x = call.emit(Concat(axis=2), forward_x, _rounded(call, call.input(39), 41))
    elif forward_weights >= 0:
        raise call.block("the auxiliary input is missing")
    backwards = ReverseV2(axis=(0 if time_major else 1,))
    forward = _lstm(call, forward_x, LstmInputs(1, 35, 36), time_major, steps, forward_weights)
    turned = call.emit(backwards, backward_x)
    reverse = _lstm(call, turned, LstmInputs(18, 37, 38), time_major, steps, backward_weights)
    return _merged(call, forward, call.emit(backwards, reverse))


def _merged(call: Call, forward: Value, reverse: Value) -> tuple[Value, ...]:
    if call.options.integer("merge_outputs"):
        return (call.emit(Concat(axis=2), forward, reverse),)
    return forward, reverse


def _rnn(
    call: Call, x: Value, first: int, state_index: int, time_major: bool, steps: int, auxiliary: int = -1
) -> Value:
    """Converts one direction of an RNN. Weight [size, in], recurrent weight and bias are inputs `first` and
    following."""
    layout, streaming = 0 if time_major else 1, steps == 1
    activation = _rnn_activation(call)
    weight = _array(call, first, "weights")
    if auxiliary >= 0:
        weight = _beside(call, weight, _array(call, auxiliary, "weights of the auxiliary input"))
    bias = _array(call, first + 2, "biases").reshape(-1)
    operands = [
        x,
        _stacked(call, [weight], "weights"),
        _stacked(call, [_array(call, first + 1, "recurrent weights")], "recurrent weights"),
        call.const(np.concatenate([bias, np.zeros_like(bias)])[np.newaxis], np.float32),
    ]
    hidden = _state_operand(call, state_index, layout, streaming)
    if hidden is not None:
        operands.append(hidden)
    op = RNNSequence(
        activations=None if activation == "Tanh" else activation,
        activation_alpha=(1.0,) if activation == "Affine" else None,
        layout=layout,
        has_bias=True,
        has_initial_hidden=hidden is not None,
        rounding=_rounding(call, first),
    )
    y, last = call.emit_many(op, operands, 2)
    _keep(call, state_index, last, streaming)
    return _first_direction(call, y, time_major)


def _rnn_activation(call: Call) -> str:
    code = call.options.integer("activation")
    if code not in _ACTIVATIONS:
        raise call.block(f"the activation {code} is unsupported", "Use TANH or RELU", "fused_activation_function")
    return _ACTIVATIONS[code]


@tflite_operator("UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn(call: Call) -> Value:
    """Converts an RNN. Its inputs are x, weight [size, in], recurrent weight, bias, state."""
    time_major = bool(call.options.integer("time_major"))
    return _rnn(call, _rounded(call, call.input(0), 1), 1, 4, time_major, sequence_lengths(call, time_major))


@tflite_operator("RNN")
def rnn_step(call: Call) -> Value:
    """Converts the layer for one time step, x [batch, size]."""
    if call.rank(0) != 2:
        raise call.block(f"the input has {call.rank(0)} dimensions, not 2")
    x = call.emit(Reshape(), call.input(0), call.ints((1, *call.shape(0))))
    return call.emit(Squeeze(axis=(0,)), _rnn(call, _rounded(call, x, 1), 1, 4, True, 1))


@tflite_operator("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(call: Call) -> tuple[Value, ...]:
    """Converts a bidirectional RNN. Its inputs are x, forward weights and state, backward weights and state, auxiliary
    input and its two weights."""
    time_major = bool(call.options.integer("time_major"))
    steps = sequence_lengths(call, time_major)
    forward_x = backward_x = _rounded(call, call.input(0), 1)
    auxiliary = (10, 11) if call.has_input(10) else (-1, -1)
    if call.has_input(9):
        if auxiliary[0] < 0:
            backward_x = _rounded(call, call.input(9), 5)
        else:
            forward_x = backward_x = call.emit(Concat(axis=2), forward_x, _rounded(call, call.input(9), 10))
    elif auxiliary[0] >= 0:
        raise call.block("the auxiliary input is missing")
    backwards = ReverseV2(axis=(0 if time_major else 1,))
    forward = _rnn(call, forward_x, 1, 4, time_major, steps, auxiliary[0])
    reverse = _rnn(call, call.emit(backwards, backward_x), 5, 8, time_major, steps, auxiliary[1])
    return _merged(call, forward, call.emit(backwards, reverse))

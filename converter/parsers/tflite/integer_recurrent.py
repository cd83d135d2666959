"""Recurrent layers that compute in integers: int8 activations and weights, int16 cell and filter states.

Tensors that the source has for each gate become one constant, with quantization parameters for each unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Array, Value, constant, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Reshape, Squeeze
from mslite.converter.mindir.ops.recurrent import LSTMSequence, StoredLSTMCell, StoredSVDF
from mslite.converter.mindir.ops.tables import QuantParam

from .call import Call
from .model import SourceTensor
from .quantization_parameters import quant_params, stored_type
from .variables import assign, read, state_name

_GATES = (0, 3, 1, 2)
"""Index in the source's gate order i f c o for each gate of the order i o f c."""
_HIDDEN = 4
"""Index of the intermediate tensor of the hidden state before the projection."""
_NARROW = 12
"""Number of intermediate tensors if matmul results are int8: for each gate, two matmul results and their sum."""


def is_integer_layer(call: Call) -> bool:
    """Returns whether the input and output are int8, so that TFLite's kernel computes only in integers."""
    tensors = (call.source(0), call.output())
    return not call.in_float and all(tensor.dtype is DataType.INT8 and tensor.quantization for tensor in tensors)


def _record(call: Call, tensor: SourceTensor, dtype: DataType) -> QuantParam:
    records = quant_params(tensor)
    if tensor.dtype is not dtype or len(records) != 1:
        raise call.block(f"'{tensor.name}' is not {dtype.name} with one scale")
    return records[0]


def _weight(call: Call, index: int, dtype: DataType) -> tuple[Array, QuantParam]:
    """Returns the stored integers of a constant and its quantization parameters. Raises Blocked."""
    tensor = call.source(index)
    array = tensor.array()
    if array is None:
        raise call.block(f"'{tensor.name}' is computed at run time")
    if dtype is DataType.INT32:
        records = quant_params(tensor)
        return array, records[0] if len(records) == 1 else QuantParam(scale=1.0)
    return array, _record(call, tensor, dtype)


def _constant(call: Call, what: str, array: Array, records: Sequence[QuantParam], axis: int = 1) -> Value:
    scope = call.scope
    value = constant(scope.session.values.unique(f"{call.name}/{what}"), array)
    value.quant = tuple(records)
    if len(value.quant) > 1:
        scope.check_axis(value, axis)
    return value


def _gates(call: Call, first: int, dtype: DataType, order: Sequence[int], what: str) -> Value:
    """Returns the constants of the gates as one [1, units of all gates, ...]. The first one may be missing: then
    another gate's constant, which is not read, replaces it. Raises Blocked."""
    parts = []
    for gate in order:
        there = call.has_input(first + gate)
        if not there and gate != 0:
            raise call.block(f"the {what} of a gate are missing")
        parts.append(_weight(call, first + gate if there else first + 1, dtype))
    try:
        joined = np.concatenate([array for array, _ in parts], axis=0)[np.newaxis]
    except ValueError:
        raise call.block(f"the shapes of the {what} do not match") from None
    return _constant(call, what, joined, [record for array, record in parts for _ in range(array.shape[0])])


def _biases(call: Call, first: int) -> Value:
    """Returns the biases of the input, followed by zeros for those of the hidden state."""
    biases = _gates(call, first, DataType.INT32, _GATES, "biases")
    array = np.concatenate([biases.array(), np.zeros_like(biases.array())], axis=1)
    records = [*biases.quant, *(QuantParam(scale=1.0) for _ in biases.quant)]
    return _constant(call, "bias", array.astype(np.int32), records)


def _state(call: Call, index: int, dtype: DataType, dims: tuple[int, ...] | None) -> Value | None:
    """Returns the initial state of input `index`, quantized: a variable that starts at its zero point, reshaped to
    `dims`, or a constant; None for a state of 0."""
    tensor = call.source(index)
    record = _record(call, tensor, dtype)
    initial = None if tensor.is_variable else tensor.array()
    if tensor.is_variable and dims is not None:
        start = np.full(tensor.shape, record.zeroPoint, numpy_type(dtype))
        value = read(call, state_name(call, index), start, tensor.shape, dtype)
        value.quant = value.quant or (record,)
        return call.emit(Reshape(), value, call.ints(dims)) if dims != tensor.shape else value
    if initial is None or np.all(initial == record.zeroPoint):
        return None
    return _constant(call, f"state{index}", initial.reshape(dims or initial.shape), [record])


def _check_cell_scale(call: Call, index: int, is_narrow: bool) -> None:
    """Raises Blocked if the scale of the cell state is not a power of two that the integer tanh supports. Then the
    layer is computed in float32."""
    scale = _record(call, call.source(index), DataType.INT16).scale
    fraction, exponent = math.frexp(scale)
    if fraction != 0.5 or not -15 <= exponent - 1 <= (-15 if is_narrow else -9):
        raise call.block(
            f"its cell state has the scale {scale:g}, which TFLite's integer tanh does not support",
            "Calibrate with inputs for which the cell state exceeds 0.5, or keep the layer in float",
        )


@dataclass(frozen=True)
class _Between:
    """Quantization parameters of the source's intermediate tensors, as attributes of LSTMSequence."""

    hidden: QuantParam
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()


def _between(call: Call, is_normalized: bool) -> _Between:
    tensors = [call.scope.source.tensors[index] for index in call.node.intermediates]
    if len(tensors) <= _HIDDEN:
        raise call.block("the scale of its hidden state is missing")
    records = [quant_params(tensor) for tensor in tensors]
    if len(tensors) == _NARROW:
        places = [3 * gate + index for gate in _GATES for index in range(3)]
        if not all(records):
            raise call.block("the scale of a gate is missing")
        narrow = [records[place][0] for place in places]
        return _Between(
            QuantParam(), tuple(record.scale for record in narrow), tuple(record.zeroPoint for record in narrow)
        )
    if is_normalized and not all(records[gate] for gate in _GATES):
        raise call.block("the scale of a gate is missing")
    scales = tuple(records[gate][0].scale for gate in _GATES) if is_normalized else ()
    return _Between(_record(call, tensors[_HIDDEN], DataType.INT8), scales)


def integer_lstm(
    call: Call, x: Value, weights: int, hidden: int, cell: int, normalization: int, time_major: bool, streaming: bool
) -> Value:
    """Converts an integer LSTM over x [time, batch, size] or [batch, time, size]. `weights`, `hidden`, `cell` and
    `normalization` are the indices of the first operands. Raises Blocked."""
    if call.options.integer("activation") != 4:
        raise call.block("its activation is not TANH")
    is_normalized = normalization >= 0 and call.has_input(normalization + 1)
    between = _between(call, is_normalized)
    _check_cell_scale(call, cell, bool(between.zero_points))
    batch, units = call.source(cell).shape if call.rank(cell) == 2 else (0, 0)
    state = call.source(hidden).shape[-1:]
    layout = 0 if time_major else 1
    operands = [
        x,
        _gates(call, weights, DataType.INT8, _GATES, "input weights"),
        _gates(call, weights + 4, DataType.INT8, _GATES, "recurrent weights"),
        _biases(call, weights + 11),
    ]
    sizes = [((batch, 1, size) if layout else (1, batch, size)) for size in (*state, units)]
    first_hidden = _state(call, hidden, DataType.INT8, sizes[0] if streaming else None)
    first_cell = _state(call, cell, DataType.INT16, sizes[-1] if streaming else None)
    operands += [value for value in (first_hidden, first_cell) if value is not None]
    # TFLite's kernel with int8 matmul results ignores peepholes.
    has_peepholes = not between.zero_points and (call.has_input(weights + 8) or call.has_input(weights + 9))
    if has_peepholes:
        operands.append(_gates(call, weights + 8, DataType.INT16, (0, 2, 1), "peepholes"))
    has_projection = call.has_input(weights + 15)
    has_projection_bias = has_projection and call.has_input(weights + 16)
    if has_projection:
        array, projection = _weight(call, weights + 15, DataType.INT8)
        operands.append(_constant(call, "projection", array[np.newaxis], [projection]))
    if has_projection_bias:
        array, bias = _weight(call, weights + 16, DataType.INT32)
        operands.append(_constant(call, "projection_bias", array[np.newaxis], [bias]))
    if is_normalized:
        operands.append(_gates(call, normalization, DataType.INT16, _GATES, "normalization coefficients"))
    op = LSTMSequence(
        layout=layout,
        cell_clip=call.options.real("cell_clip"),
        projection_clip=call.options.real("projection_clip"),
        has_bias=True,
        has_initial_hidden=first_hidden is not None,
        has_initial_cell=first_cell is not None,
        has_peepholes=has_peepholes,
        has_projection=has_projection,
        has_projection_bias=has_projection_bias,
        has_normalization=is_normalized,
        hidden_scale=0.0 if between.zero_points else between.hidden.scale,
        hidden_zero_point=between.hidden.zeroPoint,
        gate_scales=between.scales,
        input_is_rest=bool(between.zero_points) or not call.has_input(weights),
        gate_zero_points=between.zero_points,
    )
    y, last_hidden, last_cell = call.emit_many(op, operands, 3)
    for value, tensor in zip(
        (y, last_hidden, last_cell), (call.output(), *map(call.source, (hidden, cell))), strict=True
    ):
        value.dtype, value.quant = tensor.dtype, quant_params(tensor)
    if streaming:
        for index, value in ((hidden, last_hidden), (cell, last_cell)):
            _keep(call, index, value)
    squeezed = call.emit(Squeeze(axis=(1 if time_major else 2,)), y)
    squeezed.dtype, squeezed.quant = y.dtype, y.quant
    return squeezed


def integer_lstm_cell(call: Call) -> Sequence[Value]:
    """Converts the basic LSTM. Its inputs are x, hidden state, weights [4 * units, input + units], bias, cell state;
    the results are hidden and cell state. Raises Blocked."""
    source = call.scope.source
    scratch = call.node.outputs[2:]
    used = {index for node in source.operators for index in node.inputs} | set(source.outputs)
    if used.intersection(scratch):
        raise call.block("its intermediate results are read by other nodes")
    weight, bias = call.input(2), call.input(3)
    states = []
    for index in (1, 4):
        tensor = call.source(index)
        if tensor.is_variable:
            dtype = stored_type(tensor)
            point = quant_params(tensor)[0].zeroPoint
            start = np.full(tensor.shape, point, numpy_type(dtype))
            value = read(call, state_name(call, index), start, tensor.shape, dtype)
            value.quant = value.quant or quant_params(tensor)
        else:
            value = call.input(index)
        states.append(value)
    results = call.emit_many(StoredLSTMCell(), [call.input(0), weight, bias, *states], 2)
    for place, (index, value) in enumerate(zip((1, 4), results, strict=True)):
        tensor = call.output(place)
        value.dtype, value.quant = stored_type(tensor), quant_params(tensor)
        if call.source(index).is_variable:
            assign(call, state_name(call, index), value)
    return results


def _keep(call: Call, index: int, value: Value) -> None:
    tensor = call.source(index)
    if not tensor.is_variable:
        return
    kept = call.emit(Reshape(), value, call.ints(tensor.shape))
    kept.dtype, kept.quant = value.dtype, value.quant
    assign(call, state_name(call, index), kept)


def integer_svdf(call: Call) -> Value:
    """Converts an integer SVDF. Its inputs are x, feature weights, time weights, [bias], state. Raises Blocked."""
    operands = [call.input(0)]
    for index, dtype in ((1, DataType.INT8), (2, DataType.INT16)):
        array, record = _weight(call, index, dtype)
        operands.append(_constant(call, f"weight{index}", array, [record]))
    state = call.source(4)
    value = _state(call, 4, DataType.INT16, state.shape)
    if value is None:
        value = _constant(call, "state", np.zeros(state.shape, numpy_type(state.dtype)), quant_params(state))
    operands.append(value)
    if call.has_input(3):
        array, record = _weight(call, 3, DataType.INT32)
        operands.append(_constant(call, "bias", array, [record]))
    y, after = call.emit_many(StoredSVDF(rank=call.options.integer("rank")), operands, 2)
    for result, tensor in ((y, call.output()), (after, state)):
        result.dtype, result.quant = tensor.dtype, quant_params(tensor)
    if state.is_variable:
        assign(call, state_name(call, 4), after)
    return y

"""Quantizes LSTMSequence like TensorFlow Lite's integer LSTM: int8 input, weights and hidden state, int16 cell state.

Weights have one scale per unit or, without per-channel quantization, one per gate, as in TensorFlow Lite. The hidden
state is symmetric, so that the default initial state, integer zeros, is 0. The scale of the cell state is a power of
two. Calibration observes only its last value, so its range is multiplied by CELL_ROOM; int16 has enough steps for that.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.recurrent import LSTMSequence
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.passes.graph_edit import changed
from mslite.quantizer.precision.schemes import INT8_WEIGHT, Range, record
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.weights.stored_weight import constant_of, rescaled, stored_weight

GATES = 4
CELL_ROOM = 8.0
HIDDEN_SCHEME = INT8_WEIGHT
"""Scheme of the hidden state and the output: symmetric int8."""
_MIN_POWER, _MAX_POWER = -15, -9


def hidden_record(found: Range) -> QuantParam:
    """Returns the quantization parameters of the hidden state."""
    return record(found, HIDDEN_SCHEME)


def cell_record(found: Range) -> QuantParam:
    """Returns the quantization parameters of the cell state: int16, with a power of two as scale."""
    largest = max(-found.low, found.high, 2.0**-10) * CELL_ROOM
    power = min(max(math.ceil(math.log2(largest)) - 15, _MIN_POWER), _MAX_POWER)
    return QuantParam(scale=2.0**power, zeroPoint=0, numBits=16, dstDtype=int(DataType.INT16))


def recurrent_constants(node: Node, x: QuantParam, hidden: QuantParam, per_unit: bool) -> list[Value]:
    """Returns the quantized weights of the input and of the hidden state, and the bias.

    Weights have one scale per unit or per gate. The bias has the scales of the input's weight times that of the input.
    """
    op = node.op
    assert isinstance(op, LSTMSequence)
    weights = [_stored_rows(value.array(), per_unit) for value in node.inputs[1:3]]
    rows = weights[0].data.shape[1]
    real = np.zeros(rows)
    if op.has_bias:
        given = node.inputs[3].array().astype(np.float64).reshape(-1)
        real = given[:rows] + given[rows : 2 * rows] if given.size == 2 * rows else given
    limit = np.iinfo(np.int32).max // 2
    least = np.abs(real) / (x.scale * limit)
    if not per_unit:
        least = np.repeat(least.reshape(GATES, -1).max(axis=1), rows // GATES)
    weights[0] = _with_room(weights[0], node.inputs[1].array(), least)
    scales = np.array([item.scale for item in weights[0].records]) * x.scale
    steps = np.clip(np.sign(real) * np.floor(np.abs(real / scales) + 0.5), -limit, limit)
    data = np.concatenate([steps, np.zeros(rows)]).astype(np.int32).reshape(1, -1)
    name = node.inputs[3].name if op.has_bias else f"{node.name}_bias"
    records = tuple(QuantParam(scale=float(scale), numBits=32, dstDtype=int(DataType.INT32)) for scale in scales)
    hidden_scales = [item.scale * hidden.scale for item in weights[1].records]
    records += tuple(QuantParam(scale=scale, numBits=32, dstDtype=int(DataType.INT32)) for scale in hidden_scales)
    bias = Value(name, DataType.INT32, data.shape, data=data, format=node.inputs[1].format, quant=records)
    stored_weights = [
        constant_of(weight, value, value.name) for weight, value in zip(weights, node.inputs[1:3], strict=True)
    ]
    return [*stored_weights, bias]


def _stored_rows(data: npt.NDArray[np.generic], per_unit: bool) -> StoredWeight:
    """Quantizes a weight [1, 4 * hidden, columns], with one scale per row or the same scale for all rows of a gate."""
    if per_unit:
        return stored_weight(data, 1, INT8_WEIGHT)
    gates = stored_weight(data.reshape(GATES, -1), 0, INT8_WEIGHT)
    records = tuple(item for item in gates.records for _ in range(data.shape[1] // GATES))
    return StoredWeight(gates.data.reshape(data.shape), records, 1)


def _with_room(weight: StoredWeight, real: npt.NDArray[np.generic], least: npt.NDArray[np.float64]) -> StoredWeight:
    """Quantizes the weight again with scales of at least `least`, so that the biases of rows with small weights fit."""
    factors = np.maximum(least / np.array([item.scale for item in weight.records]), 1.0)
    return rescaled(weight, real, factors.tolist(), INT8_WEIGHT) if factors.max() > 1 else weight


def stored_operator(node: Node, hidden: QuantParam) -> LSTMSequence:
    """Returns the attributes of the quantized operator."""
    op = changed(
        node.op,
        direction=None,
        activations=None,
        has_bias=True,
        hidden_scale=hidden.scale,
        hidden_zero_point=hidden.zeroPoint,
        whole_sums=True,
    )
    assert isinstance(op, LSTMSequence)
    return op

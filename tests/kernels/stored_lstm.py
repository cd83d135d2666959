"""A quantized LSTM with given scales of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.recurrent import LSTMSequence
from mslite.converter.mindir.ops.tables import QuantParam

Array = npt.NDArray[Any]

GATES, BATCH, INPUT, UNITS = 4, 2, 9, 5


def scales(seed: int) -> Array:
    """Scales of the input weight and the hidden weight, per unit of each gate."""
    return np.random.default_rng(seed).uniform(0.001, 0.02, (2, GATES, UNITS)).astype(np.float32)


def stored_lstm(weight_scales: Sequence[Array], steps: int, seed: int = 0, whole_sums: bool = False) -> Module:
    """Inputs x and both states, outputs y and both states; weights and biases depend on `seed` only."""
    draw = np.random.default_rng(seed)
    x = _activation("x", DataType.INT8, (steps, BATCH, INPUT), 0.04, -3)
    hidden = _activation("h0", DataType.INT8, (1, BATCH, UNITS), 1 / 128)
    cell = _activation("c0", DataType.INT16, (1, BATCH, UNITS), 2.0**-12)
    operands = [x]
    for name, columns, own in zip("wr", (INPUT, UNITS), weight_scales, strict=True):
        weight = constant(name, draw.integers(-127, 128, (1, GATES * UNITS, columns)).astype(np.int8))
        weight.quant = tuple(QuantParam(scale=float(scale)) for scale in own.reshape(-1))
        operands.append(weight)
    bias = np.zeros((1, 2 * GATES * UNITS), np.int32)
    bias[:, : GATES * UNITS] = draw.integers(-2000, 2000, GATES * UNITS)
    operands += [constant("b", bias), hidden, cell]
    results = (
        _activation("y", DataType.INT8, (steps, 1, BATCH, UNITS), 1 / 128),
        _activation("h", DataType.INT8, (1, BATCH, UNITS), 1 / 128),
        _activation("c", DataType.INT16, (1, BATCH, UNITS), 2.0**-12),
    )
    op = LSTMSequence(
        has_bias=True, has_initial_hidden=True, has_initial_cell=True, hidden_scale=1 / 128, whole_sums=whole_sums
    )
    node = Node(op, "lstm", tuple(operands), results, quant_type=QuantType.QUANT_ALL)
    return Module([Graph("main", [x, hidden, cell], list(results), [node])])


def _activation(name: str, dtype: DataType, shape: tuple[int, ...], scale: float, zero: int = 0) -> Value:
    return Value(name, dtype, shape, quant=(QuantParam(scale=scale, zeroPoint=zero),))

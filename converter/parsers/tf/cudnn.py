"""TensorFlow's cuDNN recurrent layers; their parameters are one flat constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat, Split
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.recurrent import GRUSequence, LSTMSequence, RNNSequence

from .call import Call
from .registry import tf_operator

Array = npt.NDArray[Any]

_GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn_relu": (0,), "rnn_tanh": (0,)}
"""Index in cuDNN's gate order (i f c o, r z h) for each gate of mslite's (LSTM i o f c, GRU z r h)."""


@dataclass(frozen=True)
class _Layer:
    """The parameters of one layer, [directions, gates * units, ...]."""

    weight: Array
    recurrent: Array
    bias: Array


def _layers(call: Call, flat: Array, mode: str, sizes: tuple[int, int], layers: int, directions: int) -> list[_Layer]:
    """Returns the parameters of all layers. Raises Blocked if their number is wrong.

    In cuDNN's order, each layer and direction has the matrices of the input, [units, size] for each gate, then those of
    the state. After all matrices are, in the same order, the biases of the input and of the state.
    """
    order = _GATES[mode]
    gates, (size, units) = len(order), sizes
    widths = [size] + [directions * units] * (layers - 1)
    counted = sum(directions * gates * units * (width + units + 2) for width in widths)
    if flat.size != counted:
        raise call.block(
            f"{layers} layers of {units} units and {size} inputs have {counted} parameters, not {flat.size}",
            "Use a layer with fixed input sizes",
        )
    at = 0

    def cut(*shape: int) -> Array:
        nonlocal at
        part = flat[at : at + gates * int(np.prod(shape))].reshape(gates, *shape)
        at += part.size
        return part[list(order)].reshape(gates * shape[0], *shape[1:])

    matrices = [[(cut(units, width), cut(units, units)) for _ in range(directions)] for width in widths]
    biases = [[np.concatenate([cut(units), cut(units)]) for _ in range(directions)] for _ in widths]
    return [
        _Layer(np.stack([w for w, _ in pairs]), np.stack([r for _, r in pairs]), np.stack(rows))
        for pairs, rows in zip(matrices, biases, strict=True)
    ]


def _operator(mode: str, direction: str, has_lengths: bool) -> LSTMSequence | GRUSequence | RNNSequence:
    flags: dict[str, Any] = {"has_bias": True, "has_sequence_lengths": has_lengths, "has_initial_hidden": True}
    if mode == "lstm":
        return LSTMSequence(direction=direction, has_initial_cell=True, **flags)
    if mode == "gru":
        return GRUSequence(direction=direction, linear_before_reset=True, **flags)
    names = " ".join(["Relu" if mode == "rnn_relu" else "Tanh"] * (2 if direction == "bidirectional" else 1))
    return RNNSequence(direction=direction, activations=names, **flags)


def _check(call: Call, mode: str) -> None:
    if mode not in _GATES:
        raise call.block(f"the mode '{mode}' is unknown", "Use lstm, gru, rnn_tanh or rnn_relu", "rnn_mode")
    if call.text("input_mode", "linear_input") not in ("linear_input", "auto_select"):
        raise call.block("layers without input weights are unsupported", "Use linear_input", "input_mode")
    if call.integer("num_proj", 0) != 0:
        raise call.block("a projection is unsupported", "Use a layer without projection", "num_proj")
    if call.flag("is_training", True) and call.real("dropout", 0.0) != 0:
        raise call.block("dropout is unsupported at inference", "Freeze the model for inference", "dropout")


@tf_operator("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3")
def cudnn(call: Call) -> tuple[Value, ...]:
    """Converts a cuDNN layer: x [time, batch, size], hidden and cell [layers * directions, batch, units], parameters[,
    lengths].

    If `time_major` is false, the batch is the first dimension of all. TensorFlow only runs this operator on NVIDIA
    GPUs.
    """
    mode, direction = call.text("rnn_mode", "lstm"), call.text("direction", "unidirectional")
    _check(call, mode)
    x, hidden, cell, _ = call.inputs(0, 4)
    batch_first = not call.flag("time_major", True)
    if batch_first:
        x, hidden, cell = (call.transposed(value, (1, 0, 2)) for value in (x, hidden, cell))
    lengths = [call.as_type(call.input(4), DataType.INT32)] if call.has_input(4) else []
    directions = 2 if direction == "bidirectional" else 1
    size, units = call.require_size(x, 2, "the layer"), call.require_size(hidden, 2, "the layer")
    count = call.require_size(hidden, 0, "the layer")
    flat = call.constant(3)
    if flat is None or flat.dtype != np.float32:
        raise call.block(
            "its parameters are not a float32 constant", "Freeze the model, so that variables become constants"
        )
    if count % directions or count == 0:
        raise call.block(f"{count} states are not a multiple of {directions} directions")
    if call.text("input_mode", "linear_input") == "auto_select" and size == units:
        raise call.block("layers without input weights are unsupported", "Use linear_input", "input_mode")
    layers = _layers(call, flat.reshape(-1), mode, (size, units), count // directions, directions)
    states = [
        call.emit_many(Split(output_num=len(layers), axis=0), [value], len(layers)) if len(layers) > 1 else (value,)
        for value in (hidden, cell)
    ]
    made = _operator(mode, "bidirectional" if directions == 2 else "forward", bool(lengths))
    lasts: list[list[Value]] = [[], []]
    for index, layer in enumerate(layers):
        operands = [x, *map(call.const, (layer.weight, layer.recurrent, layer.bias)), *lengths, states[0][index]]
        if mode == "lstm":
            operands.append(states[1][index])
        y, *ends = call.emit_many(made, operands, 3 if mode == "lstm" else 2)
        for kept, end in zip(lasts, ends, strict=False):
            kept.append(end)
        turned = call.emit(Transpose(), y, call.ints((0, 2, 1, 3)))
        x = call.emit(Reshape(), turned, call.ints((0, 0, directions * units)))
    results = [x, *(call.emit(Concat(axis=0), *kept) if len(kept) > 1 else kept[0] for kept in lasts if kept)]
    if mode != "lstm":
        results.append(cell)
    return tuple(call.transposed(value, (1, 0, 2)) if batch_first else value for value in results)

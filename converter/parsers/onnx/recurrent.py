"""RNN, GRU and LSTM: MindIR's LSTM if it computes the same, else Custom operators with all of ONNX's attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import recurrent as ops
from mslite.converter.mindir.ops.enums import DataType

from .attributes import STATE_ROUNDING
from .call import Call
from .casting import as_type
from .registry import onnx_operator

_DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}
_DEFAULT_ACTIVATIONS = {
    "RNN": ("Tanh",),
    "GRU": ("Sigmoid", "Tanh"),
    "LSTM": ("Sigmoid", "Tanh", "Tanh"),
}
_FUNCTIONS = [
    "Affine",
    "Elu",
    "HardSigmoid",
    "LeakyRelu",
    "Relu",
    "ScaledTanh",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Tanh",
    "ThresholdedRelu",
]


def _common(call: Call) -> dict[str, Any]:
    """Reads the attributes that all three share. `activations` is None for the default."""
    kind = call.node.op_type
    direction = call.text("direction", "forward")
    count = call.choice("direction", direction, _DIRECTIONS)
    call.ignore("output_sequence")  # version 1; unused outputs are not computed anyway
    activations = call.texts("activations")
    default = _DEFAULT_ACTIVATIONS[kind] * count
    if activations is not None:
        by_lower = {name.lower(): name for name in _FUNCTIONS}
        for name in activations:
            call.choice("activations", name.lower(), by_lower)
        activations = tuple(by_lower[name.lower()] for name in activations)
        if len(activations) != len(default):
            raise call.block(
                f"has {len(activations)} functions instead of {len(default)}", "Export again", "activations"
            )
    alpha, beta = call.reals("activation_alpha"), call.reals("activation_beta")
    clip = call.real("clip", 0.0)
    if clip < 0:
        raise call.block(f"{clip} is negative", "Export the model again", "clip")
    layout = call.integer("layout", 0)
    call.integer("hidden_size", 0)  # known from the weights
    return {
        "direction": direction,
        "activations": None if activations in (None, default) else " ".join(activations or ()),
        "activation_alpha": alpha,
        "activation_beta": beta,
        "clip": clip,
        "layout": layout,
    }


def _operands(call: Call, names: dict[int, str]) -> tuple[list[Value], dict[str, Any]]:
    """Returns x, W, R and the optional inputs that are present, and the `has_...` attributes."""
    values = [call.input(0), call.input(1), call.input(2)]
    present: dict[str, Any] = {}
    for index, name in names.items():
        value = call.optional(index)
        present[name] = value is not None
        if value is not None:
            values.append(as_type(call, value, DataType.INT32) if name == "has_sequence_lengths" else value)
    return values, present


_STATE_INPUTS = {3: "has_bias", 4: "has_sequence_lengths", 5: "has_initial_hidden"}


@onnx_operator("RNN")
def rnn(call: Call) -> tuple[Value, ...]:
    values, present = _operands(call, _STATE_INPUTS)
    return call.emit_many(ops.RNNSequence(**_common(call), **present), values, 2)


@onnx_operator("GRU")
def gru(call: Call) -> tuple[Value, ...]:
    values, present = _operands(call, _STATE_INPUTS)
    before = call.boolean("linear_before_reset")
    op = ops.GRUSequence(**_common(call), **present, linear_before_reset=before)
    return call.emit_many(op, values, 2)


@onnx_operator("LSTM")
def lstm(call: Call) -> tuple[Value, ...]:
    common = _common(call)
    input_forget = call.boolean("input_forget")
    rounding = call.integer(STATE_ROUNDING, 0)
    plain = (
        common["direction"] in ("forward", "bidirectional")
        and common["activations"] is None
        and not common["clip"]
        and not common["layout"]
        and not input_forget
        and not rounding
        and not call.has_input(4)
        and not call.has_input(7)
    )
    shape = call.static_shape(call.input(2))
    x_shape = call.shape(call.input(0))
    if plain and shape is not None and len(shape) == 3 and x_shape is not None and len(x_shape) == 3:
        filled = _states(call, x_shape[1], shape[0], shape[2])
        if filled is not None:
            return call.emit_many(_plain_lstm(call, common["direction"], shape), filled, 3)
    names = _STATE_INPUTS | {6: "has_initial_cell", 7: "has_peepholes"}
    values, present = _operands(call, names)
    op = ops.LSTMSequence(**common, **present, input_forget=input_forget, rounding=rounding)
    return call.emit_many(op, values, 3)


def _plain_lstm(call: Call, direction: str, shape: tuple[int, ...]) -> ops.LSTM:
    weight = call.static_shape(call.input(1))
    return ops.LSTM(
        bidirectional=direction == "bidirectional",
        has_bias=True,
        input_size=weight[2] if weight is not None and len(weight) == 3 else 0,
        hidden_size=shape[2],
        num_layers=1,
        num_directions=shape[0],
    )


def _states(call: Call, batch: int | None, directions: int, hidden: int) -> list[Value] | None:
    """Returns all six inputs of MindIR's LSTM, zeros for missing ones; None if the batch size is not known."""
    dtype = call.require_numbers(call.input(0))
    values = [call.input(0), call.input(1), call.input(2)]
    bias = call.optional(3)
    values.append(call.const(np.zeros((directions, 8 * hidden), dtype)) if bias is None else bias)
    for index in (5, 6):
        state = call.optional(index)
        if state is None:
            if batch is None:
                return None
            state = call.const(np.zeros((directions, batch, hidden), dtype))
        values.append(state)
    return values

"""Fused LSTM and GRU cells."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, Split
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.unary import Clip

from .call import Call
from .registry import tf_operator

_SIGMOID = Activation(activation_type=ActivationType.SIGMOID)
_TANH = Activation(activation_type=ActivationType.TANH)


def lstm_step(
    call: Call, x: Value, state: tuple[Value, Value], weights: Sequence[Value], order: str, clip: float
) -> dict[str, Value]:
    """Emits one LSTM step: `state` is (cell, hidden), `weights` are w, peepholes wci, wcf, wco and b.

    `order` is the order of the four gates in w: i(nput), c(andidate), f(orget), o(utput).
    """
    cell, hidden = state
    w, wci, wcf, wco, b = weights
    joined = call.emit(Concat(axis=1), x, hidden)
    gates = call.emit(AddFusion(), call.emit(MatMulFusion(), joined, w), b)
    parts = call.emit_many(Split(output_num=4, axis=1), [gates], 4)
    gate = dict(zip(order, parts, strict=True))
    peephole = call.flag("use_peephole")
    forget_bias = call.real("forget_bias", 1.0) if order == "icfo" else 0.0
    if forget_bias:
        gate["f"] = call.emit(AddFusion(), gate["f"], call.like(forget_bias, gates))
    if peephole:
        for name, weight in (("i", wci), ("f", wcf)):
            gate[name] = call.emit(AddFusion(), gate[name], call.emit(MulFusion(), cell, weight))
    for name in "if":
        gate[name] = call.emit(_SIGMOID, gate[name])
    candidate = call.emit(_TANH, gate["c"])
    kept = call.emit(MulFusion(), cell, gate["f"])
    following = call.emit(AddFusion(), call.emit(MulFusion(), candidate, gate["i"]), kept)
    if clip > 0:
        following = call.emit(Clip(min=-clip, max=clip), following)
    if peephole:
        gate["o"] = call.emit(AddFusion(), gate["o"], call.emit(MulFusion(), following, wco))
    gate["o"] = call.emit(_SIGMOID, gate["o"])
    squashed = call.emit(_TANH, following)
    result = call.emit(MulFusion(), squashed, gate["o"])
    return {
        "i": gate["i"],
        "cs": following,
        "f": gate["f"],
        "o": gate["o"],
        "ci": candidate,
        "co": squashed,
        "h": result,
    }


OUTPUTS = ("i", "cs", "f", "o", "ci", "co", "h")


@tf_operator("LSTMBlockCell")
def lstm_cell(call: Call) -> tuple[Value, ...]:
    """Converts LSTMBlockCell. Its inputs are x, cell, hidden, w, wci, wcf, wco, b; the gate order is i c f o."""
    x, cell, hidden = call.inputs(0, 3)
    clip = call.real("cell_clip", 3.0)
    made = lstm_step(call, x, (cell, hidden), call.inputs(3, 8), "icfo", clip)
    return tuple(made[name] for name in OUTPUTS)


@tf_operator("GRUBlockCell")
def gru_cell(call: Call) -> tuple[Value, ...]:
    """Converts GRUBlockCell. Its inputs are x, hidden, w_ru, w_c, b_ru, b_c."""
    x, hidden, w_ru, w_c, b_ru, b_c = call.inputs(0, 6)
    joined = call.emit(Concat(axis=1), x, hidden)
    gates = call.emit(_SIGMOID, call.emit(AddFusion(), call.emit(MatMulFusion(), joined, w_ru), b_ru))
    reset, update = call.emit_many(Split(output_num=2, axis=1), [gates], 2)
    inner = call.emit(Concat(axis=1), x, call.emit(MulFusion(), hidden, reset))
    candidate = call.emit(_TANH, call.emit(AddFusion(), call.emit(MatMulFusion(), inner, w_c), b_c))
    kept = call.emit(MulFusion(), update, hidden)
    rest = call.emit(SubFusion(), call.like(1, update), update)
    return reset, update, candidate, call.emit(AddFusion(), kept, call.emit(MulFusion(), rest, candidate))

"""Recurrent layers."""

from __future__ import annotations

from typing import Any

from ..builder import Builder
from .registry import operator

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@operator("RNN", "GRU", "LSTM")
def recurrent(g: Builder, name: str) -> None:
    fits = [
        v for v in reversed(g.values) if v.dtype == "float32" and v.rank == 3 and v.fixed_shape and 0 < v.size < 300
    ]
    if fits and g.maybe():
        x = g.choose(fits)
    else:
        x = g.operand("float32", (g.integer(1, 5), g.integer(1, 3), g.integer(1, 5)))
    steps, batch, width = x.shape
    hidden, gates = g.integer(1, 5), _GATES[name]
    direction = g.choose((None, "forward", "reverse", "bidirectional"))
    ways = 2 if direction == "bidirectional" else 1
    w = g.constant_values("float32", (ways, gates * hidden, width), -0.7, 0.7)
    r = g.constant_values("float32", (ways, gates * hidden, hidden), -0.7, 0.7)
    b = g.constant_values("float32", (ways, 2 * gates * hidden)) if g.maybe() else None
    lengths = g.operand("int32", (batch,), 1, steps) if g.maybe(4) else None
    first = g.operand("float32", (ways, batch, hidden)) if g.maybe(3) else None
    operands = [x, w, r, b, lengths, first]
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if name == "LSTM":
        operands.append(g.operand("float32", (ways, batch, hidden)) if g.maybe(3) else None)
        operands.append(g.constant_values("float32", (ways, 3 * hidden)) if g.maybe(4) else None)
        attributes["input_forget"] = g.choose((None, None, None, 1))
    if name == "GRU":
        attributes["linear_before_reset"] = g.choose((None, 0, 1))
    if g.maybe(4):
        some = {"RNN": ["Relu"], "GRU": ["HardSigmoid", "Relu"], "LSTM": ["HardSigmoid", "Softsign", "Relu"]}[name]
        attributes["activations"] = some * ways
    attributes["clip"] = g.choose((None, None, None, 0.5))
    wanted = [g.maybe(), g.maybe(), *((g.maybe(),) if name == "LSTM" else ())]
    if not any(wanted):
        wanted[0] = True
    g.nodes_results(name, *operands, outputs=wanted, **attributes)

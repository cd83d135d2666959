"""Conditions of LSTM and GRU."""

from __future__ import annotations

from mslite.converter.compatibility.conditions._declare import condition
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.enums import DataType

_TILE = 16
_GATES = {"LSTM": 4, "GRU": 3}


@condition("LSTM")
def lstm_operands(node: Node, kind: DataType, version: Version) -> str | None:
    if len(node.inputs) == 4:
        return None if version is Version.V2_7 else "does not support weights in one vector"
    if len(node.inputs) < 6:
        return "needs a bias and both initial states"
    if len(node.inputs) > 6 and version < Version.V2_0:
        return "ignores its projection"
    return None


@condition("GRU")
def gru_lengths(node: Node, kind: DataType, version: Version) -> str | None:
    if len(node.inputs) < 5:
        return "needs a bias and the initial state"
    return "does not support sequences of different lengths" if len(node.inputs) > 5 else None


@condition("LSTM GRU")
def recurrent_weights(node: Node, kind: DataType, version: Version) -> str | None:
    if version < Version.V2_0 and not all(value.is_constant for value in node.inputs[1:4]):
        return "needs constant weights, which it packs when the model is built"
    return None


@condition("LSTM GRU")
def packed_gates(node: Node, kind: DataType, version: Version) -> str | None:
    """The weights of each gate are padded to whole tiles (4 to 16 units, depending on the machine), but read without
    padding."""
    x, weights = node.inputs[0].shape, node.inputs[1].shape
    if x is None or weights is None or len(x) != 3 or len(weights) != 3 or x[1] == 1:
        return None
    units = weights[1] // _GATES[node.op.name]
    return f"computes {units} units for several sequences incorrectly" if units % _TILE else None

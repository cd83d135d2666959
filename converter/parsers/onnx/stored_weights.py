"""Marks nodes with quantized weights."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.mindir.quantized import channel_axis, dequantized_array, only_moves_elements

from .scope import Scope


def mark_quantized(scope: Scope, nodes: Sequence[Node]) -> None:
    """Sets QUANT_WEIGHT for nodes with quantized constants.

    A constant is dequantized if its per-channel axis is not the one that MindIR defines for the node.
    """
    for node in nodes:
        if only_moves_elements(node) or node.op.name == "QuantDTypeCast":
            continue
        for index, value in enumerate(node.inputs):
            if value.data is None or not value.quant:
                continue
            axis = scope.axes.get(id(value), 0)
            if len(value.quant) == 1 or axis == channel_axis(node.op, index, node.inputs):
                node.quant_type = QuantType.QUANT_WEIGHT
            elif axis >= 0:
                real = scope.derived(value, "real", dequantized_array(value.data, value.quant, axis))
                node.replace_input(value, real)
